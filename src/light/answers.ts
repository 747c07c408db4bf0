/**
 * Answers as they go out: JSON with its length and the request's id, or a file. Errors are rendered by
 * `http/render-error.ts`.
 */
import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

/** JSON that is written once and may be sent many times. An endpoint may return one; an application cannot make it. */
export class JsonText {
  readonly text: string
  readonly byteLength: number

  /** @throws TypeError for a value that JSON cannot hold. */
  constructor(value: unknown) {
    this.text = JSON.stringify(value) ?? 'null'
    this.byteLength = Buffer.byteLength(this.text)
  }
}

export interface Answer {
  readonly status: number
  /** As `writeHead` takes them: by name, or names and values by turns, which are read faster. */
  readonly headers: Readonly<Record<string, string>> | string[]
  /** A stream is read to its end, and is destroyed with the response. */
  readonly body: string | Buffer | Readable
  /** Text that need not be looked at again to be encoded. */
  readonly isAscii?: boolean
}

/** What has no JSON of its own is sent as `null`. @throws TypeError for a value that JSON cannot hold. */
export function renderValue(value: unknown, { requestId }: { readonly requestId: string }): Answer {
  const { text, byteLength } = value instanceof JsonText ? value : new JsonText(checkValue(value))
  return {
    status: 200,
    headers: [
      'content-type',
      'application/json; charset=utf-8',
      'content-length',
      String(byteLength),
      'x-request-id',
      requestId,
      // Answers are for the one who asked.
      'cache-control',
      'no-store',
      // What somebody made a model say must not become a page.
      'x-content-type-options',
      'nosniff',
    ],
    body: text,
    isAscii: byteLength === text.length,
  }
}

function checkValue(value: unknown): unknown {
  if (!isBytes(value)) return value
  throw new TypeError('A route returned a stream or bytes; what it returns is sent as JSON.')
}

/** By what streams can do: to name the class of the web's would load it. */
function isBytes(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  return 'pipe' in value || 'getReader' in value || ArrayBuffer.isView(value)
}

/** Resolves when the stream has been handed over; undefined when there is nothing to wait for. */
export function sendAnswer(
  response: ServerResponse,
  { status, headers, body, isAscii }: Answer,
): Promise<void> | undefined {
  response.writeHead(status, headers)
  if (body instanceof Readable) return pipeline(body, response)
  // Together, in one plain write: `end(body)` adds an empty one to it, and two go out the slow way, as a list.
  response.write(body, isAscii === true ? 'latin1' : 'utf8')
  response.socket?.uncork()
  response.end()
  return undefined
}
