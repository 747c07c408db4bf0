/**
 * What an engine gives for a request. For each of its sequences (distinguished by `index`):
 *
 *   sequence-start → text-delta* → sequence-end       exactly one end, always
 */
import type { ErrorCode } from '../core/errors.ts'

export type FinishReason = 'stop' | 'length' | 'content_filter' | 'error'

export interface SequenceStartEvent {
  readonly type: 'sequence-start'
  readonly index: number
  readonly promptTokens: number
  /** Prompt tokens found in the prefix cache. */
  readonly cachedTokens: number
  /** Those of them that were copied back from host memory. @default none */
  readonly restoredTokens?: number
  readonly queueMs: number
  /** Whether the tokens of the prompt are a guess, which an end of its sequences may correct. @default false */
  readonly isEstimate?: boolean
}

export interface TokenLogprob {
  readonly tokenId: number
  /** Natural logarithm; at least -9999, which stands for less. */
  readonly logprob: number
  /** What it stands for in the text, perhaps a part of a character; empty for a control token. */
  readonly bytes: readonly number[]
}

/** Of a token of the text. */
export interface ChosenLogprob extends TokenLogprob {
  /** The likeliest first; the chosen one may be among them. Fewer than asked for where fewer are possible. */
  readonly top: readonly TokenLogprob[]
}

export interface TextDeltaEvent {
  readonly type: 'text-delta'
  readonly index: number
  /** Whole characters only; empty while a character or a possible stop string is incomplete. */
  readonly text: string
  /** -1 each where an upstream tells their number only. */
  readonly tokenIds: readonly number[]
  /**
   * Of the tokens whose text is sent whole with this text, in their order: none comes before its text, nor with text that was
   * cut. Tokens that only end the text have none. Absent where none were asked for.
   */
  readonly logprobs?: readonly ChosenLogprob[]
}

export interface SequenceError {
  readonly code: ErrorCode
  readonly params: Readonly<Record<string, string | number>>
}

/** Tokens that were drafted, and those of them that were accepted. */
export interface DraftCounts {
  readonly draftedTokens: number
  readonly acceptedTokens: number
}

export interface SequenceEndEvent {
  readonly type: 'sequence-end'
  readonly index: number
  readonly finishReason: FinishReason
  /** Set when `finishReason` is `error`. */
  readonly error: SequenceError | null
  /** The stop string that ended it; absent where none did. */
  readonly stopString?: string
  /** Absent where nothing was drafted. */
  readonly drafts?: DraftCounts
  /** What must be added to the prompt tokens of the start, which an upstream tells at the end only. @default 0 */
  readonly promptTokensCorrection?: number
  /** The same of the cached tokens. @default 0 */
  readonly cachedTokensCorrection?: number
  /** Of the answer, those that were thought, which an upstream may tell although it shows no thoughts. @default what was shown */
  readonly reasoningTokens?: number
  /** Of an engine of embeddings, unless it failed: the pooled vector, 32-bit floats in little-endian order as base64. */
  readonly vector?: string
}

/** What the model thinks before it answers. */
interface ReasoningDeltaEvent {
  readonly type: 'reasoning-delta'
  readonly index: number
  readonly text: string
}

/** A tool call begins; those of a sequence are numbered from 0 and come one after the other. */
export interface ToolCallStartEvent {
  readonly type: 'tool-call-start'
  readonly index: number
  readonly call: number
  readonly id: string
  readonly name: string
}

/** Further JSON text of a call's arguments. */
export interface ToolCallDeltaEvent {
  readonly type: 'tool-call-delta'
  readonly index: number
  readonly call: number
  readonly arguments: string
}

/** Part of an answer that is no text: of an engine that takes chats, or read from an engine's text by a model's chat format. */
export type AnswerDeltaEvent = ReasoningDeltaEvent | ToolCallStartEvent | ToolCallDeltaEvent

/** All that an engine gives which takes prompts only. */
export type EngineEvent = SequenceStartEvent | TextDeltaEvent | SequenceEndEvent

/** With what an engine that takes chats gives beside. */
export type AnswerEvent = EngineEvent | AnswerDeltaEvent
