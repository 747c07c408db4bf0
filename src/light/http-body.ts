/**
 * Reads a JSON body. An empty one counts as none whatever its type. One over the limit is read to its end before it is
 * refused, because closing the connection on a client that still writes would lose it the answer.
 */
import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { ServiceError } from '../core/errors.ts'

export const MAX_BODY_BYTES = 8 * 1024 * 1024

/** Beyond this a client that keeps sending is cut off. */
const MAX_DISCARDED_BYTES = 8 * MAX_BODY_BYTES

/** Undefined when there is no body. @throws ServiceError saying what is wrong with it. */
export async function readJsonBody(request: IncomingMessage): Promise<unknown> {
  const body = await readBody(request)
  if (body.length === 0) return undefined
  const mediaType = request.headers['content-type'] ?? ''
  if (!/^application\/json\s*(?:;|$)/i.test(mediaType)) {
    throw new ServiceError('unsupported_media_type', { given: mediaType })
  }
  if (!isUtf8(body)) throw new ServiceError('malformed_json', { message: 'it is not valid UTF-8.' })
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    throw new ServiceError('malformed_json', { message: error instanceof Error ? error.message : '' })
  }
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  let receivedBytes = 0
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) {
      receivedBytes += chunk.length
      if (receivedBytes <= MAX_BODY_BYTES) chunks.push(chunk)
      else chunks.length = 0
      // Leaving the loop early closes the connection.
      if (receivedBytes > MAX_DISCARDED_BYTES) break
    }
  } catch (cause) {
    throw new ServiceError('malformed_request', { message: 'the body broke off.' }, { cause })
  }
  if (receivedBytes > MAX_BODY_BYTES) throw new ServiceError('body_too_large', { maxBytes: MAX_BODY_BYTES })
  return Buffer.concat(chunks, receivedBytes)
}
