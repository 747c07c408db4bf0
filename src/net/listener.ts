/**
 * Everything between a socket and the HTTP server: the ports of `--port-knock`, TLS, and the server's own port. Opens
 * them in that order and closes them again; or takes connections from another process, which has the ports. Requests are the
 * concern of the app behind it.
 */
import type { Socket } from 'node:net'
import type { Clock } from '../core/clock.ts'
import type { LogWriter } from '../core/log-writer.ts'
import type { Knocks } from '../core/shared-state.ts'
import {
  acceptConnection,
  addressesOf,
  addressUrl,
  type ListeningApp,
  openPort,
  openPortForOthers,
  type OpenPort,
} from './listen.ts'
import { guardByKnock, type KnockRule, openKnockPorts } from './port-knock/knock-gate.ts'
import type { TlsIdentity } from './tls/certificate.ts'
import { CertificateReloader } from './tls/certificate-reloader.ts'
import { SecureConnections } from './tls/secure-connections.ts'

/** Where connections come from that another process has accepted. */
export interface ConnectionSource {
  open(accept: (socket: Socket) => void): void
  /** Resolves when none of those that came is open. */
  ended(): Promise<void>
  /** What comes from then on goes back. */
  close(): void
}

export interface Listener {
  /** `https://127.0.0.1:8080`; empty where another process has the ports. */
  readonly address: string
  /** Reads the TLS files again. */
  reloadCertificate(): Promise<void>
  /** In Unix seconds; null without TLS. */
  certificateExpiresAt(): number | null
  /**
   * Takes no new connections at every port but the app's own; those that are open stay. Resolves when no connection from another process
   * is left.
   */
  leave(): Promise<void>
  /** Closes every port but the app's own, which the app closes. */
  close(): Promise<void>
}

export interface ListenerOptions {
  readonly host: string
  readonly port: number
  /** Null for plain HTTP. */
  readonly tls: TlsIdentity | null
  readonly portKnock: KnockOptions | null
  /** Null where the ports are opened here. */
  readonly source: ConnectionSource | null
  /** Called for each connection that the knock gate closes. */
  readonly onKnockRefused: (rule: KnockRule) => void
  readonly clock: Clock
  readonly log: LogWriter
}

/** Null where the server answers without a knock. */
type KnockOptions = { readonly ports: readonly number[]; readonly knocks: Knocks }

/** @throws StartError for a knock port, Node's own error for the server's address, that cannot be listened on. */
export async function openListener(app: ListeningApp, options: ListenerOptions): Promise<Listener> {
  const { tls, portKnock, source, onKnockRefused } = options
  const secure = tls === null ? null : secureConnections(app, { ...options, tls })
  if (portKnock !== null) guardByKnock(app.server, { knocks: portKnock.knocks, onRefused: onKnockRefused })
  try {
    const ports =
      source === null
        ? await openPorts(options, (where) => openPort(app, where))
        : await takeConnections(app, source)
    return {
      address: ports.address,
      reloadCertificate: async () => secure?.reloader.reload(),
      certificateExpiresAt: () => secure?.connections.certificateExpiresAt ?? null,
      leave: async () => {
        ports.close()
        await source?.ended()
      },
      close: async () => {
        ports.close()
        source?.close()
        secure?.connections.close()
        await secure?.reloader.close()
      },
    }
  } catch (error) {
    await secure?.reloader.close()
    throw error
  }
}

export interface OpenPorts {
  readonly address: string
  /** Every port but one that the app has. */
  close(): void
}

type PortsOptions = Pick<ListenerOptions, 'host' | 'port' | 'tls' | 'portKnock' | 'log'>

/**
 * Opens the ports of a service whose connections other processes answer.
 * @throws as `openListener`
 */
export async function openPortsForOthers(
  options: PortsOptions,
  onConnection: (socket: Socket) => void,
): Promise<OpenPorts> {
  return await openPorts(options, (where) => openPortForOthers(where, onConnection))
}

async function openPorts(
  { host, port, tls, portKnock, log }: PortsOptions,
  openOwn: (where: { readonly hosts: readonly string[]; readonly port: number }) => Promise<OpenPort>,
): Promise<OpenPorts> {
  const hosts = await addressesOf(host)
  // Before the server's own port, which may be any free one.
  const knockPorts =
    portKnock === null ? null : await openKnockPorts(portKnock.knocks, { ports: portKnock.ports, hosts, log })
  try {
    const own = await openOwn({ hosts, port })
    return {
      address: addressUrl(own.address, tls === null ? 'http' : 'https'),
      close: () => {
        knockPorts?.close()
        own.close()
      },
    }
  } catch (error) {
    knockPorts?.close()
    throw error
  }
}

async function takeConnections(app: ListeningApp, source: ConnectionSource): Promise<OpenPorts> {
  await app.ready()
  // For what a server does from then on, Node's own time-outs included; it listens nowhere.
  app.server.emit('listening')
  source.open((socket) => {
    // As for one that the server has accepted itself.
    socket.allowHalfOpen = true
    acceptConnection(app.server, socket)
  })
  return { address: '', close: () => {} }
}

function secureConnections(
  { server }: ListeningApp,
  { tls, clock, log }: ListenerOptions & { readonly tls: TlsIdentity },
) {
  const connections = new SecureConnections(server, { certificate: tls.certificate, log })
  const reloader = new CertificateReloader({ ...tls, onNew: (one) => connections.use(one), clock, log })
  return { connections, reloader }
}
