/**
 * Whether the client is still connected. A client that leaves aborts its request at once, in any state. Watches the
 * socket as well as the response: a pipelined response has no socket, and emits nothing, until its turn.
 */
import { setMaxListeners } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** On record for a client that left before its answer was written; never sent. */
export const CLIENT_GONE_STATUS = 499

/** One for a connection, whose requests lose their client together: making one costs as much as reading a request. */
const controllers = new WeakMap<Socket, AbortController>()

/** Aborts when the connection closes before the answer has been written. */
export function watchClient(request: IncomingMessage, response: ServerResponse): AbortSignal {
  const controller = controllerOf(request.socket)
  onExchangeEnd(request, response, () => {
    if (!response.writableEnded) controller.abort(new DOMException('The client has left.', 'AbortError'))
  })
  return controller.signal
}

function controllerOf(socket: Socket): AbortController {
  const known = controllers.get(socket)
  if (known !== undefined && !known.signal.aborted) return known
  const controller = new AbortController()
  // One listener for each request that is pipelined, and for each prompt of a batch that is queued one by one.
  setMaxListeners(0, controller.signal)
  controllers.set(socket, controller)
  return controller
}

/** Callbacks at the end of an exchange; null when it has ended. */
const waiting = new WeakMap<ServerResponse, { callbacks: (() => void)[] | null }>()

/** Calls back once, when the answer has been written or the connection is gone. */
export function onExchangeEnd(
  { socket }: IncomingMessage,
  response: ServerResponse,
  callback: () => void,
): void {
  const known = waiting.get(response)
  if (socket.destroyed || known?.callbacks === null) return callback()
  if (known !== undefined) return void known.callbacks.push(callback)
  const exchange: { callbacks: (() => void)[] | null } = { callbacks: [callback] }
  waiting.set(response, exchange)
  const end = (): void => {
    socket.off('close', end)
    response.off('close', end)
    // Node closes the response inside the socket's `close` event, when this listener can no longer be removed.
    const callbacks = exchange.callbacks ?? []
    exchange.callbacks = null
    for (const callback of callbacks) callback()
  }
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
