/**
 * The plan of converting a checkpoint of some architecture: metadata, and every tensor of the GGUF file with the origin of
 * its data. Plain data, made by an architecture and carried out by `convert.ts`.
 */
import type { GgufValue } from '../gguf/gguf-format.ts'

/** What is done to a tensor's numbers, besides converting their type. */
export type TensorChange =
  | { readonly kind: 'copy' }
  /** Rows are reordered within each head: see `convert.ts`. */
  | { readonly kind: 'interleave-heads'; readonly headRows: number }
  /** One is added to every number: Gemma stores its norm weights as the difference from one. Vectors only. */
  | { readonly kind: 'add-one' }
  /** The first rows are left out: RoBERTa has positions that no token of a text has. */
  | { readonly kind: 'skip-rows'; readonly rows: number }
  /**
   * Word embeddings twice: behind them once more for the second of two texts that are read together, with the difference of
   * the two rows in `types` added. llama.cpp adds the first row to every token.
   */
  | { readonly kind: 'both-segments'; readonly types: string }
  /** Each matrix of a stack with rows and columns exchanged, then of its rows those that are picked. */
  | { readonly kind: 'transpose'; readonly picks: RowPick }
  /** Of each row every other number. */
  | { readonly kind: 'pick-numbers'; readonly picks: Exclude<RowPick, 'all'> }

/** Where two matrices are one, row by row in turns: gpt-oss's gate (`even`) and up (`odd`). */
export type RowPick = 'all' | 'even' | 'odd'

/** Tensors of one shape behind each other: the experts of a layer. */
export interface StackedOrigin {
  readonly kind: 'stacked'
  readonly names: readonly string[]
  /** One tensor that newer releases have in their place: of each expert the part of its rows with this number. */
  readonly fused: { readonly name: string; readonly part: number; readonly parts: number }
}

/** Blocks of 32 numbers of 4 bits, and the scale of each: llama.cpp has them too, in another order. */
export interface Mxfp4Origin {
  readonly kind: 'mxfp4'
  readonly blocks: string
  readonly scales: string
  readonly picks: RowPick
}

export type TensorOrigin =
  | (TensorChange & { readonly name: string })
  | StackedOrigin
  | Mxfp4Origin
  /** Not in the checkpoint. */
  | { readonly kind: 'computed'; readonly values: Float32Array }

export interface TensorPlan {
  /** Its name in GGUF. */
  readonly name: string
  /** PyTorch's order: rows before columns. */
  readonly shape: readonly number[]
  readonly origin: TensorOrigin
  /** Whether it is F32 whatever the others are, as vectors are: llama.cpp adds its rows to numbers of F32. @default false */
  readonly isF32?: boolean
}

export type MetadataEntry = readonly [key: string, value: GgufValue]

export interface ArchitecturePlan {
  readonly ggufName: string
  readonly vocabSize: number
  readonly metadata: readonly MetadataEntry[]
  readonly tensors: readonly TensorPlan[]
  /** Whether it reads texts, and writes none. @default false */
  readonly isEncoder?: boolean
  /** Whether it gives scores, however sentence-transformers would pool. @default false */
  readonly isReranker?: boolean
  /** Of a model that takes images too: the name of a stored tensor in the plan; null for one that is left out. */
  readonly textName?: (stored: string) => string | null
  /** Whether a tensor follows from others, although some checkpoints carry it. */
  readonly isRedundant: (name: string) => boolean
}
