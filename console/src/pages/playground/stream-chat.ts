/** One streamed answer of `POST /v1/chat/completions`, from its request to its end, as changes of an `AnswerTurn`. */
import { ApiError, isAbort, request } from '../../api/client.ts'
import { readEvents } from '../../api/event-stream.ts'
import type { AnswerTurn, Refusal, Stats, ToolCall } from './conversation.ts'
import type { ChatRequest } from './request.ts'

interface Delta {
  readonly content?: string | null
  readonly reasoning_content?: string | null
  readonly tool_calls?: readonly {
    readonly index: number
    readonly id?: string
    readonly function?: { readonly name?: string; readonly arguments?: string }
  }[]
}

interface Chunk {
  readonly choices?: readonly { readonly delta: Delta; readonly finish_reason: string | null }[]
  readonly usage?: {
    readonly prompt_tokens: number
    readonly completion_tokens: number
    readonly prompt_tokens_details?: { readonly cached_tokens?: number } | null
  } | null
  readonly error?: { readonly message: string; readonly code?: string; readonly param?: string | null }
}

/** From the first chunk on, so that what the prompt cost is seen while the answer comes. */
const USAGE = { include_usage: true, continuous_usage_stats: true }

interface StreamOptions {
  readonly signal: AbortSignal
  /** Called with each state of the answer but the last. */
  readonly onChange: (answer: AnswerTurn) => void
}

/** Resolves with the answer's last state, whatever its end was. */
export async function streamAnswer(
  start: AnswerTurn,
  body: ChatRequest,
  { signal, onChange }: StreamOptions,
): Promise<AnswerTurn> {
  const startMs = performance.now()
  let answer = start
  const change = (changed: Partial<AnswerTurn>): void => {
    answer = { ...answer, ...changed }
    onChange(answer)
  }
  try {
    const streamed = { ...body, stream: true, stream_options: USAGE }
    const response = await request('POST v1/chat/completions', { body: streamed, signal })
    for await (const data of readEvents(response)) {
      if (data === '[DONE]') break
      const chunk = JSON.parse(data) as Chunk
      if (chunk.error !== undefined) throw toApiError(chunk.error)
      change(applyChunk(answer, chunk, performance.now() - startMs))
    }
    return { ...answer, state: 'done' }
  } catch (error) {
    if (isAbort(error)) return { ...answer, state: 'stopped' }
    return { ...answer, state: 'failed', refusal: toRefusal(error) }
  }
}

function applyChunk(answer: AnswerTurn, chunk: Chunk, elapsedMs: number): Partial<AnswerTurn> {
  const [choice] = chunk.choices ?? []
  const { delta = {}, finish_reason: finishReason = null } = choice ?? {}
  const isToken = Boolean(delta.content) || Boolean(delta.reasoning_content) || delta.tool_calls !== undefined
  return {
    text: answer.text + (delta.content ?? ''),
    reasoning: answer.reasoning + (delta.reasoning_content ?? ''),
    calls: (delta.tool_calls ?? []).reduce(addCall, answer.calls),
    finishReason: finishReason ?? answer.finishReason,
    stats: toStats(answer.stats, { chunk, isToken, elapsedMs }),
  }
}

function addCall(
  calls: readonly ToolCall[],
  { index, id, function: part }: NonNullable<Delta['tool_calls']>[number],
): readonly ToolCall[] {
  const before = calls[index] ?? { id: '', name: '', arguments: '' }
  const after = {
    id: id ?? before.id,
    name: before.name + (part?.name ?? ''),
    arguments: before.arguments + (part?.arguments ?? ''),
  }
  return calls[index] === undefined ? [...calls, after] : calls.with(index, after)
}

interface Arrival {
  readonly chunk: Chunk
  readonly isToken: boolean
  readonly elapsedMs: number
}

function toStats(before: Stats | null, { chunk: { usage }, isToken, elapsedMs }: Arrival): Stats {
  const firstTokenMs = before?.firstTokenMs ?? (isToken ? elapsedMs : null)
  const durationMs = isToken && firstTokenMs !== null ? elapsedMs - firstTokenMs : (before?.durationMs ?? 0)
  const seen = (before?.completionTokens ?? 0) + (isToken && before?.isExact !== true ? 1 : 0)
  return {
    firstTokenMs,
    durationMs,
    promptTokens: usage?.prompt_tokens ?? before?.promptTokens ?? null,
    cachedTokens: usage?.prompt_tokens_details?.cached_tokens ?? before?.cachedTokens ?? null,
    completionTokens: usage?.completion_tokens ?? seen,
    isExact: usage ? true : (before?.isExact ?? false),
  }
}

function toApiError({ message, code = '', param = null }: NonNullable<Chunk['error']>): ApiError {
  return new ApiError(message, { status: 200, code, param })
}

function toRefusal(error: unknown): Refusal {
  if (error instanceof ApiError) return { message: error.message, code: error.code, param: error.param }
  // A stream that breaks off is a TypeError whose words differ from browser to browser.
  const isBroken = error instanceof TypeError
  const message = isBroken ? 'The connection broke off before the answer had ended.' : String(error)
  return { message, code: isBroken ? 'unreachable' : '', param: null }
}
