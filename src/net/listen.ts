/**
 * Opens the server's port. A host may resolve to several addresses, as `localhost` does for IPv4 and IPv6: the server
 * listens on the first, and connections to the others are handed to it, so that one server with one set of guards
 * answers at all of them.
 */
import { lookup } from 'node:dns/promises'
import type { Server as HttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { LISTEN_BACKLOG } from './http-bounds.ts'

/** The part of a Fastify app that opens its port. */
export interface ListeningApp {
  readonly server: HttpServer
  listen(where: { readonly host: string; readonly port: number; readonly backlog: number }): Promise<unknown>
}

export interface OpenPort {
  readonly address: AddressInfo
  /** Closes the ports of the other addresses; the server closes its own. */
  close(): void
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
export async function openPort(
  app: ListeningApp,
  { hosts, port }: { readonly hosts: readonly string[]; readonly port: number },
): Promise<OpenPort> {
  const [first = '', ...others] = hosts
  await app.listen({ host: first, port, backlog: LISTEN_BACKLOG })
  const address = app.server.address() as AddressInfo
  const servers = await Promise.all(
    others.map(async (host) => {
      const server = createServer(HTTP_SOCKETS, (socket) => void app.server.emit('connection', socket))
      // The name may resolve to an address that this machine lacks, such as ::1 where IPv6 is off.
      const isListening = await listen(server, { host, port: address.port }).then(
        () => true,
        () => false,
      )
      return isListening ? [server.on('error', () => {})] : []
    }),
  )
  return {
    address,
    close: () => {
      for (const server of servers.flat()) server.close()
    },
  }
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
