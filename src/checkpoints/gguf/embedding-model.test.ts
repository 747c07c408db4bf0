import { describe, expect, it } from 'vitest'
import { embeddingInfo, SHORTER_DIMENSIONS_KEY } from './embedding-model.ts'
import { gguf, type GgufValue } from './gguf-format.ts'

const read = (architecture: string, entries: readonly (readonly [string, GgufValue])[] = []) =>
  embeddingInfo({
    architecture,
    metadata: new Map([[`${architecture}.embedding_length`, gguf.uint32(32)], ...entries]),
  })

describe('a GGUF header', () => {
  it.each([
    ['bert', [], 'mean'],
    ['bert', [['bert.pooling_type', gguf.uint32(0)]], 'mean'],
    ['nomic-bert', [['nomic-bert.pooling_type', gguf.uint32(2)]], 'cls'],
    ['qwen3', [['qwen3.pooling_type', gguf.uint32(3)]], 'last'],
  ] as const)('of %s is one of embeddings: %j', (architecture, entries, pooling) => {
    expect(read(architecture, entries)).toEqual({ pooling, dimensions: 32, shorterDimensions: [] })
  })

  it.each([
    ['llama', []],
    ['qwen3', [['qwen3.pooling_type', gguf.uint32(0)]]],
  ] as const)(
    'of %s that names no pooling is one of a model that generates text',
    (architecture, entries) => {
      expect(read(architecture, entries)).toBeNull()
    },
  )

  it('of a reranking model says how many labels it has', () => {
    const rank = ['bert.pooling_type', gguf.uint32(4)] as const
    const labels = ['bert.classifier.output_labels', gguf.strings(['a', 'b'])] as const

    expect(read('bert', [rank])).toMatchObject({ pooling: 'rank', dimensions: 1 })
    expect(read('bert', [rank, labels])).toMatchObject({ dimensions: 2 })
  })

  it('says to which lengths its vectors may be cut', () => {
    const cut = (value: string) => read('bert', [[SHORTER_DIMENSIONS_KEY, gguf.string(value)]])

    expect(cut('any')).toMatchObject({ shorterDimensions: 'any' })
    expect(cut('8,16')).toMatchObject({ shorterDimensions: [8, 16] })
  })
})
