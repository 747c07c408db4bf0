/**
 * The sockets of `--port-knock`; which address is open is kept in `port-knock.ts`. A knock port closes every connection
 * at once. A connection to the server from an address that is not open is closed before TLS and before a byte of it is
 * read. When the time of an address is over, the answer under way is finished and the next request closes the connection.
 * The address is that of the connection, never of a header: a proxy has to knock for itself.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer, type Server as NetServer, type Socket } from 'node:net'
import { StartError } from '../../core/errors.ts'
import type { Log } from '../../core/log.ts'
import { addressKey } from '../client-address.ts'
import { interceptConnections } from '../intercept-connections.ts'
import { listen } from '../listen.ts'
import type { PortKnock } from './port-knock.ts'

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

/** This machine may lack any address of a host but the first. */
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
  // A socket that is closed already has no address.
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

export type KnockRule = 'not-open' | 'no-longer-open'

export interface KnockGateOptions {
  readonly knock: PortKnock
  /** Called for each connection that is closed. */
  readonly onRefused: (rule: KnockRule) => void
}

/** Call when every other listener of the server is attached. */
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
