/** Conversations that outlive the engine process: real ones with the small Llama, ended and started again over one folder. */
import { cpSync, mkdtempSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { findCheckpointFiles } from '../../../src/checkpoints/checkpoint-files.ts'
import { convertCheckpoint } from '../../../src/checkpoints/conversion/convert.ts'
import type { PrefixCacheScope } from '../../../src/core/choices/prefix-cache-scope.ts'
import { EngineHost } from '../../../src/engines/process/host/engine-host.ts'
import { engineRequest } from '../../support/engines/engine-requests.ts'
import { until } from '../../support/until.ts'

const root = path.resolve(import.meta.dirname, '../../..')
const NEVER_MS = 3_600_000

const closing: EngineHost[] = []
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

afterEach(async () => {
  for (const host of closing.splice(0)) await host.close()
})

afterAll(() => rm(folder, { recursive: true, force: true }))

interface StoreOptions {
  readonly store: string
  readonly modelPath?: string
  readonly maxSeqLen?: number
  readonly prefixCacheBytes?: number
  readonly prefixCacheScope?: PrefixCacheScope
  readonly restMs?: number
}

/** What an engine has left that heard three conversations over two slots, and their texts. */
let left: { readonly store: string; readonly texts: ReadonlyMap<string, string> }

beforeAll(async () => {
  const store = newStore()
  const { host, speak } = await startEngine({ store })
  const texts = new Map<string, string>()
  for (const name of ['Tom', 'Ann', 'Ben']) texts.set(name, (await speak(name)).text)
  await host.close()
  left = { store, texts }
})

const newStore = (): string => mkdtempSync(path.join(folder, 'store-'))

/** A copy of what was left. */
function storeOfThree(): string {
  const store = newStore()
  cpSync(left.store, store, { recursive: true })
  return store
}

async function startEngine(options: StoreOptions) {
  const { store, maxSeqLen = 512, prefixCacheBytes = 1e9, restMs = NEVER_MS } = options
  const notes: string[] = []
  const host = await EngineHost.start(
    {
      start: {
        runner: {
          ...{
            modelId: 'small-llama',
            modelPath: options.modelPath ?? modelPath,
            maxBatchSize: 2,
            maxSeqLen,
            threads: 1,
          },
          ...{ gpu: 'off', gpuLayers: null, kvCacheType: 'f32', prefixCacheBytes },
          prefixCacheStore: { folder: store, maxBytes: prefixCacheBytes, restMs },
        },
        schedulePolicy: 'fcfs',
        prefixCacheScope: options.prefixCacheScope ?? 'shared',
        program: path.join(root, 'dist/engines/process/engine-main.js'),
      },
    },
    {
      onProgress: () => {},
      onLogLine: () => {},
      onCrash: () => {},
      onOverload: () => {},
      onRestart: () => {},
      onNote: (note) => void notes.push(note),
    },
    new AbortController().signal,
  )
  closing.push(host)
  const speak = async (name: string, accountId = 'a') => {
    const request = engineRequest(`${name} went to the market. `.repeat(30), { maxNewTokens: 10 })
    const ofAccount = { ...request, place: { ...request.place, accountId } }
    const answer = { text: '', cachedTokens: 0, restoredTokens: 0 }
    for await (const events of host.generate(ofAccount, new AbortController().signal)) {
      for (const event of events) {
        if (event.type === 'text-delta') answer.text += event.text
        if (event.type !== 'sequence-start') continue
        answer.cachedTokens = event.cachedTokens
        answer.restoredTokens = event.restoredTokens ?? 0
      }
    }
    return answer
  }
  return { host, notes, speak }
}

function filesIn(store: string, ending = '.kv'): string[] {
  const names = readdirSync(store, { recursive: true, encoding: 'utf8' })
  return names.filter((name) => name.endsWith(ending)).map((name) => path.join(store, name))
}

describe('conversations with --prefix-cache-dir', () => {
  it('go on after a restart as if the engine had not ended: those in slots, and those in host memory', async () => {
    const store = storeOfThree()
    const { texts } = left
    expect(filesIn(store)).toHaveLength(3)

    const { host, notes, speak } = await startEngine({ store })
    expect(host.status().prefixCacheBytes).toBeUndefined()
    for (const [name, text] of texts) {
      const answer = await speak(name)
      expect(answer.text).toBe(text)
      expect(answer.restoredTokens).toBeGreaterThan(64)
    }
    expect(notes).toEqual([])
    await host.close()
    expect(filesIn(store)).toHaveLength(3)
  })

  it('are readable by this user only', () => {
    const { store } = left
    for (const file of [...filesIn(store), ...filesIn(store, 'manifest.json')]) {
      expect(statSync(file).mode & 0o777).toBe(0o600)
      expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700)
      expect(statSync(path.dirname(path.dirname(file))).mode & 0o777).toBe(0o700)
    }
  })

  it('are written while nothing runs, so that an engine that is killed loses only what came since', async () => {
    const store = newStore()
    const { host, speak } = await startEngine({ store, restMs: 1 })
    const { text } = await speak('Tom')
    await until('it is written', () => filesIn(store).length === 1)
    const { pid } = host
    process.kill(pid, 'SIGKILL')
    await until('it serves again', () => host.pid !== pid && host.status().state === 'ready')

    const answer = await speak('Tom')
    expect(answer.text).toBe(text)
    expect(answer.restoredTokens).toBeGreaterThan(64)
  })

  it.each([
    ['shared', true],
    ['account', false],
  ] as const)('keep to the scope after a restart: %s', async (prefixCacheScope, isShared) => {
    const store = storeOfThree()
    const { speak } = await startEngine({ store, prefixCacheScope })
    expect((await speak('Tom', 'b')).restoredTokens > 64).toBe(isShared)
    expect((await speak('Ann', 'a')).restoredTokens).toBeGreaterThan(64)
  })

  it('that are damaged or foreign are computed again, and their files removed with one note', async () => {
    const store = storeOfThree()
    const { texts } = left
    const [cut, foreign, changed] = filesIn(store)
    if (cut === undefined || foreign === undefined || changed === undefined)
      throw new Error('there are three')
    writeFileSync(cut, readFileSync(cut).subarray(0, -1))
    writeFileSync(foreign, 'something else')
    const bytes = readFileSync(changed)
    const middle = bytes.length >> 1
    bytes[middle] = (bytes[middle] ?? 0) ^ 1
    writeFileSync(changed, bytes)

    const { notes, speak } = await startEngine({ store })
    expect(notes).toEqual(['2 damaged or foreign files of the prefix cache were removed'])
    expect(filesIn(store)).toEqual([changed])
    for (const [name, text] of texts) {
      const answer = await speak(name)
      expect([answer.text, answer.restoredTokens]).toEqual([text, 0])
    }
    expect(notes.slice(1)).toEqual(['a damaged file of the prefix cache was removed'])
    expect(filesIn(store)).toEqual([])
  })

  it('are used by their model in their shape alone, which finds them after a swap to another and back', async () => {
    const store = storeOfThree()
    const other = path.join(folder, 'other.gguf')
    await cp(modelPath, other)
    utimesSync(other, 1, 1)
    const swapped = await startEngine({ store, modelPath: other })
    expect((await swapped.speak('Tom')).cachedTokens).toBe(0)
    await swapped.host.close()

    const back = await startEngine({ store })
    expect((await back.speak('Tom')).restoredTokens).toBeGreaterThan(64)
    await back.host.close()
    // A third shape takes the place of the one that was used least recently.
    const longer = await startEngine({ store, maxSeqLen: 1024 })
    expect((await longer.speak('Tom')).cachedTokens).toBe(0)
    expect(filesIn(store, 'manifest.json')).toHaveLength(2)
  })

  it('keep to their bytes: the least recently used is not there', async () => {
    const store = storeOfThree()
    const bytes = filesIn(store).reduce((sum, file) => sum + statSync(file).size, 0)

    const { host, speak } = await startEngine({ store, prefixCacheBytes: Math.ceil(bytes * 0.8) })
    expect((await speak('Tom')).restoredTokens).toBe(0)
    for (const name of ['Ann', 'Ben']) expect((await speak(name)).cachedTokens).toBeGreaterThan(64)
    await host.close()
    const kept = filesIn(store).reduce((sum, file) => sum + statSync(file).size, 0)
    expect(kept).toBeLessThanOrEqual(bytes * 0.8)
  })

  it('cannot be kept in a folder that cannot be written, which the start says', async () => {
    const file = path.join(folder, 'a-file')
    writeFileSync(file, '')
    await expect(startEngine({ store: file })).rejects.toThrow(
      `The folder '${file}' (--prefix-cache-dir) cannot be written: ENOTDIR.`,
    )
  })
})
