/**
 * TLS in front of an HTTP server: every connection shakes hands first, and what goes on to HTTP is the decrypted one. The
 * HTTP server stays what it is, with all its limits and time-outs. The certificate can be replaced at any time:
 * connections that stand keep theirs, new ones get the new one.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { createServer, type Server as TlsServer } from 'node:tls'
import { interceptConnections } from '../net/intercept-connections.ts'
import type { Log } from '../telemetry/log.ts'
import { type Certificate, MIN_TLS_VERSION } from './certificate.ts'

const HANDSHAKE_TIMEOUT_MS = 10_000

export interface SecureConnectionsOptions {
  readonly certificate: Certificate
  readonly log: Log
  /** Time a client has to shake hands. @default 10000 */
  readonly handshakeTimeoutMs?: number
}

export class SecureConnections {
  /** Never listens: connections are handed to it. */
  readonly #tlsServer: TlsServer
  /** Connections that still shake hands, of which the HTTP server knows nothing. */
  readonly #shaking = new Map<string, Socket>()

  constructor(
    server: Server,
    { certificate, log, handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS }: SecureConnectionsOptions,
  ) {
    this.#tlsServer = createServer({
      ...secureContextOf(certificate),
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: handshakeTimeoutMs,
    })
    // Anyone can send what is no TLS: nothing to trouble an operator with.
    this.#tlsServer.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
      log.debug({ code: error.code }, 'a TLS handshake failed')
      socket.destroy()
    })
    interceptConnections(server, 'tls', (passOn) => {
      this.#tlsServer.on('secureConnection', (socket) => {
        this.#shaking.delete(nameOf(socket))
        passOn(socket)
      })
      return (socket) => this.#shakeHands(socket)
    })
  }

  /** Connections that still shake hands. */
  get shakingCount(): number {
    return this.#shaking.size
  }

  use(certificate: Certificate): void {
    this.#tlsServer.setSecureContext(secureContextOf(certificate))
  }

  /** Ends the connections that still shake hands. */
  close(): void {
    for (const socket of this.#shaking.values()) socket.destroy()
  }

  #shakeHands(socket: Socket): void {
    const name = nameOf(socket)
    this.#shaking.set(name, socket)
    socket.once('close', () => {
      if (this.#shaking.get(name) === socket) this.#shaking.delete(name)
    })
    // As a TLS server takes its connections: a client that hangs up meanwhile is gone.
    socket.allowHalfOpen = false
    this.#tlsServer.emit('connection', socket)
  }
}

function secureContextOf({ cert, key }: Certificate) {
  return { cert, key, minVersion: MIN_TLS_VERSION } as const
}

/** The same for a connection and for the decrypted one that it carries; Node has no public way from one to the other. */
function nameOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
