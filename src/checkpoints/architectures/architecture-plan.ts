/**
 * What converting a checkpoint of some architecture comes to: metadata, and every tensor of the GGUF file with the
 * place its data comes from. Plain data: made by an architecture, carried out by `convert.ts`.
 */
import type { GgufValue } from '../gguf/gguf-format.ts'

/** How a tensor's data gets from the checkpoint into the GGUF file. */
export type TensorOrigin =
  /** As it is. */
  | { readonly kind: 'copy'; readonly name: string }
  /** Rows reordered within each head: see `head-rows.ts`. */
  | { readonly kind: 'interleave-heads'; readonly name: string; readonly headRows: number }
  /** One added to every number: Gemma stores what its norms multiply by as the difference from one. Vectors only. */
  | { readonly kind: 'add-one'; readonly name: string }
  /** Not in the checkpoint. */
  | { readonly kind: 'computed'; readonly values: Float32Array }

export interface TensorPlan {
  /** Its name in GGUF. */
  readonly name: string
  /** PyTorch's order: rows before columns. */
  readonly shape: readonly number[]
  readonly origin: TensorOrigin
}

export type MetadataEntry = readonly [key: string, value: GgufValue]

export interface ArchitecturePlan {
  readonly ggufName: string
  readonly vocabSize: number
  readonly metadata: readonly MetadataEntry[]
  readonly tensors: readonly TensorPlan[]
  /** Tensors some checkpoints carry although they follow from others. */
  readonly isRedundant: (name: string) => boolean
}
