/**
 * Whether the client is still there. A client that leaves aborts its request at once, wherever it stands: waiting for
 * a model, queued, running, streamed or not. Node's `request.signal` is of no use for it: that one already
 * aborts when the body has been read.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'

/** The reason of the signal's abort. */
class ClientGoneError extends Error {
  override readonly name = 'AbortError'

  constructor() {
    super('The client has left.')
  }
}

export function watchClient({
  request,
  reply,
}: {
  request: FastifyRequest
  reply: FastifyReply
}): AbortSignal {
  const controller = new AbortController()
  const leave = () => {
    if (!reply.raw.writableEnded) controller.abort(new ClientGoneError())
  }
  if (request.raw.socket.destroyed || reply.raw.destroyed) leave()
  // A pipelined request waits for its turn on the socket; until then its response does not hear of the end.
  if (reply.raw.socket === null) {
    const { socket } = request.raw
    socket.once('close', leave)
    reply.raw.once('close', () => socket.off('close', leave))
  }
  reply.raw.once('close', leave)
  return controller.signal
}
