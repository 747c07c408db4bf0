/**
 * Renders an error as an answer, for every server: status, headers and a body of `{detail}`. The shapes of OpenAI and of
 * Anthropic add what their clients read, because those show nothing else (spec: decisions, Errors).
 */
import type { ServiceError } from '../core/errors.ts'

export interface RenderedError {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

const DEFAULT_RETRY_AFTER_SECONDS = 1

/** Where Anthropic's clients look for the id of a request. */
export const ANTHROPIC_REQUEST_ID = 'request-id'

/**
 * What a body looks like: `detail` alone, or with a dialect's error beside it. A route declares its own. An unknown route always
 * has an error beside it.
 */
export type ErrorShape = 'plain' | 'openai' | 'anthropic'

/** Ollama's clients show `error` as it is, so it must be a text; no route here is one of theirs. */
export type AnyErrorShape = ErrorShape | 'ollama'

/**
 * First segments of paths that clients of OpenAI's dialect ask for, those that are not built included: such clients show
 * only `error` of a 404. The routes of reranking and tokens are there for vLLM's clients.
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
  'vector_stores',
  'videos',
])

/** The same of Anthropic's dialect. `complete` is its first one, of texts; prefixes of gateways are named after it. */
const ANTHROPIC_SEGMENTS: ReadonlySet<string> = new Set(['anthropic', 'complete', 'message', 'messages'])

/** A client whose base URL lacks `/v1`, or has it twice, asks for the same without it, or behind it twice. */
const FIRST_SEGMENT = /^\/(?:v1\/)*([^/?]+)/

/** A base URL of `/api/v1`, as some servers of OpenAI's dialect have it. */
const OPENAI_BELOW_API = /^\/(?:v1\/)*api\/v\d/

/** For a request that no route answers, and for a server whose routes declare nothing. */
export function errorShapeOf(url: string): AnyErrorShape {
  const segment = FIRST_SEGMENT.exec(url)?.[1] ?? ''
  if (segment === 'api' && !OPENAI_BELOW_API.test(url)) return 'ollama'
  if (ANTHROPIC_SEGMENTS.has(segment)) return 'anthropic'
  return OPENAI_SEGMENTS.has(segment) ? 'openai' : 'plain'
}

/** Also the shape of a failed item of a batch and of an error inside a stream. */
export function toOpenAiError(error: ServiceError) {
  return { message: error.message, type: openAiType(error.status), param: error.param, code: error.code }
}

/** By this the tool runners of Anthropic's SDKs, which ask for a thread first, know to send the whole conversation. */
const NO_THREADS = { details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] } } as const

/** Also the shape of an error inside a stream (Anthropic's Messages API, Errors). */
export function toAnthropicError(failed: ServiceError, requestId: string) {
  const { status, param, message: detail } = failed
  const message = anthropicMessage(failed)
  const error = { type: anthropicType(status), message, ...(param === 'thread' && NO_THREADS) }
  return { type: 'error', error, request_id: requestId, detail } as const
}

/** In Anthropic's words where Claude Code reads numbers out of them: by these it knows what to leave out of a conversation. */
function anthropicMessage({ code, params, message }: ServiceError): string {
  if (code !== 'context_length_exceeded') return message
  return `prompt is too long: ${params['given']} tokens > ${params['max']} maximum`
}

interface FailedRequest {
  readonly requestId: string
  readonly shape: AnyErrorShape
}

export function renderError(error: ServiceError, request: FailedRequest): RenderedError {
  const text = JSON.stringify(bodyOf(error, request))
  return {
    status: error.status,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(text)),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-request-id': request.requestId,
      ...(request.shape === 'anthropic' && { [ANTHROPIC_REQUEST_ID]: request.requestId }),
      'x-error-code': error.code,
      ...statusHeaders(error, request.shape),
    },
    body: text,
  }
}

function bodyOf(error: ServiceError, { requestId, shape }: FailedRequest): object {
  const detail = error.message
  switch (shape) {
    case 'plain':
      // Whoever mistook the path expects the errors of another server, and most have OpenAI's object.
      return error.code === 'not_found' ? { detail, error: toOpenAiError(error) } : { detail }
    case 'openai':
      return { detail, error: toOpenAiError(error) }
    case 'anthropic':
      return toAnthropicError(error, requestId)
    case 'ollama':
      return { detail, error: detail }
  }
}

function statusHeaders(error: ServiceError, shape: AnyErrorShape): Record<string, string> {
  switch (error.status) {
    case 401:
      // Claude Code retries a 401 for minutes unless this header forbids it.
      return { 'www-authenticate': 'Bearer', ...(shape === 'anthropic' && { 'x-should-retry': 'false' }) }
    case 403:
      // A ban ends; what a guard refused for its shape stays refused.
      return error.retryAfterSeconds === null ? {} : { 'retry-after': String(error.retryAfterSeconds) }
    case 409:
      // OpenAI's clients retry a 409 unless this header forbids it; a retry does not resolve a conflict.
      return { 'x-should-retry': 'false' }
    case 429:
    case 503:
      // A client that retries by itself would do so for days.
      if (error.code === 'budget_exceeded')
        return { 'retry-after': String(error.retryAfterSeconds ?? 1), 'x-should-retry': 'false' }
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

function anthropicType(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error'
    case 403:
      return 'permission_error'
    case 404:
      return 'not_found_error'
    case 429:
      return 'rate_limit_error'
    case 503:
      return 'overloaded_error'
    default:
      return status >= 500 ? 'api_error' : 'invalid_request_error'
  }
}
