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

/**
 * First segments of paths that clients of OpenAI's dialect ask for, those that are not built included: such clients show
 * only `error` of a 404. `v1` is there for a base URL that has it twice, the routes of reranking and tokens for vLLM's clients.
 */
const OPENAI_SEGMENTS: ReadonlySet<string> = new Set([
  'assistants',
  'audio',
  'batches',
  'chat',
  'chatkit',
  'completions',
  'containers',
  'conversations',
  'detokenize',
  'edits',
  'embeddings',
  'engines',
  'evals',
  'files',
  'fine_tuning',
  'images',
  'messages',
  'models',
  'moderations',
  'organization',
  'realtime',
  'rerank',
  'responses',
  'score',
  'skills',
  'threads',
  'tokenize',
  'uploads',
  'v1',
  'vector_stores',
  'videos',
])

/** A client whose base URL lacks `/v1` asks for the same without it. */
const FIRST_SEGMENT = /^\/(?:v1\/)?([^/?]+)/

/** For a request that no route answers, and for a server whose routes declare nothing. */
export function errorShapeOf(url: string): ErrorShape {
  const segment = FIRST_SEGMENT.exec(url)?.[1] ?? ''
  return OPENAI_SEGMENTS.has(segment) ? 'openai' : 'plain'
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
