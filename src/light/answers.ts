/**
 * Answers as they go out: JSON with its length and the request's id. An error is `{detail}` and its code in a header;
 * routes shaped like OpenAI's also get `error`, because OpenAI's clients show only that (spec: decisions, Errors).
 */
import type { ServerResponse } from 'node:http'
import type { ServiceError } from '../core/errors.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface RequestName {
  readonly requestId: string
  /** As it came, with its query. */
  readonly url: string
}

/** What has no JSON of its own is sent as `null`. @throws TypeError for a value that JSON cannot hold. */
export function renderValue(value: unknown, { requestId }: RequestName): Answer {
  return toAnswer(200, { 'x-request-id': requestId }, JSON.stringify(value) ?? 'null')
}

const OPENAI_SHAPED_PATH = /^\/v1\/(?:chat|models)(?:[/?]|$)/

export function renderError(error: ServiceError, { requestId, url }: RequestName): Answer {
  const { code, message, param, status } = error
  const detail = { detail: message }
  const body = OPENAI_SHAPED_PATH.test(url)
    ? { ...detail, error: { message, type: openAiType(status), param, code } }
    : detail
  const headers = { 'x-request-id': requestId, 'x-error-code': code, ...statusHeaders(error) }
  return toAnswer(status, headers, JSON.stringify(body))
}

export function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  response.writeHead(status, headers).end(body)
}

function toAnswer(status: number, headers: Record<string, string>, body: string): Answer {
  const length = String(Buffer.byteLength(body))
  return {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'content-length': length, ...headers },
    body,
  }
}

function statusHeaders({ status, retryAfterSeconds }: ServiceError): Record<string, string> {
  if (status === 401) return { 'www-authenticate': 'Bearer' }
  if (status === 409) return { 'x-should-retry': 'false' }
  if (status === 429 || status === 503) return { 'retry-after': String(retryAfterSeconds ?? 1) }
  return {}
}

function openAiType(status: number): string {
  if (status === 401) return 'authentication_error'
  if (status === 403) return 'permission_error'
  if (status === 429) return 'rate_limit_error'
  return status >= 500 ? 'server_error' : 'invalid_request_error'
}
