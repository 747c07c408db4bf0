/**
 * The models that are served, by id, and the leases requests hold on them. Registering an id again loads the new
 * model beside the old, switches, and drains: no request fails, none is answered by half of each. While nothing is
 * registered the fallback model serves under the id `default`.
 *
 *   loading ──▶ ready ──register again──▶ (the old engine drains, the new one is ready)
 *      └──▶ failed                └──unregister──▶ draining ──▶ gone
 *
 * Knows no engine: `openEngine` is passed in by the composition root.
 */
import { withAbort } from '../core/abort.ts'
import type { Clock } from '../core/clock.ts'
import { Mutex } from '../core/concurrency/semaphore.ts'
import { ServiceError, StartError } from '../core/errors.ts'
import type { Engine, ModelInfo, ModelOutline } from '../protocol/engine.ts'
import { toModelSource, type ModelSource, type RegisteredSource } from '../protocol/model-source.ts'
import type { LoadProgress } from '../protocol/runner-options.ts'
import { LoadedModel, type ModelLease } from './loaded-model.ts'
import { isServing, toRecord, type ModelEntry, type ModelRecord } from './model-record.ts'
import { QueueLimit, type QueueLine } from './queue-limit.ts'

export type { ChatMessage } from './chat/chat-template.ts'
export type { ModelLease } from './loaded-model.ts'
export type { ModelRecord, ModelState } from './model-record.ts'

/** What may pass until a load that was told to end has ended; one that reads from a dead network disk never does. */
const LOADS_END_MS = 5000

/** The alias of the default model, and the id of the fallback. */
export const DEFAULT_MODEL_ID = 'default'

export interface LoadHooks {
  readonly onProgress: LoadProgress
  /** What `register` was told of the model, so that its headers need not be read again; null for nothing. */
  readonly outline: ModelOutline | null
  /** Told as soon as the headers have been read. */
  readonly onOutline: (outline: ModelOutline) => void
  /** What is loaded now and stays so while this one loads. */
  readonly loaded: readonly ModelInfo[]
  /** Aborts when the registry closes or the model is unregistered: the load ends as soon as it can. */
  readonly signal: AbortSignal
}

/** @throws StartError when the model cannot be opened. */
export type OpenEngine = (modelId: string, source: ModelSource, hooks: LoadHooks) => Promise<Engine>

export interface RegistryOptions {
  readonly openEngine: OpenEngine
  /** Serves while nothing is registered. */
  readonly openFallback: () => Engine
  /** Sequences that may wait, over all models; a request that waits for a first load counts as one. */
  readonly maxQueue: number
  readonly clock: Clock
}

export interface RegisterOptions {
  /** What is known of the model before its load begins. */
  readonly outline?: ModelOutline
  /** Whether an id that is new stays, as `failed`, when its load fails. @default true */
  readonly keepsFailed?: boolean
}

interface Entry extends ModelEntry {
  source: ModelSource | null
  /** Whether it stays, as `failed`, when its first load fails: somebody who registered it wants that. */
  isKept: boolean
  /** Aborted when it is unregistered: a load under way is of no use any more. */
  readonly removed: AbortController
}

export class ModelRegistry {
  readonly #options: RegistryOptions
  readonly #entries = new Map<string, Entry>()
  /** Entries that were unregistered and finish their last requests. */
  readonly #draining = new Set<Entry>()
  #fallback: Entry | null
  /** Every model whose engine is not closed, those that finish their last requests included. */
  readonly #open = new Set<LoadedModel>()
  readonly #closing = new AbortController()
  readonly #queueLimit: QueueLimit
  /** Requests that wait for a first load. */
  readonly #loadLine: QueueLine

  constructor(options: RegistryOptions) {
    this.#options = options
    this.#queueLimit = new QueueLimit(options.maxQueue)
    this.#loadLine = this.#queueLimit.createLine(0)
    this.#fallback = this.#createFallback()
  }

