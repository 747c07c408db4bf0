/** LoRA adapters of the small Llama: each gives what its model merged gives, alone and beside others, and frees what it took. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLlamaRunner } from '../../src/engines/llamacpp/open-runner.ts'
import { InProcessEngine } from '../../src/engines/process/step-loop/in-process-engine.ts'
import type { Engine, EngineRequest, SequenceOptions } from '../../src/protocol/engine.ts'
import type { EngineEvent } from '../../src/protocol/engine-events.ts'
import type { AdapterStore } from '../../src/protocol/model-runner.ts'
import { GREEDY } from '../../src/scheduler/sequence.ts'
import { type SmallLlama, openSmallLlama } from '../support/engines/small-llama.ts'
import { engineRequest, runRequest } from '../support/engines/engine-requests.ts'
import { writeMerged, writeRandomAdapter } from '../support/engines/gguf-adapters.ts'
import { writeTinyModel } from '../support/engines/llamacpp-tiny-model.ts'

const PROMPTS = ['Once upon a time', 'The king said', 'A dog and a cat', 'In the morning']
const SIZE = 0.15
const FIRST = { seed: 1, scale: 1 }
const SECOND = { seed: 2, scale: 0.75 }
let folder = ''
let llama: SmallLlama
/** By adapter id: 1 and 2. */
const merged: InProcessEngine[] = []

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-adapters-'))
  llama = await openSmallLlama({ maxBatchSize: 12, prefixCacheBytes: 64_000_000 })
  for (const [index, { seed, scale }] of [FIRST, SECOND].entries()) {
    const options = { basePath: llama.modelPath, seed, size: SIZE }
    const adapter = await writeRandomAdapter({ ...options, path: path.join(folder, `${seed}.gguf`) })
    adapters().load({ ...adapter, scale, adapterId: index + 1 })
    const modelPath = path.join(folder, `merged-${seed}.gguf`)
    await writeMerged(options, { path: modelPath, scale })
    const device = { threads: 1, gpu: 'off', gpuLayers: null, kvCacheType: 'f32' } as const
    const sizes = { maxBatchSize: 4, maxSeqLen: 512 }
    const runner = await openLlamaRunner({ modelId: 'merged', modelPath, ...sizes, ...device }, () => {})
    merged[index + 1] = new InProcessEngine({ runner })
  }
})

afterAll(async () => {
  await llama.close()
  for (const engine of merged) await engine?.close()
  await rm(folder, { recursive: true })
})

function adapters(): AdapterStore {
  const { adapters: store } = llama.runner
  if (store === undefined) throw new Error('the runner takes no adapters')
  return store
}

function mergedOf(adapterId: number): Engine {
  const engine = merged[adapterId]
  if (engine === undefined) throw new Error(`nothing was merged with adapter ${adapterId}`)
  return engine
}

const options = (changes: Partial<SequenceOptions> = {}) => ({ maxNewTokens: 32, ...changes })
const withAdapter = (request: EngineRequest, adapterId?: number): EngineRequest =>
  adapterId === undefined ? request : { ...request, adapterId }

async function textsOf(engine: Engine, request: EngineRequest): Promise<string[]> {
  return (await runRequest(engine, request)).map(({ text }) => text)
}

async function eventsOf(engine: Engine, request: EngineRequest): Promise<EngineEvent[]> {
  const all: EngineEvent[] = []
  for await (const events of engine.generate(request, new AbortController().signal))
    all.push(...(events as readonly EngineEvent[]))
  return all
}

async function cachedTokensOf(request: EngineRequest): Promise<number> {
  const start = (await eventsOf(llama.engine, request)).find(({ type }) => type === 'sequence-start')
  return start?.type === 'sequence-start' ? start.cachedTokens : -1
}

