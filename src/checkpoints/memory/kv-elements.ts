/** How much KV cache a token of a sequence takes, from the header of a model's file. Arithmetic only. */

/** A number of a header, or those of all layers, by its key without the architecture; null where the header has none. */
type HeaderReader = (name: string) => number | readonly number[] | null

/**
 * Elements of KV cache for each token of a sequence, in all layers; 0 where the header does not say. A hybrid model has layers
 * without attention, and so without a KV cache: they have 0 heads.
 */
export function kvElementsPerToken(read: HeaderReader): number {
  const first = (name: string) => [read(name)].flat()[0] ?? null
  // llama.cpp computes no layers that are there to draft.
  const layers = (first('block_count') ?? 0) - (first('nextn_predict_layers') ?? 0)
  const heads = first('attention.head_count') ?? 0
  const headSize = heads === 0 ? 0 : (first('embedding_length') ?? 0) / heads
  const keySize = first('attention.key_length') ?? headSize
  const valueSize = first('attention.value_length') ?? headSize
  const kvHeads = read('attention.head_count_kv') ?? read('attention.head_count') ?? 0
  return sumOfLayers(kvHeads, layers) * (keySize + valueSize)
}

function sumOfLayers(heads: number | readonly number[], layers: number): number {
  if (typeof heads === 'number') return layers * heads
  return heads.slice(0, layers).reduce((sum, ofLayer) => sum + ofLayer, 0)
}
