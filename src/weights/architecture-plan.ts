/**
 * What converting a checkpoint of some architecture comes to: metadata, and every tensor of the GGUF file with the
 * place its data comes from. Plain data: made by an architecture, carried out by `convert.ts`.
 */
import type { GgufValue } from './gguf-format.ts'

/** How a tensor's data gets from the checkpoint into the GGUF file. */
export type TensorOrigin =
  /** As it is. */
  | { readonly kind: 'copy'; readonly name: string }
  /** Rows reordered within each head: see `head-rows.ts`. */
  | { readonly kind: 'interleave-heads'; readonly name: string; readonly headRows: number }
  /** Not in the checkpoint. */
  | { readonly kind: 'computed'; readonly values: Float32Array }

export interface TensorPlan {
  /** Its name in GGUF. */
  readonly name: string
  /** PyTorch's order: rows before columns. */
  readonly shape: readonly number[]
  readonly origin: TensorOrigin
}

export interface ArchitecturePlan {
  readonly ggufName: string
  readonly vocabSize: number
  readonly metadata: readonly (readonly [string, GgufValue])[]
  readonly tensors: readonly TensorPlan[]
  /** Tensors some checkpoints carry although they follow from others. */
  readonly isRedundant: (name: string) => boolean
}
