/** Qwen3-Reranker as llama.cpp's converter writes it: a decoder that judges whether a document answers a query, `yes` or `no`. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { embeddingInfo } from '../../../src/checkpoints/gguf/embedding-model.ts'
import { openGgufModel } from '../../../src/checkpoints/gguf/gguf-file.ts'
import { openEmbeddingRunner } from '../../../src/engines/llamacpp/embeddings/embedding-runner.ts'
import { PooledContext } from '../../../src/engines/llamacpp/embeddings/pooled-context.ts'
import { loadLlama } from '../../../src/engines/llamacpp/ffi/bindings.ts'
import { checkGguf } from '../../../src/engines/llamacpp/gguf-check.ts'
import { openModel } from '../../../src/engines/llamacpp/model.ts'
import type { EmbeddingRunner } from '../../../src/protocol/embedding-runner.ts'
import { writeTinyModel } from '../../support/engines/llamacpp-tiny-model.ts'

const TEMPLATE = '<|user|><Query>: {query}\n<Document>: {document}</s>'
const TEXTS = [
  [1, 2, 3],
  [4, 5, 6, 7],
  [9, 3],
].map((ids) => Int32Array.from(ids))
/** Numbers of a token's state. */
const STATE = 64

const folder = mkdtempSync(path.join(tmpdir(), 'sluice-reranker-'))
afterAll(() => rmSync(folder, { recursive: true }))

function write(labels: readonly string[]): string {
  const modelPath = path.join(folder, `${labels.join('-')}.gguf`)
  writeTinyModel(modelPath, { architecture: 'qwen3', ranks: { labels, template: TEMPLATE } })
  return modelPath
}

async function open(modelPath: string): Promise<EmbeddingRunner> {
  const embedding = embeddingInfo(await openGgufModel(modelPath))
  if (embedding === null) throw new Error('no reranking model')
  return openEmbeddingRunner(
    {
      ...{ modelId: 'test', modelPath, embedding, gpu: 'off', gpuLayers: null, threads: 1 },
      ...{ maxSeqLen: null, maxBatchSize: 1, kvCacheType: 'f16', numDraftTokens: 0 },
    },
    () => {},
  )
}

/** The state of each text's last token, from which the classes are computed. */
function statesOf(modelPath: string): readonly (readonly number[])[] {
  const api = loadLlama('off')
  const model = openModel(api, { modelPath, ...checkGguf(api, modelPath) }, () => {})
  const room = { maxSeqLen: 512, maxTexts: 64, maxThreads: 1, usesGpu: false }
  const context = new PooledContext(api, model, { ...room, pooling: 'last', dimensions: STATE })
  const states = context.compute(TEXTS, 1).map((state) => Array.from(state))
  context.close()
  model.close()
  return states
}

/** The weights of the classes are the last of the file. */
function classesOf(modelPath: string): readonly Float32Array[] {
  const bytes = readFileSync(modelPath)
  return [2, 1].map((fromEnd) => {
    const start = bytes.length - fromEnd * STATE * Float32Array.BYTES_PER_ELEMENT
    return new Float32Array(Uint8Array.from(bytes.subarray(start)).buffer, 0, STATE)
  })
}

describe('a model that sorts pairs into yes and no', () => {
  it('gives how probable a yes is', async () => {
    const modelPath = write(['yes', 'no'])
    const runner = await open(modelPath)

    const probabilities = runner.execute(TEXTS).map(([yes]) => yes)

    const [yes, no] = classesOf(modelPath)
    const logit = (weights: Float32Array | undefined, state: readonly number[]) =>
      state.reduce((sum, value, at) => sum + value * (weights?.[at] ?? Number.NaN), 0)
    const expected = statesOf(modelPath).map(
      (state) => 1 / (1 + Math.exp(logit(no, state) - logit(yes, state))),
    )
    expect(probabilities).toEqual(expected.map((probability) => expect.closeTo(probability, 3)))
    const { pair } = runner.info().embedding ?? {}
    expect(pair).toEqual({
      ...{ before: '<|user|><Query>: ', between: '\n<Document>: ', after: '</s>' },
      ...{ addSpecial: false, isProbability: true },
    })
    runner.close()
  })

  it.each([[['no', 'yes']], [['score']], [['yes', 'no', 'maybe']]])(
    'is refused with the classes %j, of which llama.cpp makes probabilities too',
    async (labels) => {
      const why = 'reranking models of its architecture have the classes "yes" and "no"'
      await expect(open(write(labels))).rejects.toThrow(why)
    },
  )
})
