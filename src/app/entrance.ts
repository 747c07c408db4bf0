/**
 * The way in to the server, from outside: the connection's own address (`--port-knock`), TLS, HTTP. Opens the ports and
 * closes them again; what is said over a connection is the app's work.
 */
import type { AddressInfo } from 'node:net'
import type { buildApp } from '../api/app.ts'
import type { ServerConfig } from '../config/server-config.ts'
import type { Clock } from '../core/clock.ts'
import { StartError } from '../core/errors.ts'
import { PortKnock } from '../net/port-knock/port-knock.ts'
import type { Log } from '../telemetry/log.ts'
import type { Metrics } from '../telemetry/metrics.ts'
import {
  type Certificate,
  type CertificateFiles,
  CertificateProblem,
  readCertificate,
} from './certificate.ts'
import { CertificateKeeper } from './certificate-keeper.ts'
import { guardByKnock, type KnockPorts, openKnockPorts } from './knock-gate.ts'
import { addressesOf, openPort } from './listen.ts'
import { SecureConnections } from './secure-connections.ts'

export interface Entrance {
  /** `https://127.0.0.1:8080` */
  readonly address: string
  /** Reads the TLS files again. */
  reloadCertificate(): Promise<void>
  /** Takes no more connections but at the app's own port, which is the app's to close. */
  close(): Promise<void>
}

export interface TlsIdentity {
  readonly files: CertificateFiles
  readonly certificate: Certificate
}

export interface EntranceOptions {
  readonly config: ServerConfig
  /** Null for plain HTTP. */
  readonly tls: TlsIdentity | null
  readonly clock: Clock
  readonly log: Log
  readonly metrics: Pick<Metrics, 'countGuardHit'>
}

/** Null where TLS is off. @throws StartError */
export async function readTlsIdentity(
  { tlsCertfile: certfile, tlsKeyfile: keyfile }: ServerConfig,
  clock: Clock,
): Promise<TlsIdentity | null> {
  if (certfile === null || keyfile === null) return null
  const files = { certfile, keyfile }
  try {
    return { files, certificate: await readCertificate(files, clock) }
  } catch (error) {
    throw error instanceof CertificateProblem ? new StartError(error.message, 1) : error
  }
}

/** @throws StartError for a knock port, Node's own error for the server's address, that cannot be listened on. */
export async function openEntrance(
  app: ReturnType<typeof buildApp>,
  options: EntranceOptions,
): Promise<Entrance> {
  const { config, tls } = options
  const secure = tls === null ? null : secureConnections(app, { ...options, tls })
  const hosts = await addressesOf(config.host)
  // Before the server's own port, which may be any free one.
  const knockPorts = config.portKnock.length === 0 ? null : await openKnock(app, { ...options, hosts })
  try {
    const port = await openPort(app, { hosts, port: config.port })
    return {
      address: addressText(port.address, tls === null ? 'http' : 'https'),
      reloadCertificate: async () => secure?.keeper.reload(),
      close: async () => {
        knockPorts?.close()
        port.close()
        secure?.connections.close()
        await secure?.keeper.close()
      },
    }
  } catch (error) {
    knockPorts?.close()
    await secure?.keeper.close()
    throw error
  }
}

function secureConnections(
  app: ReturnType<typeof buildApp>,
  { tls, clock, log }: EntranceOptions & { readonly tls: TlsIdentity },
) {
  const connections = new SecureConnections(app.server, { certificate: tls.certificate, log })
  const onNew = (certificate: Certificate) => connections.use(certificate)
  return { connections, keeper: new CertificateKeeper({ ...tls, onNew, clock, log }) }
}

function openKnock(
  app: ReturnType<typeof buildApp>,
  { config, hosts, clock, log, metrics }: EntranceOptions & { readonly hosts: readonly string[] },
): Promise<KnockPorts> {
  const { portKnock: ports, portKnockWindow, portKnockOpen } = config
  const knock = new PortKnock({
    ports,
    windowMs: portKnockWindow * 1000,
    openMs: portKnockOpen * 1000,
    clock,
  })
  guardByKnock(app.server, {
    knock,
    onRefused: (rule) => metrics.countGuardHit({ guard: 'port-knock', rule }),
  })
  return openKnockPorts(knock, { ports, hosts, log })
}

function addressText({ address, family, port }: AddressInfo, scheme: 'http' | 'https'): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
