/**
 * The proof that a converted checkpoint is the same model: a trained small Llama in half precision and the demo model in 8 bits,
 * converted here, against what PyTorch made of them (`test/model/reference/`, written by `tools/demo-model/evaluation/reference.py`).
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openLlamaRunner } from '../../src/engines/llamacpp/open-runner.ts'
import { ChatTemplate } from '../../src/models/chat/chat-template.ts'
import type { ChatMessage } from '../../src/protocol/chat.ts'
import type { ModelRunner } from '../../src/protocol/model-runner.ts'
import { convertCheckpoint } from '../../src/checkpoints/conversion/convert.ts'
import type { TensorType } from '../../src/checkpoints/conversion/conversion-plan.ts'
import { findCheckpointFiles } from '../../src/checkpoints/checkpoint-files.ts'
import { continueGreedily } from '../support/engines/model-run.ts'
import { lengthOf } from '../support/length-of.ts'

interface GreedyCase {
  readonly kind: 'text' | 'chat' | 'rendered'
  readonly text?: string
  readonly messages?: readonly ChatMessage[]
  readonly prompt_token_ids: readonly number[]
  readonly token_ids: readonly number[]
  readonly gaps: readonly number[]
}

interface TokenizationCase {
  readonly text: string
  readonly ids: readonly number[]
}

/** Half-precision weights and KV cache move a logit by less than this; a closer race may end either way. */
const SERVED_MARGIN = 0.1

/** Of the reference's prompts one in so many, of each kind some. */
const EVERY = lengthOf({ test: 12, soak: 1 })

const root = path.resolve(import.meta.dirname, '../..')
let folder: string

interface Model {
  readonly checkpoint: string
  /** Of its reference. */
  readonly folder: string
  /** The first prompt that it is asked to continue. */
  readonly first: number
}

async function readReference<Case>(
  model: Model,
  name: string,
): Promise<{ cases: readonly Case[]; steps: number }> {
  return JSON.parse(await readFile(path.join(root, 'test/model/reference', model.folder, name), 'utf8'))
}

/** By name of its file: two tests of a model read the same. */
const converted = new Map<string, Promise<string>>()

/** Resolves with the path of the converted file. */
function convert(model: Model, tensorType: TensorType): Promise<string> {
  const name = `${model.folder}-${tensorType}.gguf`
  const modelPath = converted.get(name) ?? convertTo(path.join(folder, name), model, tensorType)
  converted.set(name, modelPath)
  return modelPath
}

async function convertTo(modelPath: string, { checkpoint }: Model, tensorType: TensorType): Promise<string> {
  const files = { checkpoint: path.join(root, checkpoint), modelConfig: null, tokenizer: null }
  const source = await findCheckpointFiles(files)
  if (source.kind !== 'hugging-face') throw new Error(`${checkpoint} is a safetensors checkpoint`)
  await convertCheckpoint({ source, tensorType, outputPath: modelPath })
  return modelPath
}

async function open(model: Model, tensorType: TensorType, kvCacheType: 'f16' | 'f32'): Promise<ModelRunner> {
  return openLlamaRunner(
    {
      modelId: 'model',
      modelPath: await convert(model, tensorType),
      maxBatchSize: 1,
      maxSeqLen: null,
      threads: 1,
      gpu: 'off',
      gpuLayers: null,
      kvCacheType,
    },
    () => {},
  )
}

const someOf = <Case>({ first }: Model, cases: readonly Case[]): readonly Case[] =>
  cases.filter((_, index) => index % EVERY === first)

function promptOf(runner: ModelRunner, { kind, text = '', messages = [] }: GreedyCase): number[] {
  const prompt =
    kind === 'chat'
      ? new ChatTemplate({ modelId: 'model', toolFormat: 'auto', ...runner.info() }).render({
          messages,
        })
      : { pieces: [text], addSpecial: kind === 'text' }
  return [...runner.tokenize(prompt)]
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'sluice-test-'))
})

afterAll(() => rm(folder, { recursive: true, force: true }))

describe.each([
  ['the small Llama', { checkpoint: 'test/data/small-llama', folder: 'small-llama', first: 0 }],
  // Without the longest prompts, which are as much work as the others together: the small Llama has them.
  ['the demo model', { checkpoint: 'models/demo', folder: 'demo', first: lengthOf({ test: 6, soak: 0 }) }],
])('%s, converted', (_, model) => {
  it('continues every prompt as PyTorch does, token for token, with weights and KV cache in F32', async () => {
    const { cases, steps } = await readReference<GreedyCase>(model, 'greedy.json')
    expect(cases.length).toBeGreaterThanOrEqual(50)
    const runner = await open(model, 'f32', 'f32')
    for (const reference of someOf(model, cases)) {
      const promptTokenIds = promptOf(runner, reference)
      expect(promptTokenIds).toEqual(reference.prompt_token_ids)
      expect(continueGreedily(runner, Int32Array.from(promptTokenIds), steps)).toEqual(reference.token_ids)
    }
    runner.close()
  })

  it('does so as served, wherever the reference is sure of its token', async () => {
    const { cases: all, steps } = await readReference<GreedyCase>(model, 'greedy.json')
    const cases = someOf(model, all)
    const runner = await open(model, 'source', 'f16')
    let compared = 0
    for (const { prompt_token_ids, token_ids, gaps } of cases) {
      const made = continueGreedily(runner, Int32Array.from(prompt_token_ids), steps)
      const difference = token_ids.findIndex((tokenId, step) => tokenId !== made[step])
      compared += difference === -1 ? token_ids.length : difference
      // From a different token on the texts are different ones.
      if (difference !== -1) expect(gaps[difference]).toBeLessThan(SERVED_MARGIN)
    }
    expect(compared).toBeGreaterThan(cases.length * 10)
    runner.close()
  })

  it('tokenizes a thousand strings as the reference does', async () => {
    const { cases } = await readReference<TokenizationCase>(model, 'tokenization.json')
    expect(cases.length).toBeGreaterThanOrEqual(1000)
    const runner = await open(model, 'source', 'f16')
    const { specialTexts } = runner.info()
    // The reference reads all text as plain; here a prompt's own special tokens are recognised. No prompt is empty.
    const plain = cases.filter(
      ({ text }) => text !== '' && !specialTexts.some((special) => text.includes(special)),
    )
    expect(plain.length).toBeGreaterThanOrEqual(1000)
    for (const { text, ids } of plain) {
      const made = runner.tokenize({ pieces: [text], addSpecial: false })
      expect([text, ...made]).toEqual([text, ...ids])
    }
    runner.close()
  })
})
