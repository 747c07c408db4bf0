/**
 * Whether the client is still there. One that leaves aborts its request at once, wherever that stands. Watches the
 * socket as well as the response: a pipelined response has no socket, and hears nothing, until it is its turn.
 */
import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Aborts when the connection closes before the answer has been written. */
export function watchClient(request: IncomingMessage, response: ServerResponse): AbortSignal {
  const controller = new AbortController()
  // One listener for each prompt of a batch that is queued one by one.
  setMaxListeners(0, controller.signal)
  onExchangeEnd(request, response, () => {
    if (!response.writableEnded) controller.abort(new DOMException('The client has left.', 'AbortError'))
  })
  return controller.signal
}

/** Calls back once, when the answer has been written or the connection is gone. */
export function onExchangeEnd(
  { socket }: IncomingMessage,
  response: ServerResponse,
  callback: () => void,
): void {
  let hasEnded = false
  const end = (): void => {
    socket.off('close', end)
    response.off('close', end)
    // Node closes the response while it tells of the socket's end, when this listener can no longer be taken off.
    if (!hasEnded) callback()
    hasEnded = true
  }
  if (socket.destroyed) return end()
  // As many as are pipelined.
  socket.setMaxListeners(0)
  socket.once('close', end)
  response.once('close', end)
}

const callbacksAtEnd = new WeakMap<Socket, Set<() => void>>()

/**
 * Calls back when the connection is gone, until the function that it gives is called. All requests of a connection share
 * one listener, because each request would pay for its own.
 */
export function onConnectionEnd(socket: Socket, callback: () => void): () => void {
  if (socket.destroyed) {
    callback()
    return () => {}
  }
  const callbacks = callbacksAtEnd.get(socket) ?? listenForEnd(socket)
  callbacks.add(callback)
  return () => void callbacks.delete(callback)
}

function listenForEnd(socket: Socket): Set<() => void> {
  const callbacks = new Set<() => void>()
  callbacksAtEnd.set(socket, callbacks)
  socket.once('close', () => {
    for (const callback of callbacks) callback()
  })
  return callbacks
}
