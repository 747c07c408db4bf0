/**
 * Cuts connections that cost more than they ask for: too many at once, too many requests on one before an answer, answers
 * that are not read, bodies that go on after the answer. What Node's own time-outs end is answered in `client-errors.ts`.
 *
 * The last two are found in rounds over all connections, because a timer or a listener for each request would cost every
 * request. An overdue connection is closed in the next round.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { HttpBounds } from '../http-bounds.ts'
import { dropBodiesSlowly } from './drop-bodies.ts'

/** Requests that may wait on one connection for the answers before them. */
export const MAX_PIPELINED = 32

/** A reader this slow still gets the rest of its answer. */
const MIN_READ_BYTES_PER_SECOND = 4096

/** Rounds in the shorter of the two times that a connection may take. */
export const ROUNDS_PER_BOUND = 6

export type ConnectionRule = 'connections' | 'pipelining' | 'slow-reader' | 'lingering-body'

type RoundRule = 'slow-reader' | 'lingering-body'

interface Connection {
  readonly socket: Socket
  /** In order; those that are finished with stay until the next request or round. */
  readonly responses: ServerResponse[]
  /** What it had to read in the last round, and for how long it has taken nothing of it; null where it had nothing. */
  reading: { readonly unread: Unread; readonly idleMs: number } | null
  /** What the first of the responses still has to come to an end with, and for how long; null where it needs no end. */
  last: { readonly rule: RoundRule; readonly response: ServerResponse | null; leftMs: number } | null
}

/** Two of it are equal when the client has taken nothing in between, whatever was written meanwhile. */
interface Unread {
  /** Bytes of writes that the system has taken off the server's hands. */
  readonly writtenBytes: number
  /** Of the write under way, where Node says it. */
  readonly queuedBytes: number | undefined
}

/** Call before the server listens and before `interceptConnections`. `onCut` is called for each closed connection. */
export function guardConnections(
  server: Server,
  bounds: HttpBounds,
  onCut: (rule: ConnectionRule) => void = () => {},
): void {
  const { slowReaderMs, lingerMs, maxConnections } = bounds
  const roundMs = Math.min(slowReaderMs, lingerMs) / ROUNDS_PER_BOUND
  const connections = new Map<Socket, Connection>()
  const cut = (socket: Socket, rule: ConnectionRule): void => {
    if (socket.destroyed) return
    onCut(rule)
    socket.destroy()
  }
  const look = (connection: Connection, elapsedMs: number): void => {
    const { socket, responses } = connection
    while (responses[0]?.writableFinished === true && responses[0].req.complete) responses.shift()
    connection.reading = readingOf(connection, elapsedMs)
    // Half a round less, because rounds are a little longer or shorter than they should be.
    if ((connection.reading?.idleMs ?? 0) >= slowReaderMs - roundMs / 2) return cut(socket, 'slow-reader')
    const response = responses[0] ?? null
    const rule = findOverdue(socket, response)
    if (rule === null) {
      connection.last = null
    } else if (connection.last?.rule !== rule || connection.last.response !== response) {
      const readMs = (socket.writableLength / MIN_READ_BYTES_PER_SECOND) * 1000
      connection.last = { rule, response, leftMs: rule === 'slow-reader' ? slowReaderMs + readMs : lingerMs }
    } else {
      // Counted in rounds, so that a pause of the process makes no connection overdue.
      connection.last.leftMs -= roundMs
      if (connection.last.leftMs <= 0) cut(socket, rule)
    }
  }

  dropBodiesSlowly(server)
  server.maxConnections = maxConnections
  server.on('drop', () => onCut('connections'))
  server.on('listening', () => {
    let lastRoundMs = performance.now()
    const lookAtAll = (): void => {
      const nowMs = performance.now()
      // The rest is a pause of the process, in which no client could be served.
      const elapsedMs = Math.min(nowMs - lastRoundMs, 2 * roundMs)
      lastRoundMs = nowMs
      for (const connection of connections.values()) look(connection, elapsedMs)
    }
    const timer = setInterval(lookAtAll, roundMs).unref()
    server.once('close', () => clearInterval(timer))
  })
  server.on('connection', (socket: Socket) => {
    // Node counts those only that the server has accepted itself.
    if (connections.size >= maxConnections) return cut(socket, 'connections')
    connections.set(socket, { socket, responses: [], reading: null, last: null })
    socket.once('close', () => connections.delete(socket))
  })
  server.on('timeout', (socket: Socket) => {
    const responses = connections.get(socket)?.responses ?? []
    // Between requests this is Node's keep-alive time-out. A request may wait for its answer much longer.
    if (responses.every(({ writableFinished }) => writableFinished)) socket.destroy()
  })
  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const responses = connections.get(socket)?.responses
    if (responses === undefined) return
    responses.push(response)
    while (responses[0]?.writableFinished === true && responses[0] !== response) responses.shift()
    if (responses.length > MAX_PIPELINED) cut(socket, 'pipelining')
  })
}

/**
 * Node's own timer of a socket takes the part of a write that the system took at once for a sign of life, and starts anew: it
 * ends after twice its time.
 */
function readingOf({ socket, reading }: Connection, elapsedMs: number): Connection['reading'] {
  if (socket.writableLength === 0) return null
  const unread: Unread = {
    writtenBytes: socket.bytesWritten - socket.writableLength,
    queuedBytes: queuedBytes(socket),
  }
  const isIdle =
    reading?.unread.writtenBytes === unread.writtenBytes && reading.unread.queuedBytes === unread.queuedBytes
  return { unread, idleMs: isIdle ? reading.idleMs + elapsedMs : 0 }
}

interface SocketHandle {
  readonly writeQueueSize?: number
  /** Of the connection below, where this one encrypts. Only that one sends. */
  readonly _parent?: SocketHandle
}

/** Node has no public name for what a write under way has not sent yet. */
export function queuedBytes(socket: Socket): number | undefined {
  const { _handle: handle } = socket as { readonly _handle?: SocketHandle | null }
  return (handle?._parent ?? handle)?.writeQueueSize
}

/** Whatever comes after the whole answer was handed over has to come to an end; null where nothing does. */
function findOverdue(socket: Socket, response: ServerResponse | null): RoundRule | null {
  if (response?.writableFinished === true) return response.req.complete ? null : 'lingering-body'
  // A client that reads a byte at a time would never be idle for long.
  return socket.writableLength > 0 && response?.writableEnded !== false ? 'slow-reader' : null
}
