/**
 * The light embeddable server: `node:http`, four endpoints, a bearer-key check, files and the embedder's own routes.
 * This file owns its life; its options are in `light-options.ts`, what happens to a request in `answer-request.ts`.
 *
 *   made ──listen──▶ listening ──close──▶ draining ──▶ closed      a closed server cannot listen again
 *
 * An import loads only what making one needs, because files are what its time goes into. `listen` loads the rest, and
 * what loads native code (a key database, a checkpoint) where it is given, through dynamic imports.
 */
import type { AddressInfo } from 'node:net'
import type { Clock } from '../core/clock.ts'
import { InvariantError } from '../core/errors.ts'
import type { EndpointHandler, Handler, LightRoute } from './answer-request.ts'
import type { KeyLookup } from './bearer-keys.ts'
import { addEndpoints } from './routing/endpoints.ts'
import type { HttpFront } from './http-front.ts'
import {
  type CompleteOptions,
  completeOptions,
  type GivenModelOptions,
  type LightServerOptions,
  type OnError,
} from './light-options.ts'
import type { ModelHost } from './model-host.ts'
import { parsePattern, type Pattern } from './routing/path-pattern.ts'
import { createPublicPaths, type IsPublic } from './routing/public-paths.ts'
import { Router, type Method } from './routing/router.ts'
import { staticRoot } from './static/static-root.ts'

export interface LightAddress extends AddressInfo {
  /** `http://127.0.0.1:8080` */
  readonly url: string
}

export interface LightServer {
  /**
   * Opens the key database and the checkpoint's headers, then the port. The checkpoint itself may still be loading;
   * requests to generate wait for it.
   * @throws StartError for what cannot be opened, Node's own error when the address cannot be listened on.
   */
  listen(): Promise<LightAddress>
  /** Refuses new connections, lets running requests finish for up to `shutdownTimeout` seconds, then ends them. */
  close(): Promise<void>
  /** Null while the server does not listen. */
  address(): LightAddress | null
  /** Adds a route, before or after `listen`. @throws StartError when it is malformed or there already. */
  route<const P extends Pattern>(method: Method, pattern: P, handler: Handler<P>): void
  /** Settles with the load of the checkpoint, at once without one; rejects with a StartError when it cannot be loaded. */
  readonly loaded: Promise<void>
}

export interface CheckpointContext {
  readonly maxQueue: number
  readonly onError: OnError
  /** Aborts when the server is closed while the checkpoint is downloaded. */
  readonly signal: AbortSignal
}

export interface OpenedModel {
  readonly host: ModelHost
  readonly loaded: Promise<void>
}

/** What the server stands on, passed in by the composition root. */
export interface LightServerDeps {
  readonly clock: Clock
  /** @throws StartError when the headers of the checkpoint say that it cannot be served. */
  readonly openCheckpoint: (
    options: GivenModelOptions & { readonly checkpoint: string },
    context: CheckpointContext,
  ) => Promise<OpenedModel>
  /** @throws StartError when the file cannot be read. */
  readonly openKeys: (keyDb: string) => Promise<KeyLookup>
  /** The worker threads' own program. @default the passthrough model */
  readonly workerEntry?: URL
}

/** What `listen` opens and `close` closes. */
interface OpenParts extends OpenedModel {
  readonly keys: KeyLookup | null
}

