/**
 * The listeners and the gate of `--port-knock`. A knock port closes every connection at once. A connection to the server
 * from an address that is not open is closed before a byte of it is read, and before TLS. One that was let in may end what
 * it is being answered when its time is over; its next request is not answered any more. It is always the connection's own
 * address that counts: a proxy has to knock for itself.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer, type Server as NetServer, type Socket } from 'node:net'
import { StartError } from '../core/errors.ts'
import type { PortKnock } from '../net/port-knock/port-knock.ts'
import { addressKey } from '../net/client-address.ts'
import { interceptConnections } from '../net/intercept-connections.ts'
import type { Log } from '../telemetry/log.ts'
import { listen } from './listen.ts'

export interface KnockPorts {
  close(): void
}

export interface KnockPortsOptions {
  readonly ports: readonly number[]
  readonly hosts: readonly string[]
  readonly log: Log
}

/** @throws StartError for a port that cannot be listened on. */
export async function openKnockPorts(
  knock: PortKnock,
  { ports, hosts, log }: KnockPortsOptions,
): Promise<KnockPorts> {
  const servers: NetServer[] = []
  const close = () => {
    for (const server of servers) server.close()
  }
  try {
    for (const port of ports) {
      for (const [index, host] of hosts.entries()) {
        const server = createServer((socket) => recordKnock(knock, { socket, port, log }))
        await listen(server, { host, port }).then(
          () => servers.push(server.on('error', (err) => log.warn({ err }, 'a knock port failed'))),
          (error: NodeJS.ErrnoException) => refuseToStart(error, { port, isFirst: index === 0 }),
        )
      }
    }
  } catch (error) {
    close()
    throw error
  }
  return { close }
}

const LISTEN_FAILURES: Readonly<Record<string, string>> = {
  EADDRINUSE: 'is in use by another program; choose another',
  EACCES: 'may not be listened on; choose one above 1023',
}

/** Of several addresses of a host this machine may lack all but the first. */
function refuseToStart(
  { code = '' }: NodeJS.ErrnoException,
  where: { port: number; isFirst: boolean },
): void {
  if (!where.isFirst && (code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT')) return
  const reason = LISTEN_FAILURES[code] ?? `cannot be listened on (${code})`
  throw new StartError(`--port-knock: the port ${where.port} ${reason}.`, 1)
}

function recordKnock(
  knock: PortKnock,
  { socket, port, log }: { socket: Socket; port: number; log: Log },
): void {
  const { remoteAddress } = socket
  close(socket)
  // The client may be gone already; its knock counts only while it can be told whose it is.
  if (remoteAddress === undefined) return
  switch (knock.knock(addressKey(remoteAddress), port)) {
    case 'knocking':
      return
    case 'opened':
      return log.info('an address has knocked and may reach the server')
    case 'full':
      return log.warn('an address has knocked, but too many may reach the server already')
  }
}

export interface KnockGateOptions {
  readonly knock: PortKnock
  /** Told of each connection that is closed. */
  readonly onRefused: (rule: 'not-open' | 'no-longer-open') => void
}

/** Must come after everything else that listens to the server. */
export function guardByKnock(server: Server, { knock, onRefused }: KnockGateOptions): void {
  const isOpen = ({ remoteAddress }: Socket) =>
    remoteAddress !== undefined && knock.isOpen(addressKey(remoteAddress))
  interceptConnections(server, 'knock', (passOn) => (socket) => {
    if (isOpen(socket)) return passOn(socket)
    onRefused('not-open')
    close(socket)
  })
  const listeners = server.listeners('request')
  server.removeAllListeners('request')
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (isOpen(request.socket)) {
      for (const listener of listeners) Reflect.apply(listener, server, [request, response])
      return
    }
    onRefused('no-longer-open')
    // A pipelined request gets its socket when the answers before it have been written.
    if (response.socket === null) response.once('socket', close)
    else close(response.socket)
  })
}

function close(socket: Socket): void {
  socket.on('error', () => {})
  socket.destroy()
}
