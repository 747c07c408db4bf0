/** A KV cache of q8_0 on the small Llama: nearly what F16 gives, through copies, cuts and beams, in half the memory. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openLlamaRunner } from '../../../src/engines/llamacpp/open-runner.ts'
import { InProcessEngine } from '../../../src/engines/process/step-loop/in-process-engine.ts'
import type { ModelRunner, SlotStart } from '../../../src/protocol/model-runner.ts'
import type { RunnerOptions } from '../../../src/protocol/runner-options.ts'
import { GREEDY } from '../../../src/scheduler/sequence.ts'
import { convertCheckpoint } from '../../../src/checkpoints/conversion/convert.ts'
import { findCheckpointFiles } from '../../../src/checkpoints/checkpoint-files.ts'
import { searchWithBeams } from '../../support/engines/beam-run.ts'
import { engineRequest, runRequest } from '../../support/engines/engine-requests.ts'
import { openForLogits } from '../../support/engines/model-logits.ts'
import { continueGreedily } from '../../support/engines/model-run.ts'

const PROMPTS = [
  'Once upon a time',
  'One rainy day, Mira',
  'Tom had a red ball',
  'Rosa is 29 years old and',
  '1, 2, 3,',
  'The capital of',
  'Lily went to the park with her mom. She saw a big dog and',
  'Hello',
]
const LONG_PROMPT = 'Once upon a time there was a dog who liked to play in the garden. '.repeat(12)

const root = path.resolve(import.meta.dirname, '../../..')
const opened: ModelRunner[] = []
let folder: string
let modelPath: string

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'))
  const options = { checkpoint: path.join(root, 'test/data/small-llama'), modelConfig: null, tokenizer: null }
  const source = await findCheckpointFiles(options)
  if (source.kind !== 'hugging-face') throw new Error('the small Llama is a safetensors checkpoint')
  modelPath = path.join(folder, 'model.gguf')
  await convertCheckpoint({ source, tensorType: 'f16', outputPath: modelPath })
})

afterEach(() => {
  for (const runner of opened.splice(0)) runner.close()
})

afterAll(() => rm(folder, { recursive: true, force: true }))

async function openDemo(kvCacheType: RunnerOptions['kvCacheType']): Promise<ModelRunner> {
  const size = { maxBatchSize: 4, maxSeqLen: 512, threads: 1 }
  const runner = await openLlamaRunner(
    { modelId: 'small-llama', modelPath, ...size, gpu: 'off', gpuLayers: null, kvCacheType },
    () => {},
  )
  opened.push(runner)
  return runner
}

const tokenize = (runner: ModelRunner, text: string) => runner.tokenize({ pieces: [text], addSpecial: true })

/** The token after a prompt of which a slot holds the first `cachedTokens`, its own or copied. */
function nextToken(runner: ModelRunner, start: Omit<SlotStart, 'sampling'>): number | null | undefined {
  const { slotId, promptTokenIds, cachedTokens } = start
  const run = {
    slotId,
    position: cachedTokens,
    tokenIds: promptTokenIds.subarray(cachedTokens),
    wantsToken: true,
  }
  return runner.execute({ starts: [{ ...start, sampling: GREEDY }], runs: [run] }).tokenIds[0]
}

describe('a KV cache of q8_0', () => {
  it('takes 34 bytes for 32 numbers', async () => {
    const [f16, q8] = [await openDemo('f16'), await openDemo('q8_0')]
    // 4 slots of 512 tokens: keys and values of 4 layers and 2 heads of 64 numbers.
    const elements = 4 * 512 * 4 * 2 * 2 * 64
    const { sizeBytes } = f16.info()
    expect(f16.info().memoryBytes).toBe(sizeBytes + elements * 2)
    expect(q8.info().memoryBytes).toBe(sizeBytes + (elements / 32) * 34)
  })

  it('gives nearly the logits of F16', () => {
    const options = { modelPath, maxSeqLen: 512 }
    const [f16, q8] = (['f16', 'q8_0'] as const).map((kvCacheType) =>
      openForLogits({ ...options, kvCacheType }),
    )
    if (f16 === undefined || q8 === undefined) throw new Error('both were opened')
    const ids = [...f16.vocabulary.tokenize({ pieces: [LONG_PROMPT], addSpecial: true })]
    const [one, other] = [f16, q8].map((context) => context.logitsAfter(0, ids))
    const differences = one?.map((logit, i) => Math.abs(logit - (other?.[i] ?? 0))) ?? []
    const spread = Math.max(...(one ?? [])) - Math.min(...(one ?? []))
    expect(Math.max(...differences)).toBeGreaterThan(0)
    expect(Math.max(...differences)).toBeLessThan(spread / 50)
    f16.close()
    q8.close()
  })

  it('continues most prompts as F16 does', async () => {
    const [f16, q8] = [await openDemo('f16'), await openDemo('q8_0')]
    const same = PROMPTS.filter((prompt) => {
      const [one, other] = [f16, q8].map((runner) => continueGreedily(runner, tokenize(runner, prompt), 8))
      return one?.join() === other?.join()
    })
    expect(same.length).toBeGreaterThanOrEqual(PROMPTS.length - 2)
  })

  it('continues a prefix that was kept or copied as one that is computed', async () => {
    const runner = await openDemo('q8_0')
    const ids = tokenize(runner, LONG_PROMPT)
    for (const ending of PROMPTS) {
      const promptTokenIds = Int32Array.from([...ids, ...tokenize(runner, ending)])
      const fresh = { promptTokenIds, cachedTokens: 0, copyFromSlotId: null }
      const wanted = nextToken(runner, { ...fresh, slotId: 0 })
      const kept = { promptTokenIds, cachedTokens: ids.length, copyFromSlotId: null }
      expect(nextToken(runner, { ...kept, slotId: 0 })).toBe(wanted)
      expect(nextToken(runner, { ...kept, slotId: 1, copyFromSlotId: 0 })).toBe(wanted)
    }
  })

  it('runs beams, which fork over it, beside streams', async () => {
    const [f16, q8] = [await openDemo('f16'), await openDemo('q8_0')]
    const [first, second] = await Promise.all(
      [f16, q8].map((runner) =>
        searchWithBeams(runner, {
          promptTokenIds: tokenize(runner, 'Once upon a time'),
          numBeams: 4,
          maxNewTokens: 24,
        }),
      ),
    )
    expect(second?.normalizedScore).toBeCloseTo(first?.normalizedScore ?? 0, 1)

    const engine = new InProcessEngine({ runner: await openDemo('q8_0') })
    opened.pop()
    const search = engineRequest('One rainy day, Mira', { numBeams: 4, maxNewTokens: 40 })
    const alone = await runRequest(engine, search)
    const streams = PROMPTS.map((prompt) => runRequest(engine, engineRequest(prompt, { maxNewTokens: 40 })))
    expect(await runRequest(engine, search)).toEqual(alone)
    await Promise.all(streams)
    await engine.close()
  })
})
