/**
 * Opens the server's port. A host may resolve to several addresses, as `localhost` does for IPv4 and IPv6: the server
 * listens on the first, and connections to the others are handed to it, so that one server with one set of guards
 * answers at all of them. Connections that another process answers are accepted here too.
 */
import { lookup } from 'node:dns/promises'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { LISTEN_BACKLOG } from './http-bounds.ts'

/** The part of a Fastify app that opens its port. */
export interface ListeningApp {
  readonly server: HttpServer
  listen(where: { readonly host: string; readonly port: number; readonly backlog: number }): Promise<unknown>
  /** Resolves when it could answer. */
  ready(): PromiseLike<unknown>
}

export interface OpenPort {
  readonly address: AddressInfo
  /** Closes the ports that `openPort` opened; an app closes its own. */
  close(): void
}

interface Where {
  readonly hosts: readonly string[]
  readonly port: number
}

/** The addresses that a host resolves to. @throws Node's own error when it is not known. */
export async function addressesOf(host: string): Promise<readonly string[]> {
  if (host !== 'localhost') return [host]
  const found = await lookup(host, { all: true })
  return [...new Set(found.map(({ address }) => address))]
}

/** As Node's HTTP server takes its own. */
const HTTP_SOCKETS = { allowHalfOpen: true, noDelay: true }

/** @throws Node's own error when the first address cannot be listened on. */
export async function openPort(app: ListeningApp, { hosts, port }: Where): Promise<OpenPort> {
  const [first = '', ...others] = hosts
  await app.listen({ host: first, port, backlog: LISTEN_BACKLOG })
  const address = app.server.address() as AddressInfo
  const servers = await openOthers(others, address.port, () =>
    createServer(HTTP_SOCKETS, (socket) => acceptConnection(app.server, socket)),
  )
  return { address, close: () => closeAll(servers) }
}

/**
 * Opens the port for connections that another process answers: they come paused, and nothing of them is read.
 * @throws Node's own error when the first address cannot be listened on.
 */
export async function openPortForOthers(
  { hosts, port }: Where,
  onConnection: (socket: Socket) => void,
): Promise<OpenPort> {
  const [first = '', ...others] = hosts
  const create = () => createServer({ ...HTTP_SOCKETS, pauseOnConnect: true }, onConnection)
  const server = create()
  await listen(server, { host: first, port, backlog: LISTEN_BACKLOG })
  const address = server.address() as AddressInfo
  const servers = [server.on('error', () => {}), ...(await openOthers(others, address.port, create))]
  return { address, close: () => closeAll(servers) }
}

/** Gives a server a connection that it has not accepted itself. */
export function acceptConnection(server: HttpServer, socket: Socket): void {
  server.emit('connection', socket)
}

async function openOthers(
  hosts: readonly string[],
  port: number,
  create: () => Server,
): Promise<readonly Server[]> {
  const servers = await Promise.all(
    hosts.map(async (host) => {
      const server = create()
      // The name may resolve to an address that this machine lacks, such as ::1 where IPv6 is off.
      const isListening = await listen(server, { host, port, backlog: LISTEN_BACKLOG }).then(
        () => true,
        () => false,
      )
      return isListening ? [server.on('error', () => {})] : []
    }),
  )
  return servers.flat()
}

function closeAll(servers: readonly Server[]): void {
  for (const server of servers) server.close()
}

/** @throws Node's own error when the address cannot be listened on. */
export function listen(
  server: Server,
  where: { readonly host: string; readonly port: number; readonly backlog?: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** `https://[::1]:8080` */
export function addressUrl({ address, family, port }: AddressInfo, scheme: 'http' | 'https'): string {
  return `${scheme}://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}
