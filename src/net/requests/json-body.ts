/**
 * Reads a JSON body. An empty one counts as none whatever its type. One over the limit is refused as soon as that is
 * known, from its declared length when there is one; what still comes of it is dropped (`guard-connections.ts`). Of a
 * name that occurs twice in an object the last value counts, as in `JSON.parse`.
 */
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { ServiceError } from '../../core/errors.ts'

export const MAX_BODY_BYTES = 8 * 1024 * 1024

/** Far more than any request of this interface needs, and far less than recursion can bear. */
const MAX_JSON_DEPTH = 100

export interface BodyLimit {
  readonly maxBytes: number
  /** What a larger one is refused with. */
  readonly tooLarge: () => ServiceError
}

const BODY_LIMIT: BodyLimit = {
  maxBytes: MAX_BODY_BYTES,
  tooLarge: () => new ServiceError('body_too_large', { maxBytes: MAX_BODY_BYTES }),
}

/** Requests that announced `Expect: 100-continue`: their clients send the body after this answer. */
const waiting = new WeakMap<object, ServerResponse>()

/** Delays `100 Continue` until the body is read, so that a request that is refused by its head never sends one. */
export function holdContinue(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.set(request, response)
    server.emit('request', request, response)
  })
}

/** Undefined when there is no body. @throws ServiceError saying what is wrong with it. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request, request.headers)
  return body.length === 0 ? undefined : parseJsonBody(body, request.headers)
}

/** @throws ServiceError `unsupported_media_type`, `malformed_request` for a compressed body, or `malformed_json`. */
export function parseJsonBody(body: Buffer, headers: IncomingHttpHeaders): unknown {
  const mediaType = headers['content-type']
  const encoding = headers['content-encoding'] ?? 'identity'
  if (!isJson(mediaType ?? '')) {
    throw new ServiceError('unsupported_media_type', { given: mediaType ?? '' })
  }
  if (encoding.toLowerCase() !== 'identity') {
    throw new ServiceError('malformed_request', {
      message: `Content-Encoding must be identity, but was '${encoding}'.`,
    })
  }
  if (!isUtf8(body)) throw new ServiceError('malformed_json', { message: 'it is not valid UTF-8.' })
  const value = parse(body.toString('utf8'))
  if (isDeeperThan(value, MAX_JSON_DEPTH)) {
    const message = `The request body must be nested at most ${MAX_JSON_DEPTH} levels deep.`
    throw new ServiceError('invalid_request', { message })
  }
  return value
}

function parse(text: string): unknown {
  try {
    // RFC 8259 lets a reader ignore a byte order mark, which some clients send.
    return JSON.parse(text.startsWith('\u{FEFF}') ? text.slice(1) : text)
  } catch (error) {
    throw new ServiceError('malformed_json', { message: withoutExcerpt(error) })
  }
}

/** An array or object that holds none is one level. Clients choose the depth, so the descent ends at the bound. */
function isDeeperThan(value: unknown, maxDepth: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (maxDepth === 0) return true
  const inner: readonly unknown[] = Array.isArray(value) ? value : Object.values(value)
  return inner.some((item) => isDeeperThan(item, maxDepth - 1))
}

/** In UTF-8, as JSON always is: in another `charset` it would be read wrongly. */
function isJson(mediaType: string): boolean {
  if (mediaType === 'application/json') return true
  const [type, ...parameters] = mediaType.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  return type === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset))
}

/** The parser quotes the text around a mistake, which in a body with a password may be the password. */
function withoutExcerpt(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  return message
    .replace(/^"[\s\S]*" is not valid JSON$/, 'Not JSON')
    .replace(/,? (?:\.{3})?"[\s\S]*"(?:\.{3})? is not valid JSON$/, '')
}

/** @throws ServiceError of the limit or, when the body breaks off, `malformed_request`. */
export async function readBody(
  payload: Readable,
  headers: IncomingHttpHeaders,
  { maxBytes, tooLarge }: BodyLimit = BODY_LIMIT,
): Promise<Buffer> {
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge()
  waiting.get(payload)?.writeContinue()
  waiting.delete(payload)
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let receivedBytes = 0
    const finish = (settle: () => void) => {
      payload.off('data', onData).off('end', onEnd).off('error', onError)
      settle()
    }
    const onData = (chunk: Buffer) => {
      receivedBytes += chunk.length
      chunks.push(chunk)
      if (receivedBytes <= maxBytes) return
      finish(() => reject(tooLarge()))
      // The rest is dropped.
      payload.resume()
    }
    // Nothing comes after it, and each request would pay for taking the listeners off.
    const onEnd = () => resolve(joinChunks(chunks, receivedBytes))
    const onError = () =>
      finish(() => reject(new ServiceError('malformed_request', { message: 'the body broke off.' })))
    payload.on('data', onData).on('end', onEnd).on('error', onError)
  })
}

function joinChunks(chunks: readonly Buffer[], bytes: number): Buffer {
  const [only] = chunks
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, bytes)
}
