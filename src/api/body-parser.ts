/**
 * Reads and parses request bodies. A route without a body schema ignores whatever body it gets, an empty body
 * counts as none whatever its type, and a body over the limit is read to its end before it is refused: closing the
 * connection on a client that still writes would lose it the answer.
 */
import { isUtf8 } from 'node:buffer'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { ServiceError } from '../core/errors.ts'

export const MAX_BODY_BYTES = 8 * 1024 * 1024

/** Beyond this a client that keeps sending is cut off. */
const MAX_DISCARDED_BYTES = 8 * MAX_BODY_BYTES

export function registerBodyParsers(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: Readable) => {
    const body = await readBody(payload)
    if (request.routeOptions.schema?.body === undefined || body.length === 0) return undefined
    const mediaType = request.headers['content-type']
    if (!isJson(mediaType)) throw new ServiceError('unsupported_media_type', { given: mediaType ?? '' })
    return parseJson(body)
  })
}

function isJson(mediaType: string | undefined): boolean {
  return mediaType !== undefined && /^application\/json\s*(?:;|$)/i.test(mediaType)
}

function parseJson(body: Buffer): unknown {
  if (!isUtf8(body)) throw new ServiceError('malformed_json', { message: 'it is not valid UTF-8.' })
  try {
    return JSON.parse(body.toString('utf8'))
  } catch (error) {
    throw new ServiceError('malformed_json', { message: error instanceof Error ? error.message : '' })
  }
}

function readBody(payload: Readable): Promise<Buffer> {
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
      finish(receivedBytes > MAX_BODY_BYTES ? tooLarge : () => resolve(Buffer.concat(chunks, receivedBytes)))
    const onError = () =>
      finish(() => reject(new ServiceError('malformed_request', { message: 'the body broke off.' })))
    payload.on('data', onData).on('end', onEnd).on('error', onError)
  })
}
