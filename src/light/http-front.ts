/**
 * The port of a light server, with everything that stands on `node:http`: loaded by `listen`, so that an import does not
 * pay for it.
 */
import { createServer, type Server } from 'node:http'
import { answerOddRequests, createClientErrorListener } from '../net/client-errors.ts'
import { holdContinue } from '../net/expect-continue.ts'
import { GracefulClose } from '../net/graceful-close.ts'
import { guardConnections } from '../net/guard-connections.ts'
import { HTTP_BOUNDS, LISTEN_BACKLOG, serverOptions } from '../net/http-bounds.ts'
import { createRequestListener, type RequestDeps } from './answer-request.ts'
import type { LightAddress } from './light-server.ts'
import { createStaticFiles } from './static/static-files.ts'

export interface HttpFront {
  readonly address: LightAddress
  /** Null once it listens no more. */
  addressNow(): LightAddress | null
  readonly graceful: GracefulClose
}

export interface HttpFrontDeps extends Omit<RequestDeps, 'files'> {
  /** The folder whose files are served. */
  readonly root: string | null
}

/** @throws Node's own error when the address cannot be listened on. */
export async function openHttpFront(
  where: { readonly host: string; readonly port: number },
  { root, ...deps }: HttpFrontDeps,
): Promise<HttpFront> {
  const files = root === null ? null : createStaticFiles(root)
  const server = createServer(serverOptions(HTTP_BOUNDS), createRequestListener({ ...deps, files }))
  const graceful = new GracefulClose(server)
  server.on('clientError', createClientErrorListener())
  answerOddRequests(server)
  holdContinue(server)
  guardConnections(server, HTTP_BOUNDS)
  const address = await listen(server, where)
  // A connection that cannot be accepted, as when files run out, is no reason to end the application.
  server.on('error', (error) => deps.onError(error, null))
  return { address, addressNow: () => addressOf(server), graceful }
}

function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<LightAddress> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port, backlog: LISTEN_BACKLOG }, () => {
      server.off('error', reject)
      const address = addressOf(server)
      if (address !== null) resolve(address)
    })
  })
}

function addressOf(server: Server): LightAddress | null {
  const address = server.address()
  if (address === null || typeof address === 'string') return null
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
  return { ...address, url: `http://${host}:${address.port}` }
}
