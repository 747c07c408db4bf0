/** A real engine process with the small Llama as a service: its host is one client, another process could be the next. */
import { existsSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { findCheckpointFiles } from '../../src/checkpoints/checkpoint-files.ts'
import { convertCheckpoint } from '../../src/checkpoints/conversion/convert.ts'
import type { PrefixCacheScope } from '../../src/core/choices/prefix-cache-scope.ts'
import { systemClock } from '../../src/core/clock.ts'
import { connectToEngine, EngineClient } from '../../src/engines/process/connection/engine-client.ts'
import { EngineHost } from '../../src/engines/process/host/engine-host.ts'
import { RequestStream } from '../../src/engines/process/step-loop/request-stream.ts'
import type { EngineEvent } from '../../src/protocol/engine-events.ts'
import { engineRequest, runRequest } from '../support/engines/engine-requests.ts'
import { until } from '../support/until.ts'

const root = path.resolve(import.meta.dirname, '../..')
const ENGINE = path.join(root, 'dist/engines/process/engine-main.js')
const SLOTS = 2

let folder: string
let modelPath: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'))
  const options = { checkpoint: path.join(root, 'test/data/small-llama'), modelConfig: null, tokenizer: null }
  const source = await findCheckpointFiles(options)
  if (source.kind !== 'hugging-face') throw new Error('the small Llama is a safetensors checkpoint')
  modelPath = path.join(folder, 'model.gguf')
  await convertCheckpoint({ source, tensorType: 'f32', outputPath: modelPath })
})

afterAll(() => rm(folder, { recursive: true, force: true }))

interface CacheOptions {
  readonly prefixCacheBytes?: number
  readonly prefixCacheScope?: PrefixCacheScope
}

async function startHost({
  prefixCacheBytes = 0,
  prefixCacheScope = 'shared',
}: CacheOptions = {}): Promise<EngineHost> {
  const host = await EngineHost.start(
    {
      start: {
        runner: {
          modelId: 'small-llama',
          modelPath,
          maxBatchSize: SLOTS,
          maxSeqLen: 512,
          threads: 1,
          gpu: 'off',
          gpuLayers: null,
          kvCacheType: 'f32',
          prefixCacheBytes,
        },
        schedulePolicy: 'fcfs',
        prefixCacheScope,
        program: ENGINE,
      },
    },
    {
      onProgress: () => {},
      onLogLine: () => {},
      onCrash: () => {},
      onOverload: () => {},
      onRestart: () => {},
    },
    new AbortController().signal,
  )
  onTestFinished(() => host.close())
  return host
}

/** Another client than the host. */
async function connect(socketPath: string) {
  const socket = await connectToEngine(socketPath)
  onTestFinished(() => void socket.destroy())
  const hooks = { onClose: () => {}, onSilence: () => {}, silenceMs: 60_000, clock: systemClock }
  const client = new EngineClient(socket, hooks)
  const generate = (prompt: string, maxNewTokens: number): AsyncIterable<readonly EngineEvent[]> => {
    const { signal } = new AbortController()
    const stream = new RequestStream({ signal, onCancel: () => handle.abort() })
    const handle = client.submit({
      work: { type: 'generate', request: engineRequest(prompt, { maxNewTokens }) },
      stream,
    })
    return stream
  }
  return { socket, generate }
}

const PROMPT = 'Once upon a time'

