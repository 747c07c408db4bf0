/** What a refusal or a failure of an upstream becomes here. Called by `remote-engine.ts`. Nothing of it names the upstream's address or key. */
import { ServiceError } from '../../core/errors.ts'

/** Characters of an upstream's own sentence that are passed on. */
const MAX_MESSAGE_LENGTH = 1000

export interface UpstreamRefusal {
  readonly status: number
  /** `Retry-After` as it came. */
  readonly retryAfter: string | undefined
  readonly body: string
}

const LENGTH_NAME = /max_(?:completion_)?tokens/i
const TOO_LONG = /cannot be greater|too large|too long|less than or equal|at most|maximum/i

/** Whether the answer was to be longer than there is room for, in the context or by a rule of the upstream. */
export function refusesLength({ status, body }: UpstreamRefusal): boolean {
  return status === 400 && (/context length/i.test(body) || (LENGTH_NAME.test(body) && TOO_LONG.test(body)))
}

/** Whether it reads a limit under its newer name alone, as OpenAI's reasoning models do. */
export function refusesMaxTokens({ status, body }: UpstreamRefusal): boolean {
  return status === 400 && /\buse\W+max_completion_tokens/i.test(body)
}

/** Whether it may not know the model. */
export function refusesModel({ status, body }: UpstreamRefusal, model: string): boolean {
  return status === 404 || (status === 400 && body.includes(model))
}

export function toRefusal(model: string, { status, retryAfter, body }: UpstreamRefusal): ServiceError {
  const message = messageOf(body) ?? `it answered with status ${status}.`
  const wait = secondsOf(retryAfter)
  const options = wait === null ? {} : { retryAfterSeconds: wait }
  if (status === 429)
    return new ServiceError('upstream_busy', { model, message }, { retryAfterSeconds: 1, ...options })
  if (status === 401 || status === 403)
    return new ServiceError('engine_unavailable', {
      message: "its upstream does not take this server's key.",
    })
  if ((status >= 400 && status < 500) || isUnsupported(status, message))
    return tooLong(message) ?? new ServiceError('upstream_refused', { model, message })
  return unavailable(`its upstream failed: ${message}`, wait ?? undefined)
}

/** llama-server says with a 500 that a model reads no images. */
function isUnsupported(status: number, message: string): boolean {
  return status === 501 || (status === 500 && /not support/i.test(message))
}

export function unavailable(message: string, retryAfterSeconds = 5): ServiceError {
  return new ServiceError('engine_unavailable', { message }, { retryAfterSeconds })
}

/** An answer that had begun is lost. */
export function answerLost(how: string, cause?: unknown): ServiceError {
  return new ServiceError(
    'engine_failed',
    {},
    { cause: new Error(`the answer of the upstream ${how}`, { cause }) },
  )
}

/** In the words that clients look for, where it says both numbers. */
function tooLong(message: string): ServiceError | null {
  const max = /maximum context length (?:is|of) (\d+)/i.exec(message)?.[1]
  if (max === undefined) return null
  const others = [...message.matchAll(/\d+/g)].map(([number]) => Number(number))
  const given = others.find((number) => number > Number(max)) ?? `more than ${max}`
  return new ServiceError('context_length_exceeded', { max: Number(max), given })
}

/** Of OpenAI's, vLLM's, Sluice's and FastAPI's shapes. */
function messageOf(body: string): string | null {
  try {
    return sentenceIn(JSON.parse(body) as unknown)
  } catch {
    return null
  }
}

export function sentenceIn(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value.slice(0, MAX_MESSAGE_LENGTH)
  if (typeof value !== 'object' || value === null) return null
  for (const name of ['error', 'message', 'detail'])
    if (name in value) return sentenceIn((value as Readonly<Record<string, unknown>>)[name])
  return null
}

function secondsOf(retryAfter: string | undefined): number | null {
  if (retryAfter === undefined) return null
  const seconds = /^\d{1,6}$/.test(retryAfter)
    ? Number(retryAfter)
    : (Date.parse(retryAfter) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.max(1, Math.ceil(seconds)) : null
}
