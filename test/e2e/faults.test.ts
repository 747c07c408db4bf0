/** What happens when somebody leaves, something dies, or the server is told to stop. */
import { execFileSync } from 'node:child_process'
import { connect } from 'node:net'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  call,
  SMALL_LLAMA,
  enginePids,
  gone,
  KEY,
  listening,
  logged,
  post,
  readStream,
  spawnServer,
  startDemoServer,
  startServer,
  streamChunks,
  temporaryFolder,
  type RunningServerProcess,
} from '../support/servers/server-process.ts'
import { shared } from '../support/shared.ts'

/** Goes on for long: hot sampling hardly ever hits the end token, and with this seed it does not. */
const LONG = { prompt: 'Once upon a time', max_new_tokens: 2000, temperature: 5, seed: 3 }
const SHORT = { prompt: 'Once upon a time', max_new_tokens: 2 }

async function health({ address }: RunningServerProcess): Promise<number> {
  return (await fetch(`${address}/v1/health`)).status
}

/** Starts a long stream and returns its iterator after the first chunk. */
async function startLongStream(server: RunningServerProcess, signal?: AbortSignal) {
  const options = signal === undefined ? { body: LONG } : { body: LONG, signal }
  const chunks = streamChunks(await post(server, '/v1/generate/stream', options))
  await chunks.next()
  return chunks
}

async function drainStream(chunks: Awaited<ReturnType<typeof startLongStream>>) {
  let last = null
  for await (const chunk of chunks) last = chunk
  return last
}

const ADMIN_KEY = 'admin-key-of-this-test'

/** Of the tests down to the one that kills it. */
const twoSlots = shared(() => startDemoServer(['--max-batch-size', '2']))

describe('a client that leaves', () => {
  it('frees its slot, the only one that others do not hold, so that the next request runs; the log tells how far it came', async () => {
    const server = twoSlots()
    const [staying, leaving] = [new AbortController(), new AbortController()]
    const other = await startLongStream(server, staying.signal)
    await startLongStream(server, leaving.signal)
    const next = post(server, '/v1/generate', { body: SHORT })
    leaving.abort()
    expect((await next).status).toBe(200)
    // That one still runs.
    expect((await other.next()).done).toBe(false)
    const line = await logged(server, 'request', ({ status }) => status === 499)
    expect(line['completionTokens']).toBeLessThan(2000)
    staying.abort()
  })

  it('frees it for plain requests and for those that were still queued', async () => {
    const server = twoSlots()
    const leaving = new AbortController()
    const options = { body: LONG, signal: leaving.signal }
    const abandoned = ['/v1/generate', '/v1/generate'].map((route) => post(server, route, options))
    const batch = { prompts: ['a', 'b', 'c'], max_new_tokens: 2000, temperature: 5, seed: 3 }
    abandoned.push(post(server, '/v1/generate/batch', { body: batch, signal: leaving.signal }))
    const outcomes = Promise.allSettled(abandoned)
    // Answered on another connection, so the server has read the others by now or will read them after the abort.
    expect(await health(server)).toBe(200)
    leaving.abort()
    expect((await outcomes).every(({ status }) => status === 'rejected')).toBe(true)
    expect((await post(server, '/v1/generate', { body: SHORT })).status).toBe(200)
  })
})

it('SIGHUP ends neither a server without TLS nor its engine', async () => {
  const server = twoSlots()
  const before = enginePids(server)

  server.child.kill('SIGHUP')
  for (const pid of before) process.kill(pid, 'SIGHUP')
  const answer = await post(server, '/v1/generate', { body: SHORT })

  expect(answer.status).toBe(200)
  expect(enginePids(server)).toEqual(before)
})

