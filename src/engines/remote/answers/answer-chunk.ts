/** What is read of a chunk of an upstream's stream. Every field may be missing or null: nothing of an upstream is believed. */
import type { ChosenLogprob, TokenLogprob } from '../../../protocol/engine-events.ts'

export type Json = Readonly<Record<string, unknown>>

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isObject) : []
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Of a model: any whole number. */
export function sizeOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : null
}

/** The largest that the columns of usage hold. */
const MAX_COUNT = 2 ** 31 - 1

/** Of tokens, or a place in a list. */
export function countOf(value: unknown): number | null {
  const size = sizeOf(value)
  return size !== null && size <= MAX_COUNT ? size : null
}

/** Of a chat's choice: `logprobs.content`. Undefined where it has none. */
export function upstreamChatLogprobs(logprobs: unknown): readonly ChosenLogprob[] | undefined {
  if (!isObject(logprobs) || !Array.isArray(logprobs['content'])) return undefined
  return objects(logprobs['content']).map((token) => ({
    ...toLogprob(token),
    top: objects(token['top_logprobs']).map(toLogprob),
  }))
}

/** Of a completion's choice: lists side by side. Undefined where it has none. */
export function upstreamCompletionLogprobs(logprobs: unknown): readonly ChosenLogprob[] | undefined {
  if (!isObject(logprobs)) return undefined
  const { tokens, token_logprobs: values, top_logprobs: tops } = logprobs
  // llama-server writes those of a chat.
  if (!Array.isArray(tokens)) return upstreamChatLogprobs(logprobs)
  const valueOf = (list: unknown, index: number): unknown =>
    Array.isArray(list) ? (list[index] as unknown) : undefined
  return tokens.map((token: unknown, index) => {
    const top = valueOf(tops, index)
    return {
      ...toLogprob({ token, logprob: valueOf(values, index) }),
      top: isObject(top)
        ? Object.entries(top).map(([text, logprob]) => toLogprob({ token: text, logprob }))
        : [],
    }
  })
}

function toLogprob({ token, logprob, bytes }: Json): TokenLogprob {
  const given =
    Array.isArray(bytes) && bytes.every((byte) => countOf(byte) !== null) ? (bytes as number[]) : null
  return {
    tokenId: -1,
    logprob: typeof logprob === 'number' ? Math.max(-9999, logprob) : -9999,
    bytes: given ?? [...Buffer.from(textOf(token))],
  }
}
