/**
 * The sockets of `--port-knock`; which address is open is kept in the shared state. A knock port closes every connection
 * at once. A connection to the server from an address that is not open is closed before TLS and before a byte of it is
 * read. When the time of an address is over, the answer under way is finished and the next request closes the connection.
 * The address is that of the connection, never of a header: a proxy has to knock for itself.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { createServer, type Server as NetServer, type Socket } from 'node:net'
import { StartError } from '../../core/errors.ts'
import type { LogWriter } from '../../core/log-writer.ts'
import type { Answer, Knocks } from '../../core/shared-state.ts'
import { addressKey } from '../client-address.ts'
import { interceptConnections } from '../connections/intercept-connections.ts'
import { listen } from '../listen.ts'

export interface KnockPorts {
  close(): void
}

export interface KnockPortsOptions {
  readonly ports: readonly number[]
  readonly hosts: readonly string[]
  readonly log: LogWriter
}

/** @throws StartError for a port that cannot be listened on. */
export async function openKnockPorts(
  knocks: Knocks,
  { ports, hosts, log }: KnockPortsOptions,
): Promise<KnockPorts> {
  const servers: NetServer[] = []
  const close = () => {
    for (const server of servers) server.close()
  }
  try {
    for (const port of ports) {
      for (const [index, host] of hosts.entries()) {
        const server = createServer((socket) => void recordKnock(knocks, { socket, port, log }))
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

async function recordKnock(
  knocks: Knocks,
  { socket, port, log }: { socket: Socket; port: number; log: LogWriter },
): Promise<void> {
  const { remoteAddress } = socket
  close(socket)
  // A socket that is closed already has no address.
  if (remoteAddress === undefined) return
  try {
    const outcome = await knocks.knock(addressKey(remoteAddress), port)
    if (outcome === 'opened') log.info('an address has knocked and may reach the server')
    if (outcome === 'full') log.warn('an address has knocked, but too many may reach the server already')
  } catch (error) {
    log.error({ err: error }, 'a knock could not be recorded')
  }
}

export type KnockRule = 'not-open' | 'no-longer-open'

export interface KnockGateOptions {
  readonly knocks: Knocks
  /** Called for each connection that is closed. */
  readonly onRefused: (rule: KnockRule) => void
}

/** Call when every other listener of the server is attached. */
export function guardByKnock(server: Server, { knocks, onRefused }: KnockGateOptions): void {
  const isOpen = ({ remoteAddress }: Socket) =>
    remoteAddress === undefined ? false : knocks.isOpen(addressKey(remoteAddress))
  interceptConnections(server, 'knock', (passOn) => (socket) => {
    afterGateAnswer(isOpen(socket), socket, (open) => {
      if (open) return passOn(socket)
      onRefused('not-open')
      close(socket)
    })
  })
  // Those of `client-errors.ts` are answered without ever being requests.
  for (const event of ['request', 'connect', 'clientError'] as const) {
    const listeners = server.listeners(event)
    server.removeAllListeners(event)
    server.on(event, (...given: OnConnection) => {
      const [cause, answer] = given
      const socket = cause instanceof Error ? (answer as Socket) : cause.socket
      const passOn = () => {
        for (const listener of listeners) Reflect.apply(listener, server, given)
      }
      // Its client has left, and asks for nothing.
      if (cause instanceof Error && socket.destroyed) return passOn()
      afterGateAnswer(isOpen(socket), socket, (open) => {
        if (open) return passOn()
        onRefused('no-longer-open')
        // A pipelined request gets its socket when the answers before it have been written.
        if ('socket' in answer && answer.socket === null) answer.once('socket', close)
        else close(socket)
      })
    })
  }
}

/** What a server emits for a connection: a request with its response, CONNECT with its socket, or an error with its socket. */
type OnConnection = [cause: IncomingMessage | Error, answer: ServerResponse | Socket, ...unknown[]]

/** A failed answer counts as closed. Nothing is done for a connection that ended while the answer was awaited. */
function afterGateAnswer(answer: Answer<boolean>, socket: Socket, act: (isOpen: boolean) => void): void {
  if (!(answer instanceof Promise)) return act(answer)
  const ignore = () => {}
  socket.on('error', ignore)
  const use = (isOpen: boolean): void => {
    socket.off('error', ignore)
    if (!socket.destroyed) act(isOpen)
  }
  answer.then(use, () => use(false))
}

function close(socket: Socket): void {
  socket.on('error', () => {})
  socket.destroy()
}