  /**
   * Loads a model and serves it under `id`; one that is served already goes on until the new one is ready, and for
   * good when that fails.
   * @throws StartError with one sentence when the model cannot be opened.
   */
  async register(id: string, given: RegisteredSource, options: RegisterOptions = {}): Promise<void> {
    if (id === '') throw new StartError('The id of a model must not be empty.', 1)
    const source = toModelSource(given)
    const entry = this.#entries.get(id) ?? this.#createEntry(id)
    this.#entries.set(id, entry)
    this.#retireFallback()
    if (options.outline !== undefined && entry.current === null) entry.outline = options.outline
    entry.isKept ||= options.keepsFailed ?? true
    try {
      await entry.loads.run(() => this.#load(entry, source, options.outline))
    } catch (error) {
      if (!entry.isKept && entry.current === null && entry.loads.isFree) this.#forget(entry)
      throw error
    }
  }

  /**
   * Loads a model again from a change of the source that it has when the turn of this load comes, and serves that under
   * its id. Resolves with what `openEngine` was given.
   * @throws ServiceError `model_not_found`, `model_loading_failed`; StartError when it cannot be done.
   */
  async reload(modelId: string, change: (source: ModelSource) => ModelSource): Promise<ModelSource> {
    const entry = this.#resolve(modelId)
    return await entry.loads.run(async () => {
      const source = change(sourceOf(entry))
      await this.#load(entry, source)
      return source
    })
  }

  /**
   * What a model was loaded from, once a first load under way has finished; null for the fallback.
   * @throws ServiceError `model_not_found`, `model_loading_failed`.
   */
  async source(modelId: string): Promise<ModelSource | null> {
    const entry = this.#resolve(modelId)
    if (entry === this.#fallback) return null
    if (entry.current === null) await entry.loads.whenFree()
    return sourceOf(entry)
  }

  /** Stops serving a model; its running requests finish. @throws ServiceError `model_not_found`. */
  async unregister(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    if (entry === undefined) throw modelNotFound(id)
    // Gone at once for new requests; the id may be registered again meanwhile.
    this.#draining.add(entry)
    this.#forget(entry)
    entry.removed.abort()
    await entry.loads.whenFree()
    await this.#retire(entry.current)
    this.#draining.delete(entry)
  }

  /** One of each id: what drains is left out where its id was registered again. */
  list(): readonly ModelRecord[] {
    const serving = this.#fallback === null ? [...this.#entries.values()] : [this.#fallback]
    const rows = new Map(serving.map((entry) => [entry.id, entry]))
    for (const entry of this.#draining) if (!rows.has(entry.id)) rows.set(entry.id, entry)
    return Array.from(rows.values(), toRecord)
  }

  /** Whether this id is registered; an alias and the fallback are not. */
  has(id: string): boolean {
    return this.#entries.has(id)
  }

  /** `null` and `default` name the default model. @throws ServiceError `model_not_found`. */
  get(modelId: string | null): ModelRecord {
    return toRecord(this.#resolve(modelId))
  }

  /** Whether the default model can take work now. */
  get isReady(): boolean {
    const entry = this.#findDefault()
    return entry?.current?.engine.status().state === 'ready'
  }

  /**
   * Holds a model for a request; waits for a first load that is under way.
   * @throws ServiceError `model_not_found`, `model_loading_failed`, `queue_full`.
   */
  async acquire(modelId: string | null, signal: AbortSignal): Promise<ModelLease> {
    const entry = this.#resolve(modelId)
    if (!isServing(entry) && !entry.loads.isFree) await this.#waitForLoad(entry, signal)
    // One whose first load failed may be forgotten by now; what matters to the caller is why it failed.
    const hasFailed = entry.current === null && entry.failure !== null
    if (entry.isDraining && !hasFailed) throw modelNotFound(entry.id)
    if (entry.current !== null) return entry.current.acquire()
    const message = entry.failure ?? 'it is not loaded.'
    throw new ServiceError('model_loading_failed', { model: entry.id, message }, { retryAfterSeconds: 10 })
  }

  /**
   * Ends every load and closes every engine now; requests that still run fail with `shutting_down`. A load that hangs is
   * waited for a few seconds; what it brings after that is closed then.
   */
  async close(): Promise<void> {
    this.#closing.abort()
    const entries = [...this.#entries.values(), ...this.#draining]
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise((resolve) => {
      timer = setTimeout(resolve, LOADS_END_MS)
    })
    await Promise.race([Promise.all(entries.map(({ loads }) => loads.whenFree())), tooLate])
    clearTimeout(timer)
    await Promise.all(Array.from(this.#open, ({ engine }) => engine.close()))
  }

  async #load(entry: Entry, source: ModelSource, outline: ModelOutline | null = null): Promise<void> {
    entry.failure = null
    entry.loadFraction = 0
    try {
      const signal = AbortSignal.any([this.#closing.signal, entry.removed.signal])
      signal.throwIfAborted()
      const onProgress = (fraction: number): void => {
        entry.loadFraction = fraction
      }
      const onOutline = (read: ModelOutline): void => {
        entry.outline = read
      }
      const loaded = Array.from(this.#open)
        .filter(({ engine }) => engine.status().state !== 'failed')
        .map(({ engine }) => engine.info())
      const hooks = { outline, onProgress, onOutline, loaded, signal }
      const engine = await this.#options.openEngine(entry.id, source, hooks)
      if (this.#closing.signal.aborted) {
        await engine.close()
        throw new ServiceError('shutting_down')
      }
      const replaced = entry.current
      entry.current = this.#createLoaded(entry.id, engine)
      entry.source = source
      void this.#retire(replaced)
    } catch (error) {
      if (this.#closing.signal.aborted) throw new ServiceError('shutting_down', {}, { cause: error })
      if (entry.removed.signal.aborted) throw modelNotFound(entry.id)
      entry.failure =
        error instanceof StartError || error instanceof ServiceError
          ? error.message
          : 'its engine could not be started.'
      throw error
    }
  }

  /** Takes an entry out, so that no new request finds it. */
  #forget(entry: Entry): void {
    entry.isDraining = true
    if (this.#entries.get(entry.id) !== entry) return
    this.#entries.delete(entry.id)
    if (this.#entries.size === 0 && this.#fallback === null) this.#fallback = this.#createFallback()
  }

  /** Until a load has brought something that serves, or none is left. */
  async #waitForLoad(entry: Entry, signal: AbortSignal): Promise<void> {
    this.#loadLine.enter(1)
    try {
      while (!isServing(entry) && !entry.loads.isFree) await withAbort(entry.loads.nextRelease(), signal)
    } finally {
      this.#loadLine.leave(1)
    }
  }

  async #retire(model: LoadedModel | null): Promise<void> {
    if (model === null) return
    await model.retire()
    this.#open.delete(model)
  }

  #retireFallback(): void {
    void this.#retire(this.#fallback?.current ?? null)
    this.#fallback = null
  }

  #resolve(modelId: string | null): Entry {
    const id = modelId ?? DEFAULT_MODEL_ID
    const entry = this.#entries.get(id) ?? (id === DEFAULT_MODEL_ID ? this.#findDefault() : null)
    if (entry === null) throw modelNotFound(id)
    return entry
  }

  /** The one registered first: the server registers its `--checkpoint` before anything else. */
  #findDefault(): Entry | null {
    return this.#entries.get(DEFAULT_MODEL_ID) ?? this.#entries.values().next().value ?? this.#fallback
  }

  #createLoaded(id: string, engine: Engine): LoadedModel {
    const model = new LoadedModel(id, engine, this.#queueLimit)
    this.#open.add(model)
    return model
  }

  #createFallback(): Entry {
    const entry = this.#createEntry(DEFAULT_MODEL_ID)
    entry.current = this.#createLoaded(DEFAULT_MODEL_ID, this.#options.openFallback())
    return entry
  }

  #createEntry(id: string): Entry {
    return {
      id,
      createdUnixSeconds: Math.floor(this.#options.clock.unixSeconds()),
      removed: new AbortController(),
      outline: null,
      loadFraction: 0,
      failure: null,
      isDraining: false,
      current: null,
      source: null,
      loads: new Mutex(),
      isKept: false,
    }
  }
}

function sourceOf({ id, source, failure }: Entry): ModelSource {
  if (source !== null) return source
  const message = failure ?? 'it is not loaded.'
  throw new ServiceError('model_loading_failed', { model: id, message }, { retryAfterSeconds: 10 })
}

function modelNotFound(model: string): ServiceError {
  return new ServiceError('model_not_found', { model }, { param: 'model' })
}
