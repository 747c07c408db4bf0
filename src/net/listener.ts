/**
 * Everything between a socket and the HTTP server: the ports of `--port-knock`, TLS, and the server's own port. Opens
 * them in that order and closes them again. Requests are the concern of the app behind it.
 */
import type { Clock } from '../core/clock.ts'
import type { LogWriter } from '../core/log-writer.ts'
import type { Knocks } from '../core/shared-state.ts'
import { addressesOf, addressUrl, type ListeningApp, openPort } from './listen.ts'
import { guardByKnock, type KnockPorts, type KnockRule, openKnockPorts } from './port-knock/knock-gate.ts'
import type { TlsIdentity } from './tls/certificate.ts'
import { CertificateReloader } from './tls/certificate-reloader.ts'
import { SecureConnections } from './tls/secure-connections.ts'

export interface Listener {
  /** `https://127.0.0.1:8080` */
  readonly address: string
  /** Reads the TLS files again. */
  reloadCertificate(): Promise<void>
  /** Takes no new connections at every port but the app's own; those that are open stay. */
  leave(): void
  /** Closes every port but the app's own, which the app closes. */
  close(): Promise<void>
}

export interface ListenerOptions {
  readonly host: string
  readonly port: number
  /** Null for plain HTTP. */
  readonly tls: TlsIdentity | null
  /** Null where the server answers without a knock. */
  readonly portKnock: { readonly ports: readonly number[]; readonly knocks: Knocks } | null
  /** Called for each connection that the knock gate closes. */
  readonly onKnockRefused: (rule: KnockRule) => void
  readonly clock: Clock
  readonly log: LogWriter
}

/** @throws StartError for a knock port, Node's own error for the server's address, that cannot be listened on. */
export async function openListener(app: ListeningApp, options: ListenerOptions): Promise<Listener> {
  const { host, tls } = options
  const secure = tls === null ? null : secureConnections(app, { ...options, tls })
  const hosts = await addressesOf(host)
  // Before the server's own port, which may be any free one.
  const knockPorts = await openKnock(app, { ...options, hosts })
  try {
    const port = await openPort(app, { hosts, port: options.port })
    return {
      address: addressUrl(port.address, tls === null ? 'http' : 'https'),
      reloadCertificate: async () => secure?.reloader.reload(),
      leave: () => {
        knockPorts?.close()
        port.close()
      },
      close: async () => {
        knockPorts?.close()
        port.close()
        secure?.connections.close()
        await secure?.reloader.close()
      },
    }
  } catch (error) {
    knockPorts?.close()
    await secure?.reloader.close()
    throw error
  }
}

function secureConnections(
  { server }: ListeningApp,
  { tls, clock, log }: ListenerOptions & { readonly tls: TlsIdentity },
) {
  const connections = new SecureConnections(server, { certificate: tls.certificate, log })
  const reloader = new CertificateReloader({ ...tls, onNew: (one) => connections.use(one), clock, log })
  return { connections, reloader }
}

async function openKnock(
  { server }: ListeningApp,
  { portKnock, hosts, log, onKnockRefused }: ListenerOptions & { readonly hosts: readonly string[] },
): Promise<KnockPorts | null> {
  if (portKnock === null) return null
  const { ports, knocks } = portKnock
  guardByKnock(server, { knocks, onRefused: onKnockRefused })
  return await openKnockPorts(knocks, { ports, hosts, log })
}
