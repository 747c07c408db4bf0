/**
 * Bounds the connections of one address, and among them the half-open ones, whose request head or body has not arrived.
 * The oldest half-open connections are closed for new ones, so that a client which sends slowly on purpose does not shut
 * out its neighbours behind the same address.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '../../core/clock.ts'
import { addressKey } from '../client-address.ts'
import { onExchangeEnd } from './client-presence.ts'
import { interceptConnections } from './intercept-connections.ts'

export const ADDRESS_BOUNDS = {
  maxConnections: 256,
  maxHalfOpen: 32,
  /** An incomplete request counts from this age on: a burst of new connections is not half-open. */
  halfOpenAfterMs: 1000,
} as const

export interface AddressLimitOptions {
  readonly clock: Clock
  readonly isExempt: (address: string) => boolean
  /** Called for each connection that is closed. */
  readonly onCut: (rule: 'connections' | 'half-open') => void
}

interface Connection {
  readonly socket: Socket
  request: IncomingMessage | null
  isAnswering: boolean
  /** Bytes that had come when the last answer was out. */
  bytesReadMark: number
  /** Since when the next request may be on its way. */
  waitingSinceMs: number
}

/** Call before the server listens. */
export function limitAddressConnections(server: Server, options: AddressLimitOptions): void {
  const { clock, isExempt, onCut } = options
  const byAddress = new Map<string, Set<Connection>>()
  /** By both ends: the socket of a request over TLS is not the one that was accepted. */
  const byPeer = new Map<string, Connection>()

  const admit = (socket: Socket): boolean => {
    const address = socket.remoteAddress ?? ''
    if (address === '' || isExempt(address)) return true
    const key = addressKey(address)
    const connections = byAddress.get(key) ?? new Set()
    const nowMs = clock.nowMs()
    if (connections.size >= ADDRESS_BOUNDS.maxHalfOpen) cutHalfOpen(connections, nowMs)
    if (connections.size >= ADDRESS_BOUNDS.maxConnections) {
      onCut('connections')
      cut(socket)
      return false
    }
    const connection = {
      socket,
      request: null,
      isAnswering: false,
      bytesReadMark: 0,
      waitingSinceMs: nowMs,
    }
    const peer = peerOf(socket)
    connections.add(connection)
    byAddress.set(key, connections)
    byPeer.set(peer, connection)
    socket.once('close', () => {
      connections.delete(connection)
      // Another connection may have the port by now.
      if (byPeer.get(peer) === connection) byPeer.delete(peer)
      if (connections.size === 0 && byAddress.get(key) === connections) byAddress.delete(key)
    })
    return true
  }
  // Before TLS: open handshakes count as connections.
  interceptConnections(server, 'address-limit', (passOn) => (socket) => {
    if (admit(socket)) passOn(socket)
  })

  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const connection = byPeer.get(peerOf(request.socket))
    if (connection === undefined) return
    connection.request = request
    connection.isAnswering = true
    onExchangeEnd(request, response, () => {
      // One that was pipelined behind it has taken over.
      if (connection.request !== request) return
      connection.isAnswering = false
      connection.bytesReadMark = request.socket.bytesRead
      connection.waitingSinceMs = clock.nowMs()
    })
  })

  function cutHalfOpen(connections: Set<Connection>, nowMs: number): void {
    // In the order in which they came.
    const halfOpen = [...connections].filter(
      (connection) =>
        isHalfOpen(connection) && connection.waitingSinceMs + ADDRESS_BOUNDS.halfOpenAfterMs <= nowMs,
    )
    const excess = halfOpen.length - ADDRESS_BOUNDS.maxHalfOpen + 1
    for (const connection of halfOpen.slice(0, Math.max(0, excess))) {
      onCut('half-open')
      // At once: its `close` event comes later, and the count is needed now.
      connections.delete(connection)
      cut(connection.socket)
    }
  }
}

/** A socket that its client has reset meanwhile emits an error. */
function cut(socket: Socket): void {
  socket.on('error', () => {})
  socket.destroy()
}

function isHalfOpen({ request, isAnswering, bytesReadMark }: Connection): boolean {
  if (request === null || !request.complete) return true
  return !isAnswering && request.socket.bytesRead > bytesReadMark
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
