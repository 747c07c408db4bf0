/** When usage is recorded: before an answer is complete, and at once when its client leaves. And when it cannot be. */
import type { Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import type { UsageEntry } from '../../../src/usage/usage-recorder.ts'
import { createObservedEngine, queueForever } from '../../support/engines/observed-engine.ts'
import { openSocket, postBytes } from '../../support/net/raw-http.ts'
import {
  hang,
  type Script,
  ScriptedEngine,
  sequenceStart,
  textDelta,
  untilAborted,
} from '../../support/engines/scripted-engine.ts'
import { createTestApp, KEY } from '../../support/servers/test-app.ts'

const MESSAGES = { messages: [{ role: 'user', content: 'a' }] }

/** Path, body, and how many times its prompts are queued. */
const PLAIN_REQUESTS = [
  ['/v1/generate', { prompt: 'a' }, 1],
  ['/v1/generate/batch', { prompts: ['a', 'b'] }, 1],
  ['/v1/generate/continuous-batch', { prompts: ['a', 'b'] }, 2],
  ['/v1/chat/completions', MESSAGES, 1],
  ['/v1/responses', { input: 'a' }, 1],
  ['/v1/messages', { ...MESSAGES, max_tokens: 16 }, 1],
] as const

/** Those that end with `[DONE]`. */
const STREAM_REQUESTS = [
  ['/v1/generate/stream', { prompt: 'a' }, 1],
  ['/v1/chat/completions', { ...MESSAGES, stream: true }, 1],
] as const

const REQUESTS = [
  ...PLAIN_REQUESTS,
  ...STREAM_REQUESTS,
  ['/v1/messages', { ...MESSAGES, max_tokens: 16, stream: true }, 1],
] as const

/** A recorder that takes as long as the test likes. */
function createSlowRecorder() {
  const recorded: UsageEntry[] = []
  let commit = (): void => {}
  let tellRecording = (): void => {}
  const recording = new Promise<void>((resolve) => {
    tellRecording = resolve
  })
  const record = (entry: UsageEntry) => {
    recorded.push(entry)
    tellRecording()
    return new Promise<void>((resolve) => {
      commit = resolve
    })
  }
  return { usageRecorder: { record }, recorded, recording, commit: () => commit() }
}

const failingRecorder = { record: () => Promise.reject(new Error('the disk is full')) }

/** Lets everything that is ready to happen happen, and with it an answer that did not wait. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn++) {
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
}

describe('before its row is committed', () => {
  it.each(PLAIN_REQUESTS)('not a byte of the answer is sent: %s %j', async (path, body) => {
    const { usageRecorder, recorded, recording, commit } = createSlowRecorder()
    const { listen } = createTestApp({ usageRecorder })
    const socket = await openSocket(await listen())
    let received = ''
    socket.on('data', (chunk) => void (received += chunk.toString()))

    socket.write(postBytes(path, body, KEY))
    await recording
    await turns(20)
    expect(received).toBe('')
    commit()

    await expect.poll(() => received).toContain('HTTP/1.1 200 OK')
    expect(recorded).toHaveLength(1)
  })

  it.each(STREAM_REQUESTS)('a stream has neither its finish reason nor [DONE]: %s %j', async (path, body) => {
    const { usageRecorder, recorded, recording, commit } = createSlowRecorder()
    const { listen } = createTestApp({ usageRecorder })
    const socket = await openSocket(await listen())
    let received = ''
    socket.on('data', (chunk) => void (received += chunk.toString()))

    socket.write(postBytes(path, body, KEY))
    await recording
    await expect.poll(() => received).toContain('"content":"a"')
    await turns(20)
    expect(received).not.toMatch(/"stop"|\[DONE\]/)
    commit()

    await expect.poll(() => received).toContain('data: [DONE]')
    expect(recorded).toMatchObject([{ status: 200, tokensIn: 1, tokensOut: 1 }])
  })
})

describe('when the row cannot be written', () => {
  it.each(PLAIN_REQUESTS)(
    'a plain answer is 500 with the request id and no cause: %s %j',
    async (path, body) => {
      const { post, logLines } = createTestApp({ usageRecorder: failingRecorder })

      const answer = await post(path, body)

      expect(answer.statusCode).toBe(500)
      expect(answer.headers['x-error-code']).toBe('internal_error')
      const requestId = String(answer.headers['x-request-id'])
      expect(answer.json()).toMatchObject({ detail: `Internal server error. Request id: ${requestId}` })
      expect(answer.body).not.toContain('disk')
      expect(logLines.filter(({ level }) => level === 'error')).toMatchObject([
        { requestId, err: { message: 'the disk is full' } },
      ])
    },
  )

  it.each(STREAM_REQUESTS)('a stream ends with one error event: %s %j', async (path, body) => {
    const { post, logLines } = createTestApp({ usageRecorder: failingRecorder })

    const answer = await post(path, body)

    expect(answer.statusCode).toBe(200)
    const events = answer.body.trimEnd().split('\n\n')
    expect(events.at(-1)).toBe('data: [DONE]')
    const requestId = String(answer.headers['x-request-id'])
    const message = `Internal server error. Request id: ${requestId}`
    expect(JSON.parse(events.at(-2)?.slice('data: '.length) ?? '')).toEqual({
      error: { message, type: 'server_error', param: null, code: 'internal_error' },
      detail: message,
    })
    expect(events.filter((event) => event.includes('"error"'))).toHaveLength(1)
    expect(answer.body).not.toContain('"stop"')
    expect(logLines.filter(({ level }) => level === 'error')).toMatchObject([
      { requestId, err: { message: 'the disk is full' } },
    ])
  })

  it.each(STREAM_REQUESTS)('nor a failure, it is the failure that is told: %s %j', async (path, body) => {
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart()
      yield textDelta('first', [1])
      throw new ServiceError('engine_failed')
    })
    const { post } = createTestApp({ engine, usageRecorder: failingRecorder })

    const answer = await post(path, body)

    expect(answer.body).toContain('"code":"engine_failed"')
    expect(answer.body.match(/\[DONE\]/g)).toHaveLength(1)
  })

  it('a client that has left is only told of in the log', async () => {
    const { engine, started } = createObservedEngine(hang)
    const { listen, logLines } = createTestApp({ engine, usageRecorder: failingRecorder })
    const socket = await openSocket(await listen())

    socket.write(postBytes('/v1/generate', { prompt: 'a' }, KEY))
    await started.reaches(1)
    socket.destroy()

    await expect
      .poll(() => logLines.filter(({ level }) => level === 'error'))
      .toMatchObject([{ msg: 'the usage of a client that left is lost', requestId: expect.any(String) }])
  })
})

/** Two tokens of each prompt, then nothing more. */
const twoTokens: Script = async function* ({ prompts }, signal) {
  for (const index of prompts.keys()) {
    yield sequenceStart(index)
    yield textDelta('a', [1], index)
    yield textDelta('b', [2], index)
  }
  await untilAborted(signal)
}

describe('a client that leaves', () => {
  it.each(REQUESTS)(
    'while its request runs leaves the tokens made so far: %s %j',
    async (path, body, requests) => {
      const { engine, started, aborted } = createObservedEngine(twoTokens)
      const { listen, usage } = createTestApp({ engine })
      const socket = await openSocket(await listen())

      socket.write(postBytes(path, body, KEY))
      await started.reaches(requests)
      socket.destroy()
      await aborted.reaches(requests)

      const prompts = 'prompts' in body ? body.prompts.length : 1
      await expect
        .poll(() => usage)
        .toMatchObject([{ path, status: 499, tokensIn: 2 * prompts, tokensOut: 2 * prompts }])
    },
  )

  it.each(REQUESTS)(
    'while its request waits leaves a row without tokens: %s %j',
    async (path, body, requests) => {
      const { engine, started, aborted } = createObservedEngine(queueForever)
      const { listen, usage } = createTestApp({ engine })
      const socket = await openSocket(await listen())

      socket.write(postBytes(path, body, KEY))
      await started.reaches(requests)
      socket.destroy()
      await aborted.reaches(requests)

      await expect.poll(() => usage).toMatchObject([{ path, status: 499, tokensIn: 0, tokensOut: 0 }])
    },
  )

  it('while its row is being written leaves that one row', async () => {
    const { usageRecorder, recorded, recording, commit } = createSlowRecorder()
    const { app, listen, logLines } = createTestApp({ usageRecorder })
    const left = new Promise((resolve) => {
      app.server.once('connection', (connection: Socket) => connection.once('close', resolve))
    })
    const socket = await openSocket(await listen())

    socket.write(postBytes('/v1/generate', { prompt: 'a' }, KEY))
    await recording
    socket.destroy()
    await left
    commit()

    await expect.poll(() => logLines).toMatchObject([{ msg: 'request', status: 499 }])
    expect(recorded).toMatchObject([{ status: 200, tokensOut: 1 }])
  })

  it('before its body is complete has used nothing', async () => {
    const { listen, usage, logLines } = createTestApp()
    const socket = await openSocket(await listen())
    const bytes = postBytes('/v1/generate', { prompt: 'a'.repeat(1000) }, KEY)

    socket.write(bytes.slice(0, -500))
    await turns(20)
    socket.destroy()

    await expect.poll(() => logLines).toHaveLength(1)
    expect(usage).toEqual([])
  })
})
