/**
 * The light embeddable server: `node:http`, four endpoints, a bearer-key check and the embedder's own routes. This file
 * owns its options and its life; what happens to a request is in `answer-request.ts`.
 *
 *   made ──listen──▶ listening ──close──▶ draining ──▶ closed      a closed server cannot listen again
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { systemClock, type Clock } from '../core/clock.ts'
import { InvariantError, StartError } from '../core/errors.ts'
import { answerClientError, answerOddRequests } from '../http/client-errors.ts'
import { holdContinue } from '../http/expect-continue.ts'
import { guardConnections } from '../http/guard-connections.ts'
import { HTTP_BOUNDS, serverOptions } from '../http/http-bounds.ts'
import type { Engine } from '../protocol/engine.ts'
import { createRequestListener, type Handler, type OnError } from './answer-request.ts'
import { addEndpoints } from './endpoints.ts'
import { createPassthroughEngine } from './generation.ts'
import { GracefulClose } from '../http/graceful-close.ts'
import type { Pattern } from './path-pattern.ts'
import { createPublicPaths, DEFAULT_PUBLIC_PATHS } from './public-paths.ts'
import { Router, type Method } from './router.ts'

export interface LightServerOptions {
  /** @default '127.0.0.1' */
  readonly host?: string
  /** 0 picks a free one. @default 8080 */
  readonly port?: number
  /**
   * Paths that need no key: exact, `{name}` patterns, or prefixes `/x/*`. The list replaces the default. Only the exact
   * path `/v1/generate` opens that endpoint.
   * @default DEFAULT_PUBLIC_PATHS
   */
  readonly publicPaths?: readonly Pattern[]
  /** Told the cause of every 500, which its answer does not show. @default writes it to stderr */
  readonly onError?: OnError
}

export interface LightAddress extends AddressInfo {
  /** `http://127.0.0.1:8080` */
  readonly url: string
}

export interface LightServer {
  /** Opens the port. @throws Node's own error when the address cannot be listened on. */
  listen(): Promise<LightAddress>
  /** Refuses new connections, lets running requests finish for up to 30 s, then ends them. */
  close(): Promise<void>
  /** Null while the server does not listen. */
  address(): LightAddress | null
  /** Adds a route, before or after `listen`. @throws StartError when it is malformed or there already. */
  route<const P extends Pattern>(method: Method, pattern: P, handler: Handler<P>): void
}

/** Makes a server; `listen` starts it. @throws StartError for an option that is wrong. */
export function createLightServer(options: LightServerOptions = {}): LightServer {
  return buildLightServer(options, { engine: createPassthroughEngine(), clock: systemClock })
}

/** What the server stands on; tests bring their own. */
export interface LightServerDeps {
  readonly engine: Engine
  readonly clock: Clock
}

export function buildLightServer(
  options: LightServerOptions,
  { engine, clock }: LightServerDeps,
): LightServer {
  const { host, port, publicPaths, onError } = completeOptions(options)
  const router = new Router<Handler>()
  let listening: Promise<LightAddress> | null = null
  let closing: Promise<void> | null = null
  const isClosing = (): boolean => closing !== null
  addEndpoints(router, { engine, clock, isClosing })
  const server = createServer(
    serverOptions(HTTP_BOUNDS),
    createRequestListener({ router, isPublic: createPublicPaths(publicPaths), isClosing, onError }),
  )
  const graceful = new GracefulClose(server)
  server.on('clientError', answerClientError)
  answerOddRequests(server)
  holdContinue(server)
  guardConnections(server, HTTP_BOUNDS)
  return {
    listen: async () => {
      if (isClosing()) throw new InvariantError('This server has been closed; make a new one.')
      listening = listen(server, { host, port })
      return listening
    },
    close: () => (closing ??= Promise.allSettled([listening]).then(() => shutDown(graceful, engine))),
    address: () => addressOf(server),
    // The router hands a handler exactly what its own pattern captures.
    route: (method, pattern, handler) => router.add(method, pattern, handler as Handler),
  }
}

const DEFAULTS = {
  host: '127.0.0.1',
  port: 8080,
  publicPaths: DEFAULT_PUBLIC_PATHS,
  onError: (error: unknown, requestId: string): void => {
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error)
    process.stderr.write(`sluice: request ${requestId} failed: ${cause}\n`)
  },
} as const satisfies Required<LightServerOptions>

function completeOptions(options: LightServerOptions): Required<LightServerOptions> {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(DEFAULTS, name))
  if (unknown !== undefined) throw new StartError(`The light server has no option '${unknown}'.`, 2)
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined))
  const complete: Required<LightServerOptions> = { ...DEFAULTS, ...given }
  const { port } = complete
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new StartError(`port must be an integer between 0 and 65535, but was ${String(port)}.`, 2)
  }
  return complete
}

function listen(
  server: Server,
  where: { readonly host: string; readonly port: number },
): Promise<LightAddress> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(where, () => {
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

/** Time that running requests have to finish once the server closes. */
const CLOSE_TIMEOUT_MS = 30_000

async function shutDown(graceful: GracefulClose, engine: Engine): Promise<void> {
  await graceful.drain(CLOSE_TIMEOUT_MS)
  // Generations that still run end here, with an answer.
  await engine.close()
  await graceful.close()
}
