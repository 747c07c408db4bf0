/** Speculative decoding on llama.cpp with trained weights: the text with guesses is the text without. */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLlamaRunner } from '../../../src/engines/llamacpp/open-runner.ts'
import { InProcessEngine } from '../../../src/engines/process/step-loop/in-process-engine.ts'
import type { EngineRequest, Sampling, SequenceOptions } from '../../../src/protocol/engine.ts'
import type { DraftCounts, EngineEvent } from '../../../src/protocol/engine-events.ts'
import type { RunnerOptions } from '../../../src/protocol/runner-options.ts'
import { GREEDY } from '../../../src/scheduler/sequence.ts'
import { convertCheckpoint } from '../../../src/checkpoints/conversion/convert.ts'
import { findCheckpointFiles } from '../../../src/checkpoints/checkpoint-files.ts'
import { engineRequest } from '../../support/engines/engine-requests.ts'
import { lengthOf } from '../../support/length-of.ts'

const root = path.resolve(import.meta.dirname, '../../..')
let folder: string
let modelPath: string
let prompts: string[]

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'))
  const source = await findCheckpointFiles({
    checkpoint: path.join(root, 'test/data/small-llama'),
    modelConfig: null,
    tokenizer: null,
  })
  if (source.kind !== 'hugging-face') throw new Error('the small Llama is a safetensors checkpoint')
  modelPath = path.join(folder, 'model.gguf')
  await convertCheckpoint({ source, tensorType: 'f32', outputPath: modelPath })
  prompts = await findPrompts()
})

afterAll(() => rm(folder, { recursive: true, force: true }))

/** Beginnings of the texts that the model was not trained on: conversations, questions in rows, books. */
async function findPrompts(): Promise<string[]> {
  const lines = (await readFile(path.join(root, 'test/data/small-llama-held-out.jsonl'), 'utf8'))
    .trim()
    .split('\n')
  const documents = lines.map((line) => JSON.parse(line) as { kind: string; text: string })
  const ofKind = (kind: string, count: number, length: number) =>
    documents
      .filter((document) => document.kind === kind && document.text.length > length)
      .slice(0, count)
      .map(({ text }) => text.slice(0, length))
  const repeating = documents
    .filter(({ text }) => text.includes(' JSON'))
    .slice(0, lengthOf({ test: 4, soak: 8 }))
    .map(({ text }) => `${text}<|user|>Emil as JSON, please.<|assistant|>`)
  return [
    ...ofKind('qa', lengthOf({ test: 2, soak: 12 }), 400),
    ...ofKind('book', lengthOf({ test: 1, soak: 4 }), 300),
    ...ofKind('chat', lengthOf({ test: 2, soak: 16 }), 250),
    ...repeating,
  ]
}

interface Made {
  readonly tokenIds: readonly (readonly number[])[]
  readonly drafts: DraftCounts
}

/** Continues each prompt alone. */
async function continueAll(
  overrides: Partial<RunnerOptions>,
  optionsOf: (index: number) => Partial<SequenceOptions>,
): Promise<Made> {
  const runner = await openLlamaRunner(
    {
      modelId: 'small-llama',
      modelPath,
      maxBatchSize: 2,
      maxSeqLen: 512,
      threads: 1,
      gpu: 'off',
      gpuLayers: null,
      kvCacheType: 'f32',
      ...overrides,
    },
    () => {},
  )
  const engine = new InProcessEngine({ runner })
  let [draftedTokens, acceptedTokens] = [0, 0]
  const all: number[][] = []
  try {
    for (const [index, prompt] of prompts.entries()) {
      const request = engineRequest(prompt, { maxNewTokens: 120, ...optionsOf(index) })
      const tokenIds: number[] = []
      for (const event of await readEvents(engine, request)) {
        if (event.type === 'text-delta') tokenIds.push(...event.tokenIds)
        else if (event.type === 'sequence-end') {
          draftedTokens += event.drafts?.draftedTokens ?? 0
          acceptedTokens += event.drafts?.acceptedTokens ?? 0
        }
      }
      all.push(tokenIds)
    }
  } finally {
    await engine.close()
  }
  return { tokenIds: all, drafts: { draftedTokens, acceptedTokens } }
}

async function readEvents(engine: InProcessEngine, request: EngineRequest): Promise<EngineEvent[]> {
  const all: EngineEvent[] = []
  for await (const events of engine.generate(request, new AbortController().signal)) all.push(...events)
  return all
}

describe('speculative decoding with the small Llama', () => {
  it.each<[string, (index: number) => Sampling]>([
    ['greedy', () => GREEDY],
    ['greedy with a repetition penalty', () => ({ ...GREEDY, repetitionPenalty: 1.02 })],
    [
      'greedy with bias and a presence penalty',
      () => ({ ...GREEDY, presencePenalty: 0.2, logitBias: [[5, 1]] }),
    ],
    ['seeded', (seed) => ({ ...GREEDY, temperature: 0.3, topK: 40, topP: 0.95, seed })],
  ])('makes the same tokens as without, %s', async (_name, samplingOf) => {
    const options = (index: number) => ({ sampling: samplingOf(index) })
    const plain = await continueAll({ speculation: 'off' }, options)
    const drafted = await continueAll({}, options)
    expect(drafted.tokenIds).toEqual(plain.tokenIds)
    expect(plain.drafts.draftedTokens).toBe(0)
    expect(drafted.drafts.acceptedTokens).toBeGreaterThan(lengthOf({ test: 10, soak: 100 }))
    // Guesses were wrong too, and left nothing behind.
    expect(drafted.drafts.draftedTokens).toBeGreaterThan(drafted.drafts.acceptedTokens)
  })

  it('makes no guesses with a batch of others', async () => {
    const runner = await openLlamaRunner(
      {
        ...{ modelId: 'small-llama', modelPath, maxBatchSize: 8, maxSeqLen: 512, threads: 1 },
        ...{ gpu: 'off', gpuLayers: null, kvCacheType: 'f32' },
      },
      () => {},
    )
    const engine = new InProcessEngine({ runner })
    const request = engineRequest(prompts.slice(0, 4), { maxNewTokens: 40 })
    const events = await readEvents(engine, request)
    await engine.close()
    const drafts = events.flatMap((event) => (event.type === 'sequence-end' ? [event.drafts] : []))
    expect(drafts).toEqual([undefined, undefined, undefined, undefined])
  })
})
