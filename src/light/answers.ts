/**
 * Answers as they go out: JSON with its length and the request's id, or a file. Errors are rendered by
 * `http/render-error.ts`.
 */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** A stream is read to its end, and is destroyed with the response. */
  readonly body: string | Buffer | Readable
}

export interface RequestName {
  readonly requestId: string
  /** As it came, with its query. */
  readonly url: string
}

/** What has no JSON of its own is sent as `null`. @throws TypeError for a value that JSON cannot hold. */
export function renderValue(value: unknown, { requestId }: RequestName): Answer {
  if (value instanceof Readable || value instanceof ReadableStream || ArrayBuffer.isView(value)) {
    throw new TypeError('A route returned a stream or bytes; what it returns is sent as JSON.')
  }
  const body = JSON.stringify(value) ?? 'null'
  return {
    status: 200,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(body)),
      'x-request-id': requestId,
      // Answers are for the one who asked.
      'cache-control': 'no-store',
    },
    body,
  }
}

/** Resolves when the answer has been handed over, or its reader has left. */
export async function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): Promise<void> {
  response.writeHead(status, headers)
  if (body instanceof Readable) await pipeline(body, response)
  else response.end(body)
}
