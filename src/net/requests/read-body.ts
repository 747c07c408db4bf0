/**
 * Reads the bytes of a body, for both servers. One over its limit is refused as soon as that is known, from its declared
 * length when there is one; one that the budget has no room for, when its bytes come. What still comes of either is dropped
 * (`drop-bodies.ts`). `json-body.ts` makes values of the bytes.
 */
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { ServiceError } from '../../core/errors.ts'
import { type BodyHold, UNCOUNTED_BODY_BYTES } from './body-budget.ts'
import { BodyPieces } from './body-pieces.ts'
import { JoinedRequest } from './joined-request.ts'

/** The most that any route takes. */
export const MAX_BODY_BYTES = 8 * 1024 * 1024

export interface BodyLimit {
  readonly maxBytes: number
  /** What a larger one is refused with. */
  readonly tooLarge: () => ServiceError
}

export function bodyLimit(maxBytes: number): BodyLimit {
  return { maxBytes, tooLarge: () => new ServiceError('body_too_large', { maxBytes }) }
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

export interface ReadOptions {
  readonly headers: IncomingHttpHeaders
  readonly limit: BodyLimit
  /** Opened for a body that is counted. */
  readonly openHold: () => BodyHold
}

/** @throws ServiceError of the limit, `too_many_bodies` or, when the body breaks off, `malformed_request`. */
export async function readBody(
  payload: Readable,
  { headers, limit, openHold }: ReadOptions,
): Promise<Buffer> {
  if (Number(headers['content-length'] ?? 0) > limit.maxBytes) throw limit.tooLarge()
  waiting.get(payload)?.writeContinue()
  waiting.delete(payload)
  const fault = () => (payload instanceof JoinedRequest ? payload.fault : null)
  if (fault() !== null) throw fault()
  return takeReceived(payload, headers) ?? (await readPieces(payload, { limit, openHold, fault }))
}

/** A small body that came with its head, as nearly all do, is there as one piece by now; null for any other. */
function takeReceived(payload: Readable, headers: IncomingHttpHeaders): Buffer | null {
  const length = Number(headers['content-length'] ?? 0)
  const isWhole = length > 0 && length <= UNCOUNTED_BODY_BYTES && payload.readableLength === length
  return isWhole && !payload.errored ? (payload.read() as Buffer | null) : null
}

interface PiecesOptions extends Pick<ReadOptions, 'limit' | 'openHold'> {
  /** What ended a body that its reader has not seen. */
  readonly fault: () => ServiceError | null
}

function readPieces(payload: Readable, { limit, openHold, fault }: PiecesOptions): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces = new BodyPieces()
    let receivedBytes = 0
    let hold: BodyHold | null = null
    const finish = (settle: () => void) => {
      payload.off('data', onData).off('end', onEnd).off('error', onError).off('fault', onFault)
      settle()
    }
    const refuse = (error: unknown) => {
      finish(() => reject(error))
      pieces.take()
      // The rest is dropped when the refusal has been sent.
      payload.pause()
    }
    const onData = (chunk: Buffer) => {
      receivedBytes += chunk.length
      if (receivedBytes > limit.maxBytes) return refuse(limit.tooLarge())
      if (receivedBytes > UNCOUNTED_BODY_BYTES) {
        try {
          if (hold === null) (hold = openHold()).take(receivedBytes)
          else hold.take(chunk.length)
        } catch (error) {
          return refuse(error)
        }
      }
      pieces.add(chunk)
    }
    // Nothing comes after it, and each request would pay for taking the listeners off.
    const onEnd = () => resolve(pieces.take())
    const onError = () => refuse(new ServiceError('malformed_request', { message: 'the body broke off.' }))
    const onFault = () => refuse(fault())
    payload.on('data', onData).on('end', onEnd).on('error', onError).on('fault', onFault)
  })
}
