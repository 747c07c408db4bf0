/**
 * Drops what still comes of a body when its request has been answered, as after a refusal: reading it lets the client see the
 * answer. One chunk of one connection to a turn of the event loop, because Node alone would read megabytes of every
 * connection in each turn. `guard-connections.ts` cuts what does not come to its end.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { ownTurn } from '../../core/concurrency/turns.ts'
import { JoinedRequest } from '../requests/joined-request.ts'

/** Less is read at once: it fits into one chunk. */
const SMALL_BYTES = 65_536

/** Call before the server listens. */
export function dropBodiesSlowly(server: Server): void {
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (mayBringLargeBody(request)) response.prependOnceListener('finish', () => dropRest(request))
  })
}

function dropRest(request: IncomingMessage): void {
  if (request.complete || request.destroyed) return
  const { socket } = request
  if (request instanceof JoinedRequest && request.fault !== null) return socket.destroySoon()
  request.once('fault', () => socket.destroy())
  // Where the connection closes after the answer, Node would close it now, and reset it under what the client still sends,
  // which loses the client the answer.
  const closeAfterBody = () => void request.once('end', () => socket.destroySoon())
  socket.destroySoon = closeAfterBody
  request.once('end', () => {
    // A later request's body may have begun to come: the connection waits for that one.
    if (socket.destroySoon === closeAfterBody) Reflect.deleteProperty(socket, 'destroySoon')
  })
  // From a request that was never read Node would now drop all at once.
  request.read(0)
  request.on('data', () => {
    request.pause()
    void ownTurn().then(() => request.resume())
  })
  request.resume()
}

/** Looks at the raw headers, since Node makes the others on first use. Runs for every request. */
function mayBringLargeBody({ rawHeaders }: IncomingMessage): boolean {
  // Names and values alternate.
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const { length } = rawHeaders[index] ?? ''
    if (length !== CONTENT_LENGTH.length && length !== TRANSFER_ENCODING.length) continue
    const name = rawHeaders[index]?.toLowerCase()
    if (name === TRANSFER_ENCODING) return true
    if (name === CONTENT_LENGTH) return Number(rawHeaders[index + 1]) > SMALL_BYTES
  }
  return false
}

const CONTENT_LENGTH = 'content-length'
const TRANSFER_ENCODING = 'transfer-encoding'
