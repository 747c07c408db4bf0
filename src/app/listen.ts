/**
 * Opens the server's port. A host may stand for several addresses, as `localhost` does for IPv4 and IPv6: the server
 * listens on the first, and what comes in at the others is handed to it, so that there is one server with one set of
 * guards whichever way a connection came.
 */
import { lookup } from 'node:dns/promises'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { buildApp } from '../api/app.ts'
import { LISTEN_BACKLOG } from '../net/http-bounds.ts'

export interface OpenPort {
  readonly address: AddressInfo
  /** Takes no more connections at the other addresses; those of the first are the server's own to close. */
  close(): void
}

/** The addresses that a host stands for. @throws Node's own error when it is not known. */
export async function addressesOf(host: string): Promise<readonly string[]> {
  if (host !== 'localhost') return [host]
  const found = await lookup(host, { all: true })
  return [...new Set(found.map(({ address }) => address))]
}

/** As Node's HTTP server takes its own. */
const HTTP_SOCKETS = { allowHalfOpen: true, noDelay: true }

/** @throws Node's own error when the first address cannot be listened on. */
export async function openPort(
  app: ReturnType<typeof buildApp>,
  { hosts, port }: { readonly hosts: readonly string[]; readonly port: number },
): Promise<OpenPort> {
  const [first = '', ...others] = hosts
  await app.listen({ host: first, port, backlog: LISTEN_BACKLOG })
  const address = app.server.address() as AddressInfo
  const servers = await Promise.all(
    others.map(async (host) => {
      const server = createServer(HTTP_SOCKETS, (socket) => void app.server.emit('connection', socket))
      // A machine may know the address and not have it, such as ::1 where IPv6 is off.
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
  where: { readonly host: string; readonly port: number },
): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
      server.off('error', reject)
      resolve()
    })
  })
}
