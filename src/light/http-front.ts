/**
 * The HTTP server of a light server. `listen` loads this file, so that an import does not load `node:http`.
 */
// oxlint-disable-next-line import/no-unassigned-import -- for what it does, before any class that is disposed of
import '../core/contexts/dispose-symbols.ts'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { answerOddRequests, createClientErrorListener } from '../net/client-errors.ts'
import { holdContinue } from '../net/requests/read-body.ts'
import { GracefulClose } from '../net/connections/graceful-close.ts'
import { guardConnections } from '../net/connections/guard-connections.ts'
import { BodyBudget } from '../net/requests/body-budget.ts'
import { HTTP_BOUNDS, LISTEN_BACKLOG, serverOptions } from '../net/http-bounds.ts'
import { addressUrl, listen } from '../net/listen.ts'
import { createRequestListener, type RequestDeps } from './answer-request.ts'
import { Endpoints, type EndpointDeps } from './endpoints.ts'

export interface LightAddress extends AddressInfo {
  /** `http://127.0.0.1:8080` */
  readonly url: string
}

export interface HttpFront {
  readonly address: LightAddress
  readonly graceful: GracefulClose
}

export interface HttpFrontOptions extends EndpointDeps, Omit<RequestDeps, 'endpoints' | 'bodyBudget'> {
  readonly host: string
  readonly port: number
}

/** @throws Node's own error when the address cannot be listened on. */
export async function openHttpFront(options: HttpFrontOptions): Promise<HttpFront> {
  const endpoints = new Endpoints(options)
  const listener = createRequestListener({ ...options, endpoints, bodyBudget: new BodyBudget() })
  const server = createServer(serverOptions(HTTP_BOUNDS), listener)
  const graceful = new GracefulClose(server)
  server.on('clientError', createClientErrorListener())
  answerOddRequests(server)
  holdContinue(server)
  guardConnections(server, HTTP_BOUNDS)
  const { host, port } = options
  await listen(server, { host, port, backlog: LISTEN_BACKLOG })
  // A connection that cannot be accepted, as when files run out, must not end the application.
  server.on('error', (error) => options.onError(error, null))
  // Of a server that listens on a port the address is neither a text nor null.
  const address = server.address() as AddressInfo
  return { address: { ...address, url: addressUrl(address, 'http') }, graceful }
}
