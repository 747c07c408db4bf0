/**
 * A model with two sets of rotary factors computes a text in the same way in a slot of its own, in a cache that all slots
 * share and in a beam: with the short ones, where no text may grow longer than its original context.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { convertCheckpoint } from '../../../src/checkpoints/conversion/convert.ts'
import { findCheckpointFiles } from '../../../src/checkpoints/checkpoint-files.ts'
import { openLlamaRunner } from '../../../src/engines/llamacpp/open-runner.ts'
import type { RunnerOptions } from '../../../src/protocol/runner-options.ts'
import { GREEDY } from '../../../src/scheduler/sequence.ts'
import { searchWithBeams } from '../../support/engines/beam-run.ts'
import {
  type LogitsCase,
  readReference,
  type TokenizerCase,
  writeReference,
} from '../../support/checkpoints/reference-checkpoints.ts'

const TOLERANCE = 1e-4
const ORIGINAL_CONTEXT = 'phi3.rope.scaling.original_context_length'

const references = await readReference<LogitsCase>('logits')
const tokenizers = await readReference<TokenizerCase>('tokenizers')
/** Of models with an original context of 256 tokens. */
const SHORT = findReference('phi3, short factors')
const LONG = findReference('phi3, long factors for a short text of a long context')

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-rope-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

function findReference(wanted: string): LogitsCase {
  const found = references.find(({ name }) => name === wanted)
  if (found === undefined) throw new Error(`no reference of ${wanted}`)
  return found
}

async function open(reference: LogitsCase, options: Partial<RunnerOptions>) {
  const tokenizer = tokenizers.find(({ name }) => name === reference.tokenizer)
  if (tokenizer === undefined) throw new Error(`no tokenizer ${reference.tokenizer}`)
  const checkpoint = await writeReference(await mkdtemp(join(folder, 'checkpoint-')), {
    reference,
    tokenizer,
  })
  const source = await findCheckpointFiles({ checkpoint, modelConfig: null, tokenizer: null })
  if (source.kind !== 'hugging-face') throw new Error('not a checkpoint')
  const modelPath = join(checkpoint, 'model.gguf')
  await convertCheckpoint({ source, tensorType: 'f32', outputPath: modelPath })
  const device = { gpu: 'off', gpuLayers: null, kvCacheType: 'f32' } as const
  const sizes = { maxBatchSize: 4, maxSeqLen: reference.context, threads: 1 }
  return openLlamaRunner({ modelId: 'tiny', modelPath, ...sizes, ...device, ...options }, () => {})
}

/** Log probabilities of the likeliest tokens behind the prompt, by PyTorch. */
function expectedTop({ logits }: LogitsCase, count: number): [tokenId: number, logprob: number][] {
  const { values = [] } = logits.at(-1) ?? {}
  const largest = Math.max(...values)
  const logSum = Math.log(values.reduce((sum, value) => sum + Math.exp(value - largest), 0))
  const all = values.map((value, tokenId): [number, number] => [tokenId, value - largest - logSum])
  return all.sort(([, a], [, b]) => b - a).slice(0, count)
}

async function firstLogprobs(reference: LogitsCase, options: Partial<RunnerOptions>) {
  const runner = await open(reference, options)
  const promptTokenIds = Int32Array.from(reference.prompt)
  const start = { slotId: 0, promptTokenIds, sampling: GREEDY, cachedTokens: 0, copyFromSlotId: null }
  const { logprobs = [] } = runner.execute({
    starts: [{ ...start, topLogprobs: 5 }],
    runs: [{ slotId: 0, position: 0, tokenIds: promptTokenIds, wantsToken: true }],
  })
  runner.close()
  return logprobs[0]?.[0]?.top.map(({ tokenId, logprob }): [number, number] => [tokenId, logprob]) ?? []
}

async function firstScore(reference: LogitsCase, options: Partial<RunnerOptions>, numBeams: number) {
  const runner = await open(reference, options)
  const promptTokenIds = Int32Array.from(reference.prompt)
  const { tokenIds, normalizedScore } = await searchWithBeams(runner, {
    ...{ promptTokenIds, numBeams, maxNewTokens: 1 },
  })
  runner.close()
  return [tokenIds[0] ?? -1, normalizedScore]
}

describe.each([
  ['the short factors in a context that is not longer', SHORT, {}],
  ['the long factors in a longer context', LONG, {}],
  [
    'the short factors of an original context that the operator has raised',
    { ...SHORT, context: 512 },
    { metadataOverrides: [{ key: ORIGINAL_CONTEXT, type: 'int', value: 512 }] as const },
  ],
])('a model has %s', (_, reference, options) => {
  it.each([
    ['slots of their own', {}],
    ['a shared cache', { kvCacheTokens: 2 * reference.context }],
  ])('in %s', async (_kind, cache) => {
    const made = await firstLogprobs(reference, { ...options, ...cache })
    const expected = expectedTop(reference, 5)
    expect(made.map(([tokenId]) => tokenId)).toEqual(expected.map(([tokenId]) => tokenId))
    for (const [rank, [, logprob]] of made.entries()) {
      expect(Math.abs(logprob - (expected[rank]?.[1] ?? NaN))).toBeLessThan(TOLERANCE)
    }
  })

  it.each([1, 4])('in a search of %d beams', async (numBeams) => {
    const [tokenId, score = NaN] = await firstScore(reference, options, numBeams)
    const [[likeliest, logprob] = [-1, NaN]] = expectedTop(reference, 1)
    expect(tokenId).toBe(likeliest)
    expect(Math.abs(score - logprob)).toBeLessThan(TOLERANCE)
  })
})
