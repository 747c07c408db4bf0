/**
 * How large each layer of a model is, from the headers of its file: what decides how many fit on a GPU. Layers are those that
 * llama.cpp puts on one, the output counted as the last; what is in front of them stays in the machine's memory.
 */
import { type GgufModel, numberValue } from '../gguf/gguf-file.ts'

export interface LayerSizes {
  /** Weights of each layer, the output's last: as a GPU holds them. */
  readonly weightBytes: readonly number[]
  /** Of the output's, those that the machine's memory holds in any case, because the input is the same matrix. */
  readonly tiedBytes: number
  /** Weights of the model. */
  readonly allBytes: number
  /** The largest of the layers' tensors: a GPU computes long prompts for the layers that it does not hold, with a copy of each. */
  readonly largestBytes: number
  /** Intermediate results for each token of a step. */
  readonly stepTokenBytes: number
}

const LAYER = /^(?:enc\.|dec\.)?blk\.(\d+)\./
const OUTPUT = /^(?:output|cls|pooler|dense)/
/** Rows of a token that are there at the same time: its state, and what attention and the feed-forward network make of it. */
const STATE_ROWS = 8
const FEED_FORWARD_ROWS = 3
const FLOAT_BYTES = 4
const USUAL_FEED_FORWARD = 4

export function layerSizes({
  architecture,
  metadata,
  tensors,
}: Pick<GgufModel, 'architecture' | 'metadata' | 'tensors'>): LayerSizes {
  const read = (name: string) => numberValue(metadata, `${architecture}.${name}`)
  const repeating: number[] = Array.from({ length: read('block_count') ?? 0 }, () => 0)
  const sum = { output: 0, all: 0, largest: 0 }
  const names = new Map(tensors.map(({ name, sizeBytes }) => [name, sizeBytes]))
  for (const { name, sizeBytes } of tensors) {
    sum.all += sizeBytes
    const layer = Number(LAYER.exec(name)?.[1] ?? -1)
    // One beyond the last is damage, which the load refuses; its number may be any.
    if (layer >= repeating.length) continue
    if (layer >= 0) {
      repeating[layer] = (repeating[layer] ?? 0) + sizeBytes
      sum.largest = Math.max(sum.largest, sizeBytes)
    } else if (OUTPUT.test(name)) sum.output += sizeBytes
  }
  const isTied = names.has('output_norm.weight') && !names.has('output.weight')
  const tiedBytes = isTied ? (names.get('token_embd.weight') ?? 0) : 0
  const embedding = read('embedding_length') ?? 0
  const feedForward = read('feed_forward_length') ?? USUAL_FEED_FORWARD * embedding
  return {
    weightBytes: [...repeating, sum.output + tiedBytes],
    tiedBytes,
    allBytes: sum.all,
    largestBytes: sum.largest,
    stepTokenBytes: FLOAT_BYTES * (STATE_ROWS * embedding + FEED_FORWARD_ROWS * feedForward),
  }
}

/** Of the same model with weights of another size. */
export function scaleLayers(layers: LayerSizes, allBytes: number): LayerSizes {
  const scale = (bytes: number) => Math.ceil((bytes * allBytes) / Math.max(1, layers.allBytes))
  return {
    ...layers,
    weightBytes: layers.weightBytes.map(scale),
    tiedBytes: scale(layers.tiedBytes),
    largestBytes: scale(layers.largestBytes),
    allBytes,
  }
}
