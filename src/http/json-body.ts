/**
 * Reads a JSON body. An empty one counts as none whatever its type. One over the limit is read to its end before it is
 * refused, because closing the connection on a client that still writes would lose it the answer.
 */
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { ServiceError } from '../core/errors.ts'

export const MAX_BODY_BYTES = 8 * 1024 * 1024

/** Beyond this a client that keeps sending is cut off. */
const MAX_DISCARDED_BYTES = 8 * MAX_BODY_BYTES

/** Undefined when there is no body. @throws ServiceError saying what is wrong with it. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request)
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
  try {
    // RFC 8259 lets a reader ignore a byte order mark, which some clients send.
    const text = body.toString('utf8')
    return JSON.parse(text.startsWith('\u{FEFF}') ? text.slice(1) : text)
  } catch (error) {
    throw new ServiceError('malformed_json', { message: withoutExcerpt(error) })
  }
}

/** In UTF-8, as JSON always is: in another `charset` it would be read wrongly. */
function isJson(mediaType: string): boolean {
  if (mediaType === 'application/json') return true
  const [type, ...parameters] = mediaType.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  return type === 'application/json' && (charset === undefined || /^charset="?utf-?8"?$/.test(charset))
}

/** The parser quotes what stands around a mistake, which in a body with a password may be the password. */
function withoutExcerpt(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  return message
    .replace(/^"[\s\S]*" is not valid JSON$/, 'Not JSON')
    .replace(/,? (?:\.{3})?"[\s\S]*"(?:\.{3})? is not valid JSON$/, '')
}

/** @throws ServiceError `body_too_large` or, when it breaks off, `malformed_request`. */
export function readBody(payload: Readable): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let receivedBytes = 0
    const finish = (settle: () => void) => {
      payload.off('data', onData).off('end', onEnd).off('error', onError)
      settle()
    }
    const tooLarge = () => reject(new ServiceError('body_too_large', { maxBytes: MAX_BODY_BYTES }))
    const onData = (chunk: Buffer) => {
      receivedBytes += chunk.length
      if (receivedBytes <= MAX_BODY_BYTES) chunks.push(chunk)
      else if (receivedBytes > MAX_DISCARDED_BYTES) finish(tooLarge)
      else chunks.length = 0
    }
    const onEnd = () =>
      finish(receivedBytes > MAX_BODY_BYTES ? tooLarge : () => resolve(joinChunks(chunks, receivedBytes)))
    const onError = () =>
      finish(() => reject(new ServiceError('malformed_request', { message: 'the body broke off.' })))
    payload.on('data', onData).on('end', onEnd).on('error', onError)
  })
}

function joinChunks(chunks: readonly Buffer[], bytes: number): Buffer {
  const [only] = chunks
  return only !== undefined && chunks.length === 1 ? only : Buffer.concat(chunks, bytes)
}
