/**
 * Cuts connections that cost more than they ask for: too many at once, too many requests on one before an answer, answers
 * that are not read, bodies that go on after the answer. What Node's own time-outs end is answered in `client-errors.ts`.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpBounds } from './http-bounds.ts'

/** Requests that may wait on one connection for the answers before them. */
export const MAX_PIPELINED = 32

/** A reader this slow still gets the rest of its answer. */
const MIN_READ_BYTES_PER_SECOND = 4096

export type ConnectionRule = 'connections' | 'pipelining' | 'slow-reader' | 'lingering-body'

interface Connection {
  /** Requests that have not been answered. */
  open: number
}

/** Call before the server listens. `onCut` is told each time that a connection is closed by a rule. */
export function guardConnections(
  server: Server,
  bounds: HttpBounds,
  onCut: (rule: ConnectionRule) => void = () => {},
): void {
  const connections = new WeakMap<Socket, Connection>()
  const cut = (socket: Socket, rule: ConnectionRule): void => {
    if (socket.destroyed) return
    onCut(rule)
    socket.destroy()
  }
  const cutAfter = (ms: number, socket: Socket, rule: ConnectionRule): NodeJS.Timeout =>
    setTimeout(() => cut(socket, rule), ms).unref()

  server.maxConnections = bounds.maxConnections
  server.on('drop', () => onCut('connections'))
  // Anything that passes over the socket, in either direction, starts this anew.
  server.setTimeout(bounds.slowReaderMs, (socket) => {
    if (socket.writableLength > 0) cut(socket, 'slow-reader')
    // Between requests this is Node's keep-alive time-out. A request may wait for its answer much longer.
    else if ((connections.get(socket)?.open ?? 0) === 0) socket.destroy()
  })

  /** All of the answer is handed over. One that is read a byte at a time would never stand still for long. */
  function watchReader(this: ServerResponse): void {
    const { socket } = this.req
    if (socket.writableLength === 0) return
    const ms = bounds.slowReaderMs + (socket.writableLength / MIN_READ_BYTES_PER_SECOND) * 1000
    const timer = cutAfter(ms, socket, 'slow-reader')
    this.once('close', () => clearTimeout(timer))
  }
  /** The answer is written, or the connection is gone, when the count is nobody's any more. */
  function endExchange(this: ServerResponse): void {
    const connection = connections.get(this.req.socket)
    if (connection !== undefined) connection.open--
    watchBody.call(this)
  }
  function watchBody(this: ServerResponse): void {
    const request = this.req
    const { socket } = request
    if (request.complete || socket.destroyed) return
    const timer = cutAfter(bounds.lingerMs, socket, 'lingering-body')
    request.once('close', () => clearTimeout(timer))
  }
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    // Answered already, by a listener before this one: only its own body may still be to come.
    if (response.writableEnded && response.socket === socket && socket.writableLength === 0) {
      response.on('close', watchBody)
      return
    }
    let connection = connections.get(socket)
    if (connection === undefined) connections.set(socket, (connection = { open: 0 }))
    connection.open++
    // The same two functions for each request, because each request pays for what is made for it.
    if (response.writableEnded) watchReader.call(response)
    else response.on('prefinish', watchReader)
    response.on('close', endExchange)
    if (connection.open > MAX_PIPELINED) cut(socket, 'pipelining')
  })
}
