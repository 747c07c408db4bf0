/**
 * The interface between a dialect and `event-stream.ts`: the frames of a stream's events, and the functions that build them
 * from objects of the schema's type. Called by the dialects only.
 */
import type { z } from 'zod'
import { InvariantError, type ServiceError } from '../../core/errors.ts'
import type { GenerationEvent } from '../../generation/generation.ts'
import type { DeltaEvent } from '../../generation/events/sequence-fold.ts'
import { toOpenAiError } from '../../net/render-error.ts'
import type { FinishReason } from '../../protocol/engine-events.ts'

/** What an answer or a frame must hold, by the schema that documents it. */
export type AnswerOf<Schema extends z.ZodType> = DeepReadonly<z.input<Schema>>

type DeepReadonly<Value> = Value extends object
  ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
  : Value

type EventOf<Type extends GenerationEvent['type']> = Extract<GenerationEvent, { type: Type }>

/** What the frames of an answer look like; each call gives whole frames, or nothing to send. */
export interface FrameFormat {
  start(event: EventOf<'sequence-start'>): string
  delta(event: DeltaEvent): string
  end(event: EventOf<'sequence-end'>): string
  /** Behind the end of the last sequence: the last frames of the answer. */
  finish(): string
  /** Instead of what is still to come: the last frames of an answer that failed. */
  fail(error: ServiceError): string
  /** What keeps a silent stream open. @default a comment */
  readonly ping?: string
}

/** One event, whose data is JSON. */
export function frame(chunk: object): string {
  return `data: ${JSON.stringify(chunk)}\n\n`
}

/** What JSON does not write as it is, half characters among it. */
// oxlint-disable-next-line no-control-regex -- they are what is looked for
const NOT_PLAIN = /["\\\0-\x1f\ud800-\udfff]/

/** As `JSON.stringify` writes it. The text of a token is rarely escaped, and looking takes a third of the time. */
export function jsonOf(text: string): string {
  return NOT_PLAIN.test(text) ? JSON.stringify(text) : `"${text}"`
}

/** One event whose name is its type. */
export function namedFrame(event: { readonly type: string }): string {
  return `event: ${event.type}\n${frame(event)}`
}

/** The last of OpenAI's events. */
export const DONE_FRAME = 'data: [DONE]\n\n'

/** `fail` of the dialects whose streams end with `[DONE]`. */
export function failFrames(error: ServiceError): string {
  return frame({ error: toOpenAiError(error), detail: error.message }) + DONE_FRAME
}

/**
 * Splits the frame of `chunk` at the values of `keys`, in their order, each 0 or '' in it. The parts between them are
 * serialized once, so a token costs the JSON of its new values and one template.
 */
export function splitFrame<Chunk extends object, const Keys extends readonly string[]>(
  chunk: Chunk,
  keys: Keys,
  toFrame: (chunk: Chunk) => string = frame,
): readonly [string, ...{ [Key in keyof Keys]: string }] {
  const json = toFrame(chunk)
  const parts: string[] = []
  let end = 0
  for (const key of keys) {
    // Inside a string of JSON the quotes would be escaped.
    const start = json.slice(end).search(new RegExp(`"${key}":(?:0|"")[,}]`))
    if (start < 0) throw new InvariantError(`The frame has no open ${key}.`)
    const valueStart = end + start + `"${key}":`.length
    parts.push(json.slice(end, valueStart))
    end = valueStart + (json[valueStart] === '0' ? '0' : '""').length
  }
  return [...parts, json.slice(end)] as unknown as readonly [string, ...{ [Key in keyof Keys]: string }]
}

export function toUsage(promptTokens: number, completionTokens: number) {
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  }
}

/** With what OpenAI's clients are told of the cache and of reasoning, where there was any. */
export function toDetailedUsage(tokens: {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly cachedTokens: number
  readonly reasoningTokens?: number
}) {
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens = 0 } = tokens
  return {
    ...toUsage(promptTokens, completionTokens),
    ...(cachedTokens > 0 && { prompt_tokens_details: { cached_tokens: cachedTokens } }),
    ...(reasoningTokens > 0 && { completion_tokens_details: { reasoning_tokens: reasoningTokens } }),
  }
}

/** An answer's finish reason: where a sequence fails, its request is answered with the error instead. */
export function answerFinishReason(reason: FinishReason): Exclude<FinishReason, 'error'> {
  if (reason === 'error') throw new InvariantError('A failed sequence has no answer.')
  return reason
}
