/**
 * Answers as they go out: JSON with its length and the request's id. Errors are rendered by `http/render-error.ts`.
 */
import type { ServerResponse } from 'node:http'

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
