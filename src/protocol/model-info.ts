/** What is known of a model: by its headers, and once its engine serves it. */
import type { Placement } from './compute-device.ts'

/** How one vector is made of those of a text's tokens; `rank` gives a score of relevance in its place. */
export type Pooling = 'mean' | 'cls' | 'last' | 'rank'

/** How a reranking model reads a query and a document: the texts around them, which hold its special tokens. */
export interface RankedPair {
  readonly before: string
  readonly between: string
  readonly after: string
  /** As `Prompt.addSpecial`; false where they are a template of the model's own. */
  readonly addSpecial: boolean
  /** Whether the model gives a probability, and not its logit. @default false */
  readonly isProbability?: boolean
}

/** What an embedding model computes. */
export interface EmbeddingInfo {
  readonly pooling: Pooling
  /** Numbers of a vector. */
  readonly dimensions: number
  /** To which lengths a vector may be cut (Matryoshka); empty where it must stay whole. */
  readonly shorterDimensions: readonly number[] | 'any'
  /** Set once a model with the pooling `rank` serves. */
  readonly pair?: RankedPair
}

/** A model that guesses the tokens of another. */
export interface DraftInfo {
  readonly name: string
  readonly parameters: number
  readonly sizeBytes: number
}

/** What is known of a model once its engine serves it. */
export interface ModelInfo {
  /** `unknown`, as the quantization, where an upstream does not say. */
  readonly architecture: string
  /** NaN, as the size, where an upstream does not say. */
  readonly parameters: number
  readonly sizeBytes: number
  /** As the engine names it: `F16`, `Q4_0`, `none`. */
  readonly quantization: string
  /** Tokens a sequence may reach; null when the model has no limit of its own. */
  readonly maxSeqLen: number | null
  /** Infinity where an upstream does not say; it refuses unknown token ids itself. */
  readonly vocabSize: number
  /** `llama.cpp`, `passthrough`, `openai`. */
  readonly engine: string
  /** Sequences that run at once. */
  readonly maxBatchSize: number
  /** Tokens that its KV cache has room for, in all slots; absent where it has none of its own. */
  readonly kvCacheTokens?: number
  /** Whether all slots share them; otherwise each has room for a sequence of its own. @default false */
  readonly sharesKvCache?: boolean
  /** The model that drafts for it; absent where there is none. */
  readonly draft?: DraftInfo
  /** Most beams a search may have; absent where the model has no beam search. */
  readonly maxBeams?: number
  /** Set for a model that makes vectors of texts, and generates none. */
  readonly embedding?: EmbeddingInfo
  /** Whether a chat is sent as it is, in `EngineRequest.chat`, and its answer comes read. @default false */
  readonly takesChats?: boolean
  /** Whether its texts can be constrained. @default false */
  readonly canConstrain?: boolean
  /** Jinja source from the model itself. */
  readonly chatTemplate: string | null
  /** That for chats with tools; absent where it has none of its own for them. */
  readonly toolTemplate?: string
  readonly bosText: string
  readonly eosText: string
  /** Texts that `Prompt.pieces` would turn into control tokens; a chat's user text must not form one. */
  readonly specialTexts: readonly string[]
  /** Longest text that a single token can stand for, in bytes; absent where the length of a text proves nothing. */
  readonly maxTokenBytes?: number
  /** For the start-up line; null where it does not apply. */
  readonly threads: number | null
  /** Weights and KV cache at the start; the first beam search adds a cache of its own. Null where it does not apply. */
  readonly memoryBytes: number | null
  /** How it is divided between the machine's memory and its GPUs; absent where none may be used or is there. */
  readonly placement?: Placement
}

/** What the headers of a model's files say before it is loaded. */
export type ModelOutline = Pick<
  ModelInfo,
  | 'architecture'
  | 'parameters'
  | 'sizeBytes'
  | 'quantization'
  | 'maxSeqLen'
  | 'vocabSize'
  | 'engine'
  | 'embedding'
>
