/** Conversations that outlive their slots: what comes back from host memory is what was computed, also of a recurrent model. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { openLlamaRunner } from '../../../src/engines/llamacpp/open-runner.ts'
import { InProcessEngine } from '../../../src/engines/process/step-loop/in-process-engine.ts'
import type { EngineEvent } from '../../../src/protocol/engine-events.ts'
import type { RunnerOptions } from '../../../src/protocol/runner-options.ts'
import { GREEDY } from '../../../src/scheduler/sequence.ts'
import { type SmallLlama, openSmallLlama } from '../../support/engines/small-llama.ts'
import { writeTinyModel } from '../../support/engines/llamacpp-tiny-model.ts'
import { continueGreedily } from '../../support/engines/model-run.ts'
import { shared, whenUnused } from '../../support/shared.ts'

const SLOTS = 2
const NEW_TOKENS = 12
const TOPICS = ['a fox and a hen', 'the old mill', 'two brothers', 'a ship in a storm', 'the last apple']

type OpenModel = Pick<SmallLlama, 'runner' | 'engine' | 'close'>

const openDemo = (): Promise<OpenModel> => openSmallLlama({ maxBatchSize: SLOTS, prefixCacheBytes: 1e9 })

const openRecurrent = (): Promise<OpenModel> => openTiny('mamba')

/** Some of its layers have a KV cache, here one that its slots share, and the others a state of fixed size. */
const openHybrid = (): Promise<OpenModel> => openTiny('lfm2', { kvCacheTokens: 1024 })

async function openTiny(architecture: string, room: Partial<RunnerOptions> = {}): Promise<OpenModel> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'))
  const modelPath = path.join(folder, 'model.gguf')
  writeTinyModel(modelPath, { architecture })
  const sizes = { maxBatchSize: SLOTS, maxSeqLen: 1024, prefixCacheBytes: 1e9, threads: 1, ...room }
  const device = { gpu: 'off', gpuLayers: null, kvCacheType: 'f32' } as const
  const runner = await openLlamaRunner({ modelId: 'tiny', modelPath, ...sizes, ...device }, () => {})
  const engine = new InProcessEngine({ runner })
  const close = async () => {
    await engine.close()
    await rm(folder, { recursive: true })
  }
  return { runner, engine, close }
}

/** One turn of a conversation: its tokens, and how many of them came from where. */
async function speak(engine: SmallLlama['engine'], promptTokenIds: Int32Array) {
  const turn = { tokenIds: [] as number[], cachedTokens: 0, restoredTokens: 0 }
  const request = {
    reqId: 'turn',
    prompts: [{ tokenIds: promptTokenIds }],
    options: { maxNewTokens: NEW_TOKENS, sampling: GREEDY, stopStrings: [] },
    place: { priorityClass: 0, priority: 0, accountId: 'a' },
  }
  const apply = (event: EngineEvent): void => {
    if (event.type === 'text-delta') turn.tokenIds.push(...event.tokenIds)
    if (event.type !== 'sequence-start') return
    turn.cachedTokens = event.cachedTokens
    turn.restoredTokens = event.restoredTokens ?? 0
  }
  for await (const events of engine.generate(request, new AbortController().signal)) {
    for (const event of events) apply(event)
  }
  return turn
}

describe.each([
  ['of attention', openDemo],
  ['that is recurrent', openRecurrent],
  ['that is so in some layers', openHybrid],
] as const)('conversations with a model %s that take turns in fewer slots', (_, open) => {
  const model = shared(async () => {
    const opened = await open()
    whenUnused(() => opened.close())
    return opened
  })
  const tokenize = (text: string, addSpecial: boolean) =>
    model().runner.tokenize({ pieces: [text], addSpecial })

  it('go on greedily as if each had been computed whole', async () => {
    const { runner, engine } = model()
    const talks = TOPICS.map((topic) => tokenize(`Tell me a long story about ${topic}. `.repeat(12), true))
    const question = tokenize(' And what came then? ', false)
    const restored: number[] = []
    const last: { readonly prompt: Int32Array; readonly answer: readonly number[] }[] = []
    for (const turn of [1, 2, 3]) {
      for (const [index, prompt] of talks.entries()) {
        const { tokenIds: answer, cachedTokens, restoredTokens } = await speak(engine, prompt)
        if (turn > 1) restored.push(restoredTokens)
        if (turn > 1) expect(cachedTokens).toBe(restoredTokens)
        if (turn === 3) last.push({ prompt, answer })
        talks[index] = Int32Array.from([...prompt, ...answer, ...question])
      }
    }
    // Each came back: its topic alone is longer than what they all begin with.
    expect(restored).toHaveLength(2 * TOPICS.length)
    expect(Math.min(...restored)).toBeGreaterThan(64)
    for (const { prompt, answer } of last)
      expect(continueGreedily(runner, prompt, NEW_TOKENS)).toEqual(answer)
  })

  it('take the bytes in host memory that were reckoned with', () => {
    const { runner } = model()
    const promptTokenIds = tokenize('Once upon a time '.repeat(20), true)
    const of = { slotId: 0, promptTokenIds, sampling: GREEDY, cachedTokens: 0, copyFromSlotId: null }
    const runs = [{ slotId: 0, position: 0, tokenIds: promptTokenIds, wantsToken: true }]
    runner.execute({ starts: [of], runs })
    const tokens = promptTokenIds.length
    const host = { drop: [], save: { entryId: 1_000_000, tokens }, restore: null }
    const { saved } = runner.execute({ starts: [{ ...of, host }], runs })
    expect(saved).toEqual([{ entryId: 1_000_000, bytes: runner.hostRoom?.copyBytes(tokens) }])
  })
})
