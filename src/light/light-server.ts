/**
 * The light embeddable server: `node:http`, four endpoints, a bearer-key check, files and the application's own routes.
 * This file owns its life cycle; the options are in `light-options.ts`, the handling of a request in
 * `answer-request.ts`.
 *
 *   made ──listen──▶ listening ──close──▶ draining ──▶ closed      a closed server cannot listen again
 *     ▲──when that fails──┘
 *
 * Importing this file loads only what the constructor needs, because import time grows with the number of files.
 * `listen` loads the rest through dynamic imports, including native code (a key database, a checkpoint) where it is
 * configured.
 */
import type { Clock } from '../core/clock.ts'
import { InvariantError, StartError } from '../core/errors.ts'
import { withResolvers } from '../core/concurrency/with-resolvers.ts'
import type { EndpointHandler, Handler } from './answer-request.ts'
import type { KeyLookup } from './answer-request.ts'
import type { HttpFront, LightAddress } from './http-front.ts'
import {
  type CompleteOptions,
  completeOptions,
  type GivenModelOptions,
  type LightServerOptions,
  type OnError,
} from './light-options.ts'
import type { ModelHost } from './endpoints.ts'
import { createPublicPaths, GENERATE_PATH, type IsPublic, type Pattern } from './routing/path-pattern.ts'
import { type Method, Router } from './routing/router.ts'
import { staticRoot } from './static/static-root.ts'

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

/** What the composition root provides. */
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
interface OpenParts {
  readonly front: HttpFront
  readonly host: ModelHost
  readonly keys: KeyLookup | null
}

type State =
  | { readonly type: 'made' }
  /** The address is null until the port is open. */
  | { readonly type: 'listening'; readonly parts: Promise<OpenParts>; readonly address: LightAddress | null }
  | { readonly type: 'draining'; readonly closed: Promise<void> }
  | { readonly type: 'closed' }

const ENDPOINTS: readonly (readonly [Method, Pattern, EndpointHandler])[] = [
  ['GET', '/v1/health', (_, endpoints) => endpoints.health()],
  ['GET', '/v1/models', (_, endpoints) => endpoints.listModels()],
  ['GET', '/v1/models/{id}', ({ params }, endpoints) => endpoints.getModel(params['id'] ?? '')],
  ['POST', GENERATE_PATH, (request, endpoints) => endpoints.generate(request)],
]

/** Its methods are bound, so that an application may destructure them: `const { listen } = server`. */
export class LightServer {
  readonly #options: CompleteOptions
  readonly #deps: LightServerDeps
  readonly #router = new Router<EndpointHandler>()
  readonly #isPublic: IsPublic
  /** The folder of the static files. */
  readonly #root: string | null
  readonly #madeMs: number
  readonly #load = withResolvers<void>()
  /** Ends a download when the server is closed. */
  readonly #closing = new AbortController()
  #state: State = { type: 'made' }

