/**
 * From the bytes of a body to its JSON value. An empty one counts as none whatever its type. Of a name that occurs twice in
 * an object the last value counts, as in `JSON.parse`. Small bodies are parsed at once, large ones in slices between which
 * the event loop goes on. Called by both servers after `read-body.ts`.
 */
import { isUtf8 } from 'node:buffer'
import type { IncomingHttpHeaders } from 'node:http'
import { ownTurn } from '../../core/concurrency/turns.ts'
import { ServiceError } from '../../core/errors.ts'
import { JsonParser, MAX_JSON_DEPTH, parseText, tooDeep } from './json-parser.ts'

/** Parsed at once, in a few milliseconds whatever they hold; too small to hold more values than a large body may. */
const MAX_BYTES_AT_ONCE = 65_536

const BYTE_ORDER_MARK = Buffer.from('\u{FEFF}')

/** @throws ServiceError `unsupported_media_type`, `malformed_request` for a compressed body, or `malformed_json`. */
export async function parseJsonBody(body: Buffer, headers: IncomingHttpHeaders): Promise<unknown> {
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
  return body.length > MAX_BYTES_AT_ONCE ? await parseInSlices(body) : parseAtOnce(body)
}

/** RFC 8259 lets a reader ignore a byte order mark, which some clients send. */
function startOf(body: Buffer): number {
  return body.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
}

function parseAtOnce(body: Buffer): unknown {
  const value = parseText(body.toString('utf8', startOf(body)))
  if (isDeeperThan(value, MAX_JSON_DEPTH)) throw tooDeep()
  return value
}

async function parseInSlices(body: Buffer): Promise<unknown> {
  const parser = new JsonParser(body, startOf(body))
  do await ownTurn()
  while (!parser.advance())
  return parser.result
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
