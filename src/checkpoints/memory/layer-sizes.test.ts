import { describe, expect, it } from 'vitest'
import { gguf } from '../gguf/gguf-format.ts'
import { layerSizes, scaleLayers } from './layer-sizes.ts'

const tensor = (name: string, sizeBytes: number) => ({
  ...{ name, sizeBytes, shape: [1], type: 'F32' as const, offsetBytes: 0 },
})

const metadata = new Map([
  ['llama.block_count', gguf.uint32(2)],
  ['llama.embedding_length', gguf.uint32(10)],
  ['llama.feed_forward_length', gguf.uint32(30)],
])

const TENSORS = [
  tensor('token_embd.weight', 1000),
  tensor('blk.0.attn_q.weight', 10),
  tensor('blk.0.ffn_up.weight', 30),
  tensor('blk.1.attn_q.weight', 11),
  tensor('output_norm.weight', 5),
]

describe('layerSizes', () => {
  it('sums what belongs to a layer, the output last, and leaves out what is in front', () => {
    const tensors = [...TENSORS, tensor('output.weight', 900)]
    expect(layerSizes({ architecture: 'llama', metadata, tensors })).toEqual({
      ...{ weightBytes: [40, 11, 905], tiedBytes: 0, allBytes: 1956, largestBytes: 30 },
      stepTokenBytes: 4 * (8 * 10 + 3 * 30),
    })
  })

  it('counts the matrix of the input once more where it is that of the output', () => {
    const layers = layerSizes({ architecture: 'llama', metadata, tensors: TENSORS })
    expect(layers).toMatchObject({ weightBytes: [40, 11, 1005], tiedBytes: 1000, allBytes: 1056 })
  })

  it('counts no matrix twice of an encoder, which has no output', () => {
    const tensors = TENSORS.slice(0, -1)
    const layers = layerSizes({ architecture: 'llama', metadata, tensors })
    expect(layers).toMatchObject({ weightBytes: [40, 11, 0], tiedBytes: 0 })
  })

  it('has no room for a layer whose number is beyond the last, however large it is', () => {
    const tensors = [...TENSORS, tensor('blk.4000000000.attn_q.weight', 7)]
    const layers = layerSizes({ architecture: 'llama', metadata, tensors })
    expect(layers).toMatchObject({ weightBytes: [40, 11, 1005], allBytes: 1063 })
  })

  it('has layers of other sizes after a quantization', () => {
    const layers = layerSizes({ architecture: 'llama', metadata, tensors: TENSORS })
    expect(scaleLayers(layers, 528)).toMatchObject({
      weightBytes: [20, 6, 503],
      tiedBytes: 500,
      allBytes: 528,
    })
  })
})
