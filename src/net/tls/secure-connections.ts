/**
 * TLS in front of an HTTP server: every connection completes its handshake first, and the decrypted socket goes on to
 * the HTTP server, which keeps all its limits and time-outs. A step of `intercept-connections.ts`, so that knock and
 * address limits come before the handshake. The certificate can be replaced at any time: open connections keep theirs.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { createServer, type Server as TlsServer } from 'node:tls'
import type { LogWriter } from '../../core/log-writer.ts'
import { interceptConnections } from '../connections/intercept-connections.ts'
import { type Certificate, MIN_TLS_VERSION } from './certificate.ts'

const HANDSHAKE_TIMEOUT_MS = 10_000

export interface SecureConnectionsOptions {
  readonly certificate: Certificate
  readonly log: LogWriter
  /** Time a client has for its handshake. @default 10000 */
  readonly handshakeTimeoutMs?: number
}

export class SecureConnections {
  /** Never listens: connections are handed to it. */
  readonly #tlsServer: TlsServer
  #certificateExpiresAt: number
  /** Connections in their handshake, which the HTTP server does not know yet. */
  readonly #handshakes = new Map<string, Socket>()

  constructor(
    server: Server,
    { certificate, log, handshakeTimeoutMs = HANDSHAKE_TIMEOUT_MS }: SecureConnectionsOptions,
  ) {
    this.#certificateExpiresAt = certificate.validToUnixSeconds
    this.#tlsServer = createServer({
      ...secureContextOf(certificate),
      ALPNProtocols: ['http/1.1'],
      handshakeTimeout: handshakeTimeoutMs,
    })
    // Any client can cause one, so it is not logged as a warning.
    this.#tlsServer.on('tlsClientError', (error: NodeJS.ErrnoException, socket) => {
      log.debug({ code: error.code }, 'a TLS handshake failed')
      socket.destroy()
    })
    interceptConnections(server, 'tls', (passOn) => {
      this.#tlsServer.on('secureConnection', (socket) => {
        this.#handshakes.delete(nameOf(socket))
        passOn(socket)
      })
      return (socket) => this.#startHandshake(socket)
    })
  }

  /** Connections in their handshake. */
  get handshakeCount(): number {
    return this.#handshakes.size
  }

  /** Of the one that new connections get, in Unix seconds. */
  get certificateExpiresAt(): number {
    return this.#certificateExpiresAt
  }

  /** Uses another certificate for new connections. */
  use(certificate: Certificate): void {
    this.#tlsServer.setSecureContext(secureContextOf(certificate))
    this.#certificateExpiresAt = certificate.validToUnixSeconds
  }

  /** Ends the connections in their handshake. */
  close(): void {
    for (const socket of this.#handshakes.values()) socket.destroy()
  }

  #startHandshake(socket: Socket): void {
    const name = nameOf(socket)
    this.#handshakes.set(name, socket)
    socket.once('close', () => {
      if (this.#handshakes.get(name) === socket) this.#handshakes.delete(name)
    })
    // As in Node's own TLS servers: a client that hangs up during the handshake is gone.
    socket.allowHalfOpen = false
    this.#tlsServer.emit('connection', socket)
  }
}

function secureContextOf({ cert, key }: Certificate) {
  return { cert, key, minVersion: MIN_TLS_VERSION } as const
}

/** The same text for a connection and for its decrypted socket, which Node's public API does not link. */
function nameOf({ remoteAddress, remotePort, localAddress, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`
}
