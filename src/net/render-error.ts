/**
 * Renders an error as an answer, for every server: status, headers and a body of `{detail}`. OpenAI's shape adds `error`,
 * because OpenAI's clients show only that (spec: decisions, Errors).
 */
import type { ServiceError } from '../core/errors.ts'

export interface RenderedError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const DEFAULT_RETRY_AFTER_SECONDS = 1

/** What a body looks like: `detail` alone, or with OpenAI's `error` beside it. A route declares its own. */
export type ErrorShape = 'plain' | 'openai'

/** Paths of OpenAI's dialect, those that are not implemented included: its clients show only `error` of a 404. */
const OPENAI_PATH =
  /^\/v1\/(?:audio|batches|chat|completions|embeddings|files|images|models|moderations|responses)(?:[/?]|$)/

/** For a request that no route answers, and for a server whose routes declare nothing. */
export function errorShapeOf(url: string): ErrorShape {
  return OPENAI_PATH.test(url) ? 'openai' : 'plain'
}

/** Also the shape of a failed item of a batch and of an error inside a stream. */
export function toOpenAiError(error: ServiceError) {
  return { message: error.message, type: openAiType(error.status), param: error.param, code: error.code }
}

export function renderError(
  error: ServiceError,
  request: { requestId: string; shape: ErrorShape },
): RenderedError {
  const detail = error.message
  const body = request.shape === 'openai' ? { detail, error: toOpenAiError(error) } : { detail }
  const text = JSON.stringify(body)
  return {
    status: error.status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(text)),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': request.requestId,
      'x-error-code': error.code,
      ...statusHeaders(error),
    },
    body: text,
  }
}

function statusHeaders(error: ServiceError): Record<string, string> {
  switch (error.status) {
    case 401:
      return { 'www-authenticate': 'Bearer' }
    case 403:
      // A ban ends; what a guard refused for its shape stays refused.
      return error.retryAfterSeconds === null ? {} : { 'retry-after': String(error.retryAfterSeconds) }
    case 409:
      // OpenAI's clients retry a 409 unless this header forbids it; a retry does not resolve a conflict.
      return { 'x-should-retry': 'false' }
    case 429:
    case 503:
      return { 'retry-after': String(error.retryAfterSeconds ?? DEFAULT_RETRY_AFTER_SECONDS) }
    default:
      return {}
  }
}

function openAiType(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
