/**
 * A generation as it is asked for, in no dialect's words: the schemas of all routes make one, `generation.ts` runs it. Also the
 * body's names for a chat, for errors.
 */
import { ServiceError } from '../core/errors.ts'
import type { Chat } from '../protocol/chat.ts'
import type { Constraint } from '../protocol/constraint.ts'
import type { EndRules, Sampling } from '../protocol/engine.ts'
import type { InputPrompt } from './prompt-inputs.ts'

const CHAT_FIELD = 'messages'

/** A generation as the schemas give it: every field checked, every default applied, nothing of the wire format left. */
export interface GenerationRequest {
  /** Null is the default model. */
  readonly modelId: string | null
  readonly input: PromptsInput | ChatInput
  /** As asked for; the caller's tier and the model's context may allow fewer. Infinity is as many as they allow. */
  readonly maxNewTokens: number
  readonly sampling: Sampling
  readonly stopStrings: readonly string[]
  /** @default the model's end tokens end an answer, from the first token on */
  readonly endRules?: EndRules
  readonly numBeams: number
  readonly priority: number
  /** Of the whole answer; a chat's tools bring one of their own. @default none */
  readonly constraint?: Constraint
  /** The body's field that asks for it, for messages. */
  readonly constraintField?: string
  /** What only a remote model's upstream reads. @default nothing */
  readonly upstreamFields?: UpstreamFields
  /** 0 to 20, of the likeliest tokens beside each chosen one. @default no log probabilities */
  readonly topLogprobs?: number
}

interface UpstreamFields {
  /** As they came, by their names. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The first that asks for something, and what is wrong with it for a model that has no upstream; null where none does. */
  readonly unbuilt: { readonly field: string; readonly problem: string } | null
}

export interface PromptsInput {
  readonly kind: 'prompts'
  readonly prompts: readonly InputPrompt[]
  /** How many answers to each prompt are wanted; those of the first come first. Only without a batch. @default 1 */
  readonly choices?: number
  /**
   * How a batch queues: as one block, accepted or refused whole, or each prompt separately, so that one may be refused
   * and the others run. Null where there is no batch: then what fails a prompt or a sequence fails the request.
   */
  readonly batch: 'block' | 'separate' | null
  /** Whether the caller learns, as of a chat, that the context leaves fewer tokens than were asked for. @default false */
  readonly reportsContextCap?: boolean
}

export interface ChatInput extends Chat {
  readonly kind: 'chat'
  /** @default `messages`, and `messages[3].content` for the fourth of them */
  readonly fieldNames?: ChatFieldNames
  /** How many answers are wanted. */
  readonly choices: number
}

/** The body's names for a chat, for errors. */
export interface ChatFieldNames {
  readonly chat: string
  /** Of the text of a message, by its index. */
  readonly textOf: (index: number) => string
}

/** Sequences of each prompt. */
export function choicesOf(input: GenerationRequest['input']): number {
  return input.choices ?? 1
}

/** What the body calls the text of a message, by its index. */
export function textFieldOf(names: ChatFieldNames | undefined, index: number): string {
  return names?.textOf(index) ?? `messages[${index}].content`
}

/** What the body calls the conversation; undefined where the input is none. */
export function chatFieldName(input: GenerationRequest['input']): string | undefined {
  return input.kind === 'chat' ? (input.fieldNames?.chat ?? CHAT_FIELD) : undefined
}

/** The layers below name the field as most dialects do. */
export function withChatFieldName(thrown: unknown, input: GenerationRequest['input']): unknown {
  const param = chatFieldName(input)
  if (!(thrown instanceof ServiceError) || thrown.param !== CHAT_FIELD || param === undefined) return thrown
  return param === CHAT_FIELD
    ? thrown
    : new ServiceError(thrown.code, thrown.params, { param, cause: thrown.cause })
}
