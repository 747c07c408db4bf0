/** What is known of a checkpoint before it is loaded: its size, what it needs, whether that is there. */
import type { Placement } from './compute-device.ts'
import type { LocalModelSource } from './model-source.ts'

export interface CheckpointReport {
  readonly architecture: string
  readonly parameters: number
  /** Of the checkpoint as it is, as in `ModelOutline`. */
  readonly quantization: string
  /** Of the weights as they would be served; quantized ones are estimated, on the high side. */
  readonly sizeBytes: number
  /** What is not on this machine yet. */
  readonly downloadBytes: number
  /** Tokens that a sequence may reach. */
  readonly maxSeqLen: number
  /** Of one replica. */
  readonly kvCacheBytes: number
  /** Tokens that it holds, of one replica; null for an embedding model, which keeps none. */
  readonly kvCacheTokens: number | null
  /** The same with how sequences share it, as a text; null for an embedding model. */
  readonly kvCache: string | null
  /** Of the machine's own memory, for all replicas while they are loaded. */
  readonly neededBytes: number
  /** Beside the models that serve. */
  readonly availableBytes: number
  /** What a replica would put on the GPUs, and what they have free before; null where none may be used or is there. */
  readonly placement: Placement | null
  /** One sentence with the numbers where it does not fit; null where it does. */
  readonly problem: string | null
}

export type CheckedSource = Pick<
  LocalModelSource,
  'checkpoint' | 'modelConfig' | 'tokenizer' | 'quantization' | 'draftCheckpoint'
>

/** `servingBytes` are the weights of the models that serve or load. @throws StartError where it cannot be served. */
export type CheckCheckpoint = (source: CheckedSource, servingBytes: number) => Promise<CheckpointReport>
