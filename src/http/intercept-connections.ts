/**
 * Puts a step before all that a server does with a new connection: no byte is read before the step passes it on. What
 * is put before last comes first. Whoever listens to `connection` must have begun before.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'

/** Hands a connection on; the one it passes may be another that carries the bytes of the first. */
export type PassOn = (socket: Socket) => void

export function interceptConnections(server: Server, createStep: (passOn: PassOn) => PassOn): void {
  const listeners = server.listeners('connection')
  server.removeAllListeners('connection')
  server.on(
    'connection',
    createStep((socket) => {
      for (const listener of listeners) Reflect.apply(listener, server, [socket])
    }),
  )
}