export function buildLightServer(given: LightServerOptions, deps: LightServerDeps): LightServer {
  const options = completeOptions(given)
  const { publicPaths, staticDir, keyDb, shutdownTimeout } = options
  const { clock } = deps
  const onError = neverThrowing(options.onError)
  const router = new Router<LightRoute>()
  const isPublic = createPublicPaths(publicPaths)
  const addRoute = (method: Method, pattern: string, handler: EndpointHandler): void =>
    router.add(method, pattern, { handler, isPublic: isAlwaysPublic(isPublic, method, pattern) })
  const createdUnixSeconds = clock.unixSeconds()
  let parts: OpenParts | null = null
  let front: HttpFront | null = null
  let listening: Promise<LightAddress> | null = null
  let closing: Promise<void> | null = null
  const isClosing = (): boolean => closing !== null
  const opened = (): OpenParts => {
    if (parts === null) throw new InvariantError('A request came before the server listened.')
    return parts
  }
  const load = createDeferred()
  const stopping = new AbortController()

  addEndpoints(addRoute, { clock, isClosing, models: () => opened().host })
  const root = staticDir === null ? null : staticRoot(staticDir, keyDb)

  const start = async (): Promise<LightAddress> => {
    const { openHttpFront } = await import('./http-front.ts')
    parts = await openParts({ ...options, onError }, { deps, createdUnixSeconds, signal: stopping.signal })
    try {
      front = await openHttpFront(options, {
        router,
        isPublic,
        keys: parts.keys,
        root,
        clock,
        isClosing,
        onError,
      })
      parts.loaded.then(load.resolve, load.reject)
      return front.address
    } catch (error) {
      await closeParts(parts)
      throw error
    }
  }
  const shutDown = async (): Promise<void> => {
    await Promise.allSettled([listening])
    await front?.graceful.drain(shutdownTimeout * 1000)
    // Generations that still run end here, with an answer.
    await parts?.host.close()
    await front?.graceful.close()
    await parts?.keys?.close()
    load.resolve()
  }
  return {
    listen: async () => {
      if (isClosing()) throw new InvariantError('This server has been closed; make a new one.')
      const starting = (listening ??= start())
      try {
        return await starting
      } catch (error) {
        // It may be tried again.
        listening = null
        throw error
      }
    },
    close: () => {
      stopping.abort()
      return (closing ??= shutDown())
    },
    address: () => front?.addressNow() ?? null,
    // The router hands a handler exactly what its own pattern captures.
    route: (method, pattern, handler) => addRoute(method, pattern, handler as Handler),
    loaded: load.promise,
  }
}

/** Null where it depends on what the pattern captures. */
function isAlwaysPublic(isPublic: IsPublic, method: Method, pattern: string): boolean | null {
  const segments = parsePattern(pattern)
  const texts = segments.flatMap((segment) => (segment.type === 'literal' ? [segment.text] : []))
  return texts.length === segments.length ? isPublic(method, texts) : null
}

interface OpenContext {
  readonly deps: LightServerDeps
  readonly createdUnixSeconds: number
  readonly signal: AbortSignal
}

async function openParts(
  { keyDb, model, workers, maxQueue, onError }: CompleteOptions,
  { deps, createdUnixSeconds, signal }: OpenContext,
): Promise<OpenParts> {
  const keys = keyDb === null ? null : await deps.openKeys(keyDb)
  const { checkpoint } = model
  if (typeof checkpoint === 'string') {
    try {
      return { keys, ...(await deps.openCheckpoint({ ...model, checkpoint }, { maxQueue, onError, signal })) }
    } catch (error) {
      await keys?.close()
      throw error
    }
  }
  const { openPassthroughHost } = await import('./workers/passthrough-host.ts')
  const onWorkerEnd = (cause: Error): void => onError(cause, null)
  const pool = { workers, maxQueue, onWorkerEnd, entry: deps.workerEntry }
  return { keys, host: openPassthroughHost(pool, createdUnixSeconds), loaded: Promise.resolve() }
}

async function closeParts({ host, keys }: OpenParts): Promise<void> {
  await host.close()
  await keys?.close()
}

/** It is called from where nobody could catch what the application's own function throws. */
function neverThrowing(onError: OnError): OnError {
  return (error, requestId) => {
    try {
      onError(error, requestId)
    } catch {
      // There is nobody left to tell.
    }
  }
}

interface Deferred {
  readonly promise: Promise<void>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/** Whoever does not wait for it is told by `/v1/models` and by every answer. */
function createDeferred(): Deferred {
  let resolve: () => void = () => {}
  let reject: (error: unknown) => void = () => {}
  const promise = new Promise<void>((...settle) => {
    ;[resolve, reject] = settle
  })
  promise.catch(() => {})
  return { promise, resolve, reject }
}