describe('an adapter', () => {
  it.each([1, 2])('%i gives the texts of the model that it is merged into', async (adapterId) => {
    const request = engineRequest(PROMPTS, options())

    const texts = await textsOf(llama.engine, withAdapter(request, adapterId))

    expect(texts).toEqual(await textsOf(mergedOf(adapterId), request))
    expect(texts).not.toEqual(await textsOf(llama.engine, request))
  })

  it('gives the log probabilities of the model that it is merged into', async () => {
    const request = engineRequest('The king said', options({ topLogprobs: 20, maxNewTokens: 8 }))
    const measure = async (engine: Engine, of: EngineRequest) =>
      (await eventsOf(engine, of)).flatMap((event) =>
        event.type === 'text-delta' ? (event.logprobs ?? []) : [],
      )

    const own = await measure(llama.engine, withAdapter(request, 1))
    const reference = await measure(mergedOf(1), request)
    const base = await measure(llama.engine, request)

    const likeliest = (all: typeof own) => all[0]?.top.map(({ logprob }) => logprob) ?? []
    const distance = (one: number[], other: number[]) =>
      Math.max(...one.map((value, index) => Math.abs(value - (other[index] ?? 0))))
    expect(own.map(({ tokenId }) => tokenId)).toEqual(reference.map(({ tokenId }) => tokenId))
    expect(likeliest(own)).toHaveLength(20)
    expect(distance(likeliest(own), likeliest(reference))).toBeLessThan(1e-3)
    expect(distance(likeliest(own), likeliest(base))).toBeGreaterThan(0.05)
  })

  it('gives beside another and the base what each gives alone', async () => {
    const turns = PROMPTS.flatMap((prompt) =>
      [undefined, 1, 2].map((id) => withAdapter(engineRequest(prompt, options()), id)),
    )
    const alone: string[][] = []
    for (const turn of turns) alone.push(await textsOf(llama.engine, turn))

    const together = await Promise.all(turns.map((turn) => textsOf(llama.engine, turn)))

    expect(together).toEqual(alone)
    expect(new Set(together.flat()).size).toBeGreaterThan(PROMPTS.length * 2)
  })

  it('searches with beams, draws with a seed and gives several choices as the merged model does', async () => {
    const beams = engineRequest('A dog and a cat', options({ numBeams: 3 }))
    const seeded = { ...GREEDY, temperature: 0.9, topK: 4, seed: 7 }
    const choices = {
      ...engineRequest('In the morning', options({ sampling: seeded, maxNewTokens: 16 })),
      choices: 3,
    }
    for (const request of [beams, choices]) {
      const both = [withAdapter(request, 1), withAdapter(request, 2), request]
      const [first, second, base] = await Promise.all(both.map((one) => textsOf(llama.engine, one)))

      expect(first).toEqual(await textsOf(mergedOf(1), request))
      expect(second).toEqual(await textsOf(mergedOf(2), request))
      expect(base).not.toEqual(first)
    }
  })

  it('reads no prefix that another adapter or the base has computed', async () => {
    const prompt = 'There was a fox who lived in a little house in the woods near the river. '.repeat(10)
    const ask = (adapterId?: number) =>
      cachedTokensOf(withAdapter(engineRequest(prompt, options({ maxNewTokens: 1 })), adapterId))

    // A token that every text begins with may be there.
    for (const adapterId of [undefined, 1, 2]) expect(await ask(adapterId)).toBeLessThan(10)
    for (const adapterId of [undefined, 1, 2]) expect(await ask(adapterId)).toBeGreaterThan(100)
  })

  it('is named in the refusal of a request when it is not loaded', async () => {
    const request = withAdapter(engineRequest('A dog', options()), 99)
    await expect(runRequest(llama.engine, request)).rejects.toMatchObject({ code: 'engine_unavailable' })
  })

  it('is freed, and another takes its memory', async () => {
    const adapter = { basePath: llama.modelPath, seed: 3, size: SIZE, path: path.join(folder, '3.gguf') }
    const written = await writeRandomAdapter(adapter)
    const texts = new Set<string>()
    for (const adapterId of [11, 12, 13]) {
      adapters().load({ ...written, adapterId })
      for (const text of await textsOf(
        llama.engine,
        withAdapter(engineRequest('The king said', options()), adapterId),
      ))
        texts.add(text)
      adapters().free(adapterId)
      expect(adapters().has(adapterId)).toBe(false)
    }
    expect(texts.size).toBe(1)
    expect(await textsOf(llama.engine, withAdapter(engineRequest('A dog', options()), 1))).toEqual(
      await textsOf(mergedOf(1), engineRequest('A dog', options())),
    )
  })

  it('of another model is refused', async () => {
    const tiny = path.join(folder, 'tiny.gguf')
    writeTinyModel(tiny)
    const other = await writeRandomAdapter({ basePath: tiny, seed: 4, path: path.join(folder, '4.gguf') })

    expect(() => adapters().load({ ...other, modelId: 'other', adapterId: 4 })).toThrow(
      "Model 'other' was not registered: llama.cpp cannot load the adapter",
    )
    expect(adapters().has(4)).toBe(false)
  })
})
