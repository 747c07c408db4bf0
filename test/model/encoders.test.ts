/**
 * The proof that encoders and their tokenizers are converted to the same model: tiny ones with random weights, against
 * transformers and Hugging Face's tokenizers (`tools/checkpoints/encoders.py`).
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findCheckpointFiles } from '../../src/checkpoints/checkpoint-files.ts'
import { convertCheckpoint } from '../../src/checkpoints/conversion/convert.ts'
import type { FloatType } from '../../src/checkpoints/gguf/float-conversion.ts'
import { embeddingInfo } from '../../src/checkpoints/gguf/embedding-model.ts'
import { openGgufModel } from '../../src/checkpoints/gguf/gguf-file.ts'
import { openEmbeddingRunner } from '../../src/engines/llamacpp/embeddings/embedding-runner.ts'
import type { EmbeddingRunner } from '../../src/protocol/embedding-runner.ts'
import { dot } from '../support/checkpoints/tiny-bert.ts'
import { type EncoderCase, readEncoders, writeEncoder } from '../support/checkpoints/reference-encoders.ts'

const encoders = await readEncoders()
const embedders = encoders.filter(({ pooling }) => pooling !== null)
const rerankers = encoders.filter(({ pooling }) => pooling === null)

/** llama.cpp computes GELU and attention in half precision. */
const SCORE_TOLERANCE = 0.02

let folder: string

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluice-encoders-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

async function open(encoder: EncoderCase, dtype: FloatType = 'F32'): Promise<EmbeddingRunner> {
  const checkpoint = await writeEncoder(await mkdtemp(join(folder, 'encoder-')), encoder, dtype)
  const source = await findCheckpointFiles({ checkpoint, modelConfig: null, tokenizer: null })
  if (source.kind !== 'hugging-face') throw new Error('not a checkpoint')
  const modelPath = join(checkpoint, 'model.gguf')
  await convertCheckpoint({ source, tensorType: 'source', outputPath: modelPath })
  const embedding = embeddingInfo(await openGgufModel(modelPath))
  if (embedding === null) throw new Error('no encoder')
  return openEmbeddingRunner(
    {
      ...{ modelId: 'test', modelPath, embedding, gpu: 'off', gpuLayers: null, threads: 1 },
      ...{ maxSeqLen: null, maxBatchSize: 1, kvCacheType: 'f16', numDraftTokens: 0 },
    },
    () => {},
  )
}

describe.each(embedders)('$name', (encoder) => {
  it.each(['F32', 'F16'] as const)('has the tokens and the vectors of transformers in %s', async (dtype) => {
    const runner = await open(encoder, dtype)

    const tokens = encoder.rows.map(({ text }) => runner.tokenize({ pieces: [text], addSpecial: true }))

    for (const [index, { text, ids, values }] of encoder.rows.entries()) {
      expect(Array.from(tokens[index] ?? []), text).toEqual(ids)
      const [vector] = runner.execute([Int32Array.from(ids)])
      expect(dot(vector ?? [], values), text).toBeGreaterThan(0.9999)
    }
    runner.close()
  })
})

describe.each(rerankers)('$name', (encoder) => {
  it.each(['F32', 'F16'] as const)('has the scores of transformers in %s', async (dtype) => {
    const runner = await open(encoder, dtype)
    const { embedding, vocabSize } = runner.info()
    const tokensOfModel = Number(encoder.config['vocab_size'])

    let largestWithoutSegments = 0
    for (const { query, text, ids, values } of encoder.rows) {
      const pieces = [query ?? '', embedding?.pair?.between ?? '', text]
      const tokens = runner.tokenize({ pieces, addSpecial: true })
      expect(
        Array.from(tokens, (id) => id % tokensOfModel),
        text,
      ).toEqual(ids)
      const [expected = 0] = values
      const differenceOf = (tokenIds: Int32Array) =>
        Math.abs((runner.execute([tokenIds])[0]?.[0] ?? Number.NaN) - expected)
      expect(differenceOf(tokens), text).toBeLessThan(SCORE_TOLERANCE)
      largestWithoutSegments = Math.max(largestWithoutSegments, differenceOf(Int32Array.from(ids)))
    }
    const hasSegments = encoder.config['type_vocab_size'] === 2
    expect(vocabSize).toBe(tokensOfModel * (hasSegments ? 2 : 1))
    // So that a test without them would fail.
    expect(largestWithoutSegments > 4 * SCORE_TOLERANCE).toBe(hasSegments)
    runner.close()
  })
})
