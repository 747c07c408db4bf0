import type { Speculation } from '../core/choices/speculation.ts'
import type { EmbeddingInfo } from './model-info.ts'

/** Options for opening a model in an engine; plain data, because they are sent to the engine process. */
export interface RunnerOptions {
  readonly modelId: string
  /** A GGUF file (the first one of a split). */
  readonly modelPath: string
  /** Slots: sequences that run at once. */
  readonly maxBatchSize: number
  /** Tokens a sequence may reach; null takes the model's own, at most `kvCacheTokens`, or 4096 without them. */
  readonly maxSeqLen: number | null
  /** Tokens of the KV cache, of all slots together. @default 4096 for each slot, or one whole sequence where that is more */
  readonly kvCacheTokens?: number | null
  /** Threads that compute; null takes the machine's cores. */
  readonly threads: number | null
  readonly gpu: 'auto' | 'off'
  /** Layers to put on the GPU, as far as they fit;null puts as many as fit. */
  readonly gpuLayers: number | null
  /** What the model may take of a device's memory, by its name. @default what is free */
  readonly deviceBudgets?: Readonly<Record<string, number>>
  /** f32 is for comparing with references. */
  readonly kvCacheType: 'f16' | 'q8_0' | 'f32'
  /** Host memory for the KV cache of sequences whose slot went to another. @default 0, which keeps none */
  readonly prefixCacheBytes?: number
  /** Where copies of it outlive the process. @default nowhere */
  readonly prefixCacheStore?: PrefixCacheStore
  /** Whether guesses of the next tokens may be computed with the last one. @default 'ngram' */
  readonly speculation?: Speculation
  /** A smaller model of the same vocabulary that guesses too. @default none */
  readonly draft?: DraftModelOptions | null
  /** What its header says of an embedding model, for a runner of that kind. @default a model that generates text */
  readonly embedding?: EmbeddingInfo
  /** What takes the place of the file's own metadata, by key. @default none */
  readonly metadataOverrides?: readonly MetadataOverride[]
}

interface PrefixCacheStore {
  readonly folder: string
  /** Of all replicas of the model together. */
  readonly maxBytes: number
  /** How long nothing must have run before something is written. @default 5 s */
  readonly restMs?: number
}

export interface DraftModelOptions {
  /** How it is called where the model is described. */
  readonly name: string
  /** A GGUF file (the first one of a split). */
  readonly modelPath: string
  readonly metadataOverrides?: readonly MetadataOverride[]
}

export type MetadataOverride = { readonly key: string } & (
  | { readonly type: 'int' | 'float'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
)

/** Called while a model loads, with 0 to 1. */
export type LoadProgress = (fraction: number) => void