describe('an engine process with two clients', () => {
  it('gives both the same text at the same time, each its own', async () => {
    const host = await startHost()
    const { generate } = await connect(host.socketPath)
    const read = async () => {
      let text = ''
      for await (const events of generate(PROMPT, 20)) {
        for (const event of events) if (event.type === 'text-delta') text += event.text
      }
      return text
    }
    const [[own], other] = await Promise.all([
      runRequest(host, engineRequest(PROMPT, { maxNewTokens: 20 })),
      read(),
    ])
    expect(own?.tokenIds).toHaveLength(20)
    expect(other).toBe(own?.text)
  })

  it('goes on for the host when the other leaves in the middle, whose slots are free again', async () => {
    const host = await startHost()
    const { socket, generate } = await connect(host.socketPath)
    const signal = new AbortController().signal
    const kept = host.generate(engineRequest(PROMPT, { maxNewTokens: 450 }), signal)
    let tokens = 0
    let hasEnded = false
    const reading = (async () => {
      for await (const events of kept) {
        for (const event of events) if (event.type === 'text-delta') tokens += event.tokenIds.length
      }
      hasEnded = true
    })()
    const lost = generate(PROMPT, 450)[Symbol.asyncIterator]()
    await lost.next()
    await until('the host has tokens', () => tokens > 0)

    socket.destroy()
    // One slot is the host's: this one takes the other's, while the host's goes on.
    const [next] = await runRequest(host, engineRequest(PROMPT, { maxNewTokens: 5 }))

    expect(next).toMatchObject({ ends: ['length'] })
    expect(hasEnded).toBe(false)
    await reading
    expect(tokens).toBeGreaterThan(5)
    expect(host.status()).toEqual({ state: 'ready', deaths: 0 })
  })

  it('begins with no copies in host memory when it is started again, and makes the same text', async () => {
    const host = await startHost({ prefixCacheBytes: 1e9 })
    const speak = async (name: string) => {
      const request = engineRequest(`${name} went to the market. `.repeat(15), { maxNewTokens: 10 })
      let restoredTokens = 0
      let text = ''
      for await (const events of host.generate(request, new AbortController().signal)) {
        for (const event of events) {
          if (event.type === 'sequence-start') restoredTokens = event.restoredTokens ?? 0
          if (event.type === 'text-delta') text += event.text
        }
      }
      return { text, restoredTokens }
    }
    const first = await speak('Tom')
    for (const other of ['Ann', 'Ben']) await speak(other)
    const back = await speak('Tom')
    expect(back.text).toBe(first.text)
    expect(back.restoredTokens).toBeGreaterThan(64)

    expect(host.status().prefixCacheBytes).toBeGreaterThan(0)
    const { pid } = host
    process.kill(pid, 'SIGKILL')
    await until('it serves again', () => host.pid !== pid && host.status().state === 'ready')

    expect(host.status().prefixCacheBytes).toBeUndefined()
    expect(await speak('Tom')).toEqual({ text: first.text, restoredTokens: 0 })
    for (const other of ['Ann', 'Ben']) expect((await speak(other)).restoredTokens).toBe(0)
    expect((await speak('Tom')).restoredTokens).toBeGreaterThan(64)
  })

  it.each(['shared', 'account'] as const)('gives a prompt what the scope allows: %s', async (scope) => {
    const host = await startHost({ prefixCacheBytes: 1e9, prefixCacheScope: scope })
    const cachedTokensOf = async (accountId: string) => {
      const request = engineRequest('Tom went to the market. '.repeat(30), { maxNewTokens: 2 })
      const ofAccount = { ...request, place: { ...request.place, accountId } }
      let cachedTokens = Number.NaN
      for await (const events of host.generate(ofAccount, new AbortController().signal)) {
        for (const event of events) if (event.type === 'sequence-start') ({ cachedTokens } = event)
      }
      return cachedTokens
    }
    expect(await cachedTokensOf('a')).toBe(0)
    if (scope === 'shared') expect(await cachedTokensOf('b')).toBeGreaterThan(64)
    else expect(await cachedTokensOf('b')).toBe(0)
    expect(await cachedTokensOf('a')).toBeGreaterThan(64)
  })

  it('listens in a folder that only this user may enter, which is gone with the engine', async () => {
    const host = await startHost()
    const { socketPath } = host
    expect(statSync(path.dirname(socketPath)).mode & 0o777).toBe(0o700)
    await host.close()
    expect(existsSync(path.dirname(socketPath))).toBe(false)
    await expect(connectToEngine(socketPath)).rejects.toThrow('ended before it could be reached')
  })
})

describe('an engine process with long prompts', () => {
  /** As slow to tokenize as the context admits, and then too long. */
  const SLOW = Array.from({ length: 64 }, () => '<s>abcdefghijkl'.repeat(500))

  it('answers a short request before the long one that came first', async () => {
    const host = await startHost()
    const ends: string[] = []
    const run = async (name: string, prompts: string | string[]) => {
      const results = await runRequest(host, engineRequest(prompts, { maxNewTokens: 1 }))
      ends.push(name)
      return results
    }

    const [long] = await Promise.all([run('long', SLOW), run('short', PROMPT)])

    expect(ends).toEqual(['short', 'long'])
    expect(new Set(long.map(({ ends: [end] }) => end))).toEqual(new Set(['context_length_exceeded']))
  })

  it('ends one whose client leaves, and works for the next', async () => {
    const host = await startHost()
    for (let round = 0; round < 5; round++) {
      const client = new AbortController()
      const request = runRequest(host, engineRequest(SLOW), client.signal)
      await runRequest(host, engineRequest(PROMPT, { maxNewTokens: 1 }))
      client.abort()
      await expect(request).rejects.toThrow('aborted')
    }
    const [long] = await runRequest(host, engineRequest([`${'the cat '.repeat(60)}.`, ...SLOW.slice(2)]))
    expect(long?.tokenIds.length).toBeGreaterThan(0)
  })

  it('tokenizes short and long texts for it, and continues tokens as it does their text', async () => {
    const host = await startHost()
    const { signal } = new AbortController()
    const tokenize = async (text: string) =>
      await host.tokenize(
        { prompt: { pieces: [text], addSpecial: true }, accountId: 'a', wantsTexts: true },
        signal,
      )

    const { tokenIds, texts } = await tokenize(PROMPT)
    const [ofText] = await runRequest(host, engineRequest(PROMPT, { maxNewTokens: 20 }))
    const prompts = [{ tokenIds: [...tokenIds] }]
    const [ofTokens] = await runRequest(host, { ...engineRequest('', { maxNewTokens: 20 }), prompts })

    expect(ofTokens).toEqual(ofText)
    expect(texts).toHaveLength(tokenIds.length)
    const bosText = host.info().bosText
    expect(await host.detokenize(tokenIds, signal)).toBe(bosText + PROMPT)
    const long = await tokenize(`${PROMPT} `.repeat(200).slice(0, -1))
    expect(long.tokenIds.length).toBeGreaterThan(512)
    expect(await host.detokenize(long.tokenIds, signal)).toBe(
      `${bosText}${`${PROMPT} `.repeat(200).slice(0, -1)}`,
    )
    await expect(tokenize(PROMPT.repeat(10_000))).rejects.toMatchObject({ code: 'context_length_exceeded' })
    const leave = new AbortController()
    const left = host.tokenize(
      { prompt: { pieces: [PROMPT], addSpecial: true }, accountId: 'a' },
      leave.signal,
    )
    leave.abort()
    await expect(left).rejects.toMatchObject({ name: 'AbortError' })
  })
})