describe('kill -9 of the engine process', () => {
  it('fails what it was running, is followed by a new one, and health never stops answering', async () => {
    const server = twoSlots()
    const [pid] = enginePids(server)
    if (pid === undefined) throw new Error('there is no engine process')
    const stream = await startLongStream(server)
    const plain = post(server, '/v1/generate', { body: { ...LONG, max_new_tokens: 200 } })
    process.kill(pid, 'SIGKILL')
    expect(await health(server)).toBe(200)
    expect((await drainStream(stream))?.error?.code).toBe('engine_failed')
    const answer = await plain
    // It was running, or still waiting and is run by the next process.
    expect([200, 500]).toContain(answer.status)
    expect((await post(server, '/v1/generate', { body: SHORT })).status).toBe(200)
    expect(await health(server)).toBe(200)
    expect(enginePids(server)).not.toContain(pid)
  })

  it('loses no request that was only waiting', async () => {
    const server = twoSlots()
    const streams = [await startLongStream(server), await startLongStream(server)]
    const waiting = post(server, '/v1/generate', { body: SHORT })
    const alsoWaiting = post(server, '/v1/generate/batch', {
      body: { prompts: ['a', 'b'], max_new_tokens: 2 },
    })
    // Both have reached the engine once a request behind them is refused or answered; health proves HTTP read them.
    await health(server)
    process.kill(enginePids(server)[0] ?? 0, 'SIGKILL')
    for (const stream of streams) expect((await drainStream(stream))?.error?.code).toBe('engine_failed')
    expect((await waiting).status).toBe(200)
    expect((await alsoWaiting).status).toBe(200)
  })
})

describe('the end of the server', () => {
  it('by kill -9 leaves no engine behind', async () => {
    const server = twoSlots()
    const pids = enginePids(server)
    expect(pids).toHaveLength(1)
    server.child.kill('SIGKILL')
    await server.ended
    await Promise.all(pids.map(gone))
  })

  it('by SIGTERM lets running requests finish, refuses new ones, and exits 0, whatever connections never sent a byte', async () => {
    const server = await startDemoServer()
    const socket = connect(Number(new URL(server.address).port), '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    const body = { ...LONG, max_new_tokens: 300 }
    const response = await post(server, '/v1/generate/stream', { body })
    server.child.kill('SIGTERM')
    const { finishReason, error } = await readStream(response)
    expect(error).toBeNull()
    expect(['length', 'stop']).toContain(finishReason)
    expect(await server.ended).toEqual({ code: 0, signal: null })
    socket.destroy()
    await expect(fetch(`${server.address}/v1/health`)).rejects.toThrow('fetch failed')
  })

  it('ends streams with an error event once the shutdown time-out is over, although a load hangs in the file system', async () => {
    const folder = temporaryFolder()
    const checkpoint = path.join(folder, 'stuck.gguf')
    execFileSync('mkfifo', [checkpoint])
    const hang = path.resolve(import.meta.dirname, '../support/checkpoints/stuck-file.mjs')
    vi.stubEnv('NODE_OPTIONS', `--import ${pathToFileURL(hang).href}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    const server = await startDemoServer(['--admin-key', ADMIN_KEY, '--shutdown-timeout', '0'])
    const stream = await startLongStream(server)
    const body = { id: 'stuck', checkpoint }
    const register = call(server, 'POST /v1/admin/models?wait=false', { secret: ADMIN_KEY, body })
    expect((await register).status).toBe(200)
    server.child.kill('SIGINT')
    expect((await drainStream(stream))?.error?.code).toBe('shutting_down')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })

  it('while the model loads does not wait for the load', async () => {
    const server = await startServer(['--checkpoint', SMALL_LLAMA])
    server.child.kill('SIGTERM')
    expect(await server.ended).toEqual({ code: 0, signal: null })
  })
})

it.each([24, 32])(
  'with a limit of %i open files ends in one sentence that names it',
  async (maxOpenFiles) => {
    const server = spawnServer(['--checkpoint', SMALL_LLAMA, '--api-keys', KEY], { maxOpenFiles })
    expect(await server.ended).toEqual({ code: 1, signal: null })
    expect(server.stderr.filter((line) => line.startsWith('sluice: '))).toEqual([
      expect.stringMatching(
        /^sluice: the limit of open files( \(\d+\))? is too low: raise it to 1024 or more\b.*\.$/,
      ),
    ])
  },
)

it('with a limit of 64 open files serves, in so many connections as it leaves, and goes on when nobody takes its log any more', async () => {
  const server = await listening(spawnServer(['--api-keys', KEY], { maxOpenFiles: 64 }))
  expect((await post(server, '/v1/generate', { body: { prompt: 'ab' } })).status).toBe(200)
  server.child.stderr?.destroy()

  for (let turn = 0; turn < 5; turn++) {
    const answer = await post(server, '/v1/generate', { body: { prompt: 'ab' } })
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
  }
})
