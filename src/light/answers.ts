/**
 * Answers as they are sent: JSON with its length and the request's id, or a file. Errors are rendered by
 * `net/render-error.ts`.
 */
import type { ReadStream } from 'node:fs'
import type { ServerResponse } from 'node:http'
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

/** Closes its file at its end, or when it is destroyed. */
interface FileBytes {
  readonly stream: ReadStream
  readonly lengthBytes: number
}

export interface LightAnswer {
  readonly status: number
  /** As `writeHead` takes them: by name, or names and values by turns, which are read faster. */
  readonly headers: Readonly<Record<string, string>> | string[]
  readonly body: string | FileBytes
  /** Whether the body is ASCII, which is encoded without another scan. */
  readonly isAscii?: boolean
}

/** A value without JSON is sent as `null`. @throws TypeError for a value that JSON cannot hold. */
export function renderValue(value: unknown, { requestId }: { readonly requestId: string }): LightAnswer {
  const { text, byteLength } = value instanceof JsonText ? value : toJsonText(value)
  return {
    status: 200,
    headers: [
      'content-type',
      'application/json; charset=utf-8',
      'content-length',
      String(byteLength),
      'x-request-id',
      requestId,
      // No cache may share an answer between callers.
      'cache-control',
      'no-store',
      // A browser must not render a model's text as a page.
      'x-content-type-options',
      'nosniff',
    ],
    body: text,
    isAscii: byteLength === text.length,
  }
}

/** @throws TypeError for a value that JSON cannot hold, or that loses all it holds. */
function toJsonText(value: unknown): JsonText {
  const json = new JsonText(refuseUnsendable(value))
  if (json.text !== '{}' || typeof value !== 'object' || value === null || 'toJSON' in value) return json
  const lost = emptiedClass(value)
  if (lost === null) return json
  throw new TypeError(
    `A route returned an object of ${lost}, whose JSON is {}; what it returns is sent as JSON.`,
  )
}

/** The class of an object that has no field for JSON, such as a generator or `Headers`; null of a plain one. */
function emptiedClass(value: object): string | null {
  const prototype: unknown = Object.getPrototypeOf(value)
  // Also the plain objects of another context, as those of a test runner are.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return null
  // Fields that are undefined were meant.
  if (Object.keys(value).length > 0) return null
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1)
  return tag === 'Object' ? value.constructor.name : tag
}

/** Of classes whose JSON would be `{}`. Those that a plain Node may not have loaded are recognized by their methods. */
function refuseUnsendable(value: unknown): unknown {
  const kind = unsendableKind(value)
  if (kind === null) return value
  throw new TypeError(`A route returned ${kind}; what it returns is sent as JSON.`)
}

function unsendableKind(value: unknown): string | null {
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`
  if (typeof value !== 'object' || value === null) return null
  if ('pipe' in value || 'getReader' in value || ArrayBuffer.isView(value)) return 'a stream or bytes'
  if ('toJSON' in value) return null
  if ('arrayBuffer' in value) return 'a Response, a Request or a Blob'
  if (value instanceof Map || value instanceof Set) return 'a Map or a Set'
  return value instanceof Error ? 'an Error' : null
}

/** Resolves when the file has been handed over; undefined when there is nothing to wait for. */
export function sendAnswer(
  response: ServerResponse,
  { status, headers, body, isAscii }: LightAnswer,
): Promise<void> | undefined {
  response.writeHead(status, headers)
  if (typeof body !== 'string') return pipeline(wholeFile(body), response)
  // Together, in one plain write: `end(body)` adds an empty one to it, and two go out the slow way, as a list.
  response.write(body, isAscii === true ? 'latin1' : 'utf8')
  response.socket?.uncork()
  response.end()
  return undefined
}

/** @throws Error when the file has become shorter than its answer's head says: then only a broken connection is right. */
async function* wholeFile({ stream, lengthBytes }: FileBytes): AsyncGenerator<Buffer> {
  yield* stream
  if (stream.bytesRead < lengthBytes) throw new Error('A file became shorter while it was sent.')
}