  /** @throws StartError for an option that is wrong. */
  constructor(given: LightServerOptions, deps: LightServerDeps) {
    this.#options = completeOptions(given)
    this.#deps = deps
    const { publicPaths, staticDir, keyDb } = this.#options
    this.#isPublic = createPublicPaths(publicPaths)
    for (const [method, pattern, handle] of ENDPOINTS) {
      this.#router.add(method, pattern, (exchange, endpoints) => {
        endpoints.refuseQuery(exchange)
        return handle(exchange, endpoints)
      })
    }
    this.#root = staticDir === null ? null : staticRoot(staticDir, keyDb)
    this.#madeMs = deps.clock.nowMs()
    // A failed load is also in `/v1/models` and in every answer.
    this.#load.promise.catch(() => {})
  }

  /**
   * Opens the key database and the checkpoint's headers, then the port. The checkpoint itself may still be loading;
   * requests to generate wait for it. May be called again when it has failed.
   * @throws StartError for what cannot be opened, Node's own error when the address cannot be listened on.
   */
  readonly listen = async (): Promise<LightAddress> => {
    if (this.#state.type === 'made') {
      this.#state = { type: 'listening', parts: this.#start(), address: null }
    }
    if (this.#state.type === 'listening') return (await this.#state.parts).front.address
    throw new InvariantError('This server has been closed; make a new one.')
  }

  /** Refuses new connections, lets running requests finish for up to `shutdownTimeout` seconds, then ends them. */
  readonly close = async (): Promise<void> => {
    switch (this.#state.type) {
      case 'made':
        this.#endClosed()
        return
      case 'listening':
        this.#closing.abort()
        this.#state = { type: 'draining', closed: this.#shutDown(this.#state.parts) }
        return await this.#state.closed
      case 'draining':
        return await this.#state.closed
      case 'closed':
    }
  }

  /** Null while the server does not listen. */
  readonly address = (): LightAddress | null =>
    this.#state.type === 'listening' ? this.#state.address : null

  /** Adds a route, before or after `listen`. @throws StartError when it is malformed or there already. */
  readonly route = <const P extends Pattern>(method: Method, pattern: P, handler: Handler<P>): void => {
    if (typeof handler !== 'function') {
      throw new StartError(`The handler of the route ${method} ${pattern} must be a function.`, 2)
    }
    // The router hands a handler exactly what its own pattern captures.
    this.#router.add(method, pattern, handler as Handler)
  }

  /** Settles with the load of the checkpoint, at once without one; rejects with a StartError when it cannot be loaded. */
  get loaded(): Promise<void> {
    return this.#load.promise
  }

  async #start(): Promise<OpenParts> {
    try {
      const parts = await this.#open()
      if (this.#state.type === 'listening') this.#state = { ...this.#state, address: parts.front.address }
      return parts
    } catch (error) {
      if (this.#state.type === 'listening') this.#state = { type: 'made' }
      throw error
    }
  }

  async #open(): Promise<OpenParts> {
    const { keyDb, onError, host, port } = this.#options
    const { clock, openKeys } = this.#deps
    const { openHttpFront } = await import('./http-front.ts')
    const keys = keyDb === null ? null : await openKeys(keyDb)
    let model: OpenedModel | null = null
    try {
      model = await this.#openModel()
      const front = await openHttpFront({
        host,
        port,
        root: this.#root,
        router: this.#router,
        isPublic: this.#isPublic,
        keys,
        models: model.host,
        clock,
        startedMs: this.#madeMs,
        isClosing: () => this.#state.type !== 'listening',
        onError,
      })
      model.loaded.then(this.#load.resolve, this.#load.reject)
      return { front, host: model.host, keys }
    } catch (error) {
      await model?.host.close()
      await keys?.close()
      throw error
    }
  }

  async #openModel(): Promise<OpenedModel> {
    const { model, workers, maxQueue, onError } = this.#options
    const { openCheckpoint, clock, workerEntry: entry } = this.#deps
    const { checkpoint } = model
    if (typeof checkpoint === 'string') {
      return await openCheckpoint(
        { ...model, checkpoint },
        { maxQueue, onError, signal: this.#closing.signal },
      )
    }
    const { openPassthroughHost } = await import('./workers/passthrough-host.ts')
    const onWorkerEnd = (cause: Error): void => onError(cause, null)
    const pool = { workers, maxQueue, onWorkerEnd, entry }
    return { host: openPassthroughHost(pool, clock), loaded: Promise.resolve() }
  }

  async #shutDown(opening: Promise<OpenParts>): Promise<void> {
    const parts = await opening.catch(() => null)
    if (parts !== null) {
      const { front, host, keys } = parts
      await front.graceful.drain(this.#options.shutdownTimeout * 1000)
      // Running generations end here, with an answer.
      await host.close()
      await front.graceful.close()
      await keys?.close()
    }
    this.#endClosed()
  }

  /** No effect on a load that has settled. */
  #endClosed(): void {
    this.#state = { type: 'closed' }
    const { checkpoint = null } = this.#options.model
    if (checkpoint === null) this.#load.resolve()
    else this.#load.reject(new StartError(`The server was closed before '${checkpoint}' was loaded.`))
  }
}
