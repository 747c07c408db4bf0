/**
 * The models that are served, by id, and the leases requests hold on them. Registering an id again loads the new
 * model beside the old, switches, and drains: no request fails, none is answered by half of each. The fallback model serves
 * under the id `default` until a model is given; from then on, nothing registered means that nothing serves.
 *
 *   loading ──▶ ready ──register again──▶ (the old engine drains, the new one is ready)
 *    ▲ └──▶ failed  │  └──unregister──▶ draining ──▶ gone
 *    │              └──unload, idle, another needs the room──▶ unloaded
 *    └──────────────────────a request───────────────────────────┘
 *
 * Knows no engine and no files: `openEngine` is passed in by the composition root, and sources are passed on.
 */
import { OPERATOR_ACCOUNT_ID } from '../core/credential.ts'
import { type ServiceError, StartError } from '../core/errors.ts'
import type { Engine, QueuePlace } from '../protocol/engine.ts'
import { OPEN_POLICY } from '../protocol/model-policy.ts'
import type { AdapterModelSource, ModelSource, RegisteredSource } from '../protocol/model-source.ts'
import type { Answer } from '../core/shared-state.ts'
import { checkRegisterOptions, checkRegistryOptions } from './check-registry.ts'
import { refuseBase, requireBase, servingBase } from './adapters.ts'
import type { LoadedModel, ModelLease } from './loaded-model.ts'
import type { RegisterOptions, RegistryOptions, ServingModels } from './registry-options.ts'
import {
  createEntry,
  loadingFailed,
  type ModelEntry,
  modelNotFound,
  noModel,
  sourceOf,
} from './model-entry.ts'
import { DEFAULT_MODEL_ID, ModelEntries } from './model-entries.ts'
import { createEngineQueue } from './queue/engine-queue.ts'
import { RenderThread } from './chat/render-thread.ts'
import { LoadRooms } from './residency/load-rooms.ts'
import { type EngineProcessId, type LoadWork, ModelLoader } from './model-loader.ts'
import { isServing, notReady, toRecord, type ModelRecord } from './model-record.ts'
import { readRegisteredSource, refuseId } from './read-source.ts'
import { ModelResidency } from './residency/model-residency.ts'
import { QueueLimit } from './queue/queue-limit.ts'
import { QueueLine } from './queue/queue-line.ts'
import { type ModelSequences, SequenceCounts } from './sequence-counts.ts'

export { DEFAULT_MODEL_ID } from './model-entries.ts'
export type { ModelLease } from './loaded-model.ts'
export type { LoadHooks, OpenEngine, OutlineModel } from './model-loader.ts'
export type { ModelRecord, ModelState } from './model-record.ts'
export type { RegisterOptions, RegistryOptions, ServingModel, ServingModels } from './registry-options.ts'

const OPERATOR_PLACE: QueuePlace = { priorityClass: 0, priority: 0, accountId: OPERATOR_ACCOUNT_ID }

/** What the API needs of the registry; in a worker process another one, over the registry of the supervisor. */
export type Models = Pick<
  ModelRegistry,
  | 'register'
  | 'unregister'
  | 'load'
  | 'unload'
  | 'whenShared'
  | 'list'
  | 'has'
  | 'get'
  | 'awaitsLoad'
  | 'whyNotReady'
  | 'waitingOf'
  | 'engineProcesses'
  | 'sequences'
  | 'acquire'
  | 'close'
>

export class ModelRegistry {
  readonly #options: RegistryOptions
  readonly #entries: ModelEntries
  readonly #rooms: LoadRooms
  readonly #loader: ModelLoader
  readonly #residency: ModelResidency
  readonly #renderThread: RenderThread
  readonly #queueLimit: QueueLimit
  /** Requests that wait for a load. */
  readonly #loadLine: QueueLine
  readonly #sequences = new SequenceCounts()

  /** @throws StartError for an option that is wrong */
  constructor(options: RegistryOptions) {
    checkRegistryOptions(options)
    this.#options = options
    const { maxQueue: max, servedClasses, clock, onChange = () => {} } = options
    const { maxLoaded = null, idleUnloadMs = null, outlineModel = () => Promise.resolve(null) } = options
    this.#queueLimit = new QueueLimit({ max, ...(servedClasses && { servedClasses }) })
    this.#loadLine = new QueueLine(this.#queueLimit, 0)
    this.#renderThread = options.renderThread ?? new RenderThread()
    const createQueue = (engine: Engine) => createEngineQueue(engine, this.#queueLimit)
    const modelDeps = { createQueue, renderThread: this.#renderThread, sequences: this.#sequences }
    const entries = () => this.#entries.values()
    const unload = (entry: ModelEntry) => this.#loader.unload(entry)
    this.#rooms = new LoadRooms({ maxLoaded, clock, entries, unload })
    const { openEngine } = options
    this.#loader = new ModelLoader({
      ...modelDeps,
      openEngine,
      outlineModel,
      rooms: this.#rooms,
      clock,
      onChange,
    })
    const openFallback = (): ModelEntry => {
      const entry = createEntry(DEFAULT_MODEL_ID, clock.unixSeconds())
      entry.current = this.#loader.adopt(entry, { engine: options.openFallback(), toolFormat: 'auto' })
      return entry
    }
    this.#entries = new ModelEntries({ aliases: options.aliases, openFallback })
    const loader = { load: (entry: ModelEntry, work: LoadWork) => this.#load(entry, work), unload }
    this.#residency = new ModelResidency({ loader, clock, entries, idleUnloadMs, onChange })
  }

  /**
   * Loads a model and serves it under `id`; one that is served already goes on until the new one is ready, and for
   * good when that fails.
   * @throws StartError with one sentence when something given is wrong, or the model cannot be opened.
   */
  async register(id: string, given: RegisteredSource, options: RegisterOptions = {}): Promise<void> {
    refuseId(id)
    checkRegisterOptions(options)
    const source = readRegisteredSource(id, given)
    const baseId = source.kind === 'adapter' ? this.#baseOf(id, source).id : null
    const entry = this.#entries.get(id) ?? createEntry(id, this.#options.clock.unixSeconds())
    void this.#loader.retire(this.#entries.add(entry)?.current ?? null)
    if (options.outline !== undefined && entry.current === null) entry.outline = options.outline
    entry.isKept ||= options.keepsFailed ?? true
    const { policy = OPEN_POLICY, isPinned = false, load = 'now', outline = null } = options
    // What serves, or is unloaded, keeps its own until the new model is there.
    if (entry.current === null && entry.source === null) Object.assign(entry, { policy, baseId, isPinned })
    this.#options.onChange?.()
    if (entry.isKept) this.#entries.endFallback()
    try {
      await entry.loads.run(async () => {
        if (load === 'request') await this.#loader.setAside(entry, source, outline)
        else await this.#load(entry, { source, outline, mayUnload: load === 'now' })
        Object.assign(entry, { policy, baseId, isPinned })
      })
      this.#entries.endFallback()
      await this.#moveAdapters(entry)
    } catch (error) {
      const isNew = entry.current === null && entry.source === null
      if (isNew && !entry.isKept && entry.loads.isIdle) this.#entries.remove(entry)
      this.#options.onChange?.()
      throw error
    }
  }

  /**
   * Loads a model again from a change of the source that it has when the turn of this load comes, and serves that under
   * its id. Resolves with what `openEngine` was given.
   * @throws ServiceError `model_not_found`, `model_loading_failed`; StartError when it cannot be done.
   */
  async reload(modelId: string, change: (source: ModelSource) => ModelSource): Promise<ModelSource> {
    const entry = this.#entries.resolve(modelId)
    const reloaded = await entry.loads.run(async () => {
      const source = change(sourceOf(entry))
      await this.#load(entry, { source })
      return source
    })
    await this.#moveAdapters(entry)
    return reloaded
  }

  /**
   * What a model was loaded from, once a first load under way has finished; null for the fallback.
   * @throws ServiceError `model_not_found`, `model_loading_failed`.
   */
  async source(modelId: string): Promise<ModelSource | null> {
    const entry = this.#entries.resolve(modelId)
    if (this.#entries.isFallback(entry)) return null
    if (entry.current === null) await entry.loads.whenIdle()
    return sourceOf(entry)
  }

  /** Stops serving a model; its running requests finish. @throws ServiceError `model_not_found`, `model_has_adapters`. */
  async unregister(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    if (entry === undefined) throw modelNotFound(id)
    refuseBase(id, this.#entries.values())
    // Gone at once for new requests; the id may be registered again meanwhile.
    const drained = this.#entries.drain(entry)
    this.#options.onChange?.()
    entry.removed.abort()
    await entry.loads.whenIdle()
    await this.#loader.retire(entry.current)
    drained()
    this.#options.onChange?.()
  }

  /** Loads one that is unloaded. @throws ServiceError `model_not_found`; StartError when it cannot be loaded. */
  async load(modelId: string): Promise<void> {
    const entry = this.#entries.resolve(modelId)
    entry.wakeFailedMs = null
    const isLoaded = await this.#whenLoaded(entry, AbortSignal.any([]), () => entry.current !== null).catch(
      // Why it failed is in its entry.
      () => false,
    )
    if (entry.isDraining) throw modelNotFound(entry.id)
    if (!isLoaded) throw new StartError(entry.failure ?? 'it is not loaded.')
  }

  /**
   * Closes the engine of a model that nobody uses; the next request loads it again.
   * @throws ServiceError `model_not_found`, `model_in_use`, `unsupported_value` for one of an upstream.
   */
  async unload(modelId: string): Promise<void> {
    await this.#residency.unload(this.#entries.resolve(modelId))
  }

  /** Resolves when every process of the service knows of the changes that were begun; here there is one. */
  whenShared(): Answer<void> {}

  /** What a process without a registry needs to serve these models. */
  serving(): ServingModels {
    const isHidden = (entry: ModelEntry) => entry.isDraining && this.#entries.get(entry.id) !== undefined
    const entries = this.#entries.all().filter((entry) => !isHidden(entry))
    const rows = entries.map((entry) => ({
      record: toRecord(entry),
      isRegistered: this.#entries.get(entry.id) === entry,
      mayServe: !entry.isDraining,
      waitsForLoad: isComing(entry),
      model: entry.current,
      source: entry.source,
    }))
    const defaultId = this.#entries.findDefault()?.id ?? null
    return { rows, defaultId, whyNotReady: this.whyNotReady(), servedClasses: this.#queueLimit.servedClasses }
  }

  /** One of each id: what drains is left out where its id was registered again. */
  list(): readonly ModelRecord[] {
    const rows = new Map<string, ModelRecord>()
    for (const entry of this.#entries.all()) if (!rows.has(entry.id)) rows.set(entry.id, toRecord(entry))
    return [...rows.values()]
  }

  /** Whether this id is registered; an alias and the fallback are not. */
  has(id: string): boolean {
    return this.#entries.get(id) !== undefined
  }

  /** `null` and `default` name the default model. @throws ServiceError `model_not_found`. */
  get(modelId: string | null): ModelRecord {
    return toRecord(this.#entries.resolve(modelId))
  }

  /** Whether a request for it would first wait for a load, or have it loaded; false for a name that stands for nothing. */
  awaitsLoad(modelId: string | null): boolean {
    const entry = this.#entries.find(modelId ?? DEFAULT_MODEL_ID)
    return entry !== null && waitsForLoad(entry)
  }

  /** Why the default model cannot take work now; null while it, or its fallback, can. */
  whyNotReady(): ServiceError | null {
    const entry = this.#entries.findDefault()
    if (entry === null) return noModel()
    const why = notReady(entry)
    const { fallback } = entry.policy
    const other = why === null || fallback === null ? null : this.#entries.find(fallback)
    return other === null || notReady(other) !== null ? why : null
  }

  /** Sequences of a priority class that wait for a slot or a load. */
  waitingOf(priorityClass: number): number {
    return this.#queueLimit.waitingOf(priorityClass)
  }

  /** What the sequences do that this process serves. */
  sequences(): readonly ModelSequences[] {
    return this.#sequences.list()
  }

  /** The processes of engines that serve, or finish their last requests after a swap. */
  engineProcesses(): readonly EngineProcessId[] {
    return this.#loader.engineProcesses()
  }

  /**
   * Holds a model for a request; loads one that is unloaded, and waits for a first load that is under way.
   * @param place whose share of the queue that wait takes
   * @throws ServiceError `no_model`, `model_not_found`, `model_loading_failed`, `queue_full`, `queue_share_full`.
   */
  async acquire(
    modelId: string | null,
    signal: AbortSignal,
    place: QueuePlace = OPERATOR_PLACE,
  ): Promise<ModelLease> {
    if (this.#entries.findDefault() === null) throw noModel()
    const entry = this.#entries.resolve(modelId)
    return waitsForLoad(entry) ? await this.#acquireInLine(entry, { signal, place }) : leaseOf(entry)
  }

  /**
   * Ends every load and closes every engine now; requests that still run fail with `shutting_down`. A load that hangs is
   * waited for a few seconds; what it brings after that is closed then.
   * @throws what an engine throws as it is closed, once all of them were
   */
  async close(): Promise<void> {
    this.#residency.close()
    try {
      await this.#loader.close(this.#entries.all())
    } finally {
      await this.#renderThread.close()
    }
  }

  async #load(entry: ModelEntry, work: LoadWork): Promise<void> {
    const { source } = work
    const findBase = async (signal: AbortSignal): Promise<LoadedModel | null> =>
      source.kind === 'adapter' ? await this.#loadedBase(this.#baseOf(entry.id, source), signal) : null
    await this.#loader.load(entry, { ...work, findBase })
  }

  /** A base that is unloaded is loaded for its adapter, and stays so with it. */
  async #loadedBase(base: ModelEntry, signal: AbortSignal): Promise<LoadedModel> {
    base.waiting++
    try {
      if (base.isUnloaded) await this.#whenLoaded(base, signal, () => {})
      return await servingBase(base, signal)
    } finally {
      base.waiting--
    }
  }

  #baseOf(id: string, source: AdapterModelSource): ModelEntry {
    return requireBase(id, source, (baseId) => this.#entries.find(baseId))
  }

  /** What takes the place of a model takes its adapters over. One that does not fit it fails, and says why. */
  async #moveAdapters(base: ModelEntry): Promise<void> {
    const move = async (entry: ModelEntry): Promise<void> => {
      const { current, source } = entry
      if (source === null || current?.base === base.current) return
      try {
        await this.#load(entry, { source })
      } catch {
        entry.current = null
        // As one that was unloaded and could not be loaded: a request tries again after a pause.
        entry.isUnloaded = entry.source !== null
        entry.wakeFailedMs = this.#options.clock.nowMs()
        void this.#loader.retire(current)
      }
    }
    // One that loads for the first time finds out by itself.
    const adapters = [...this.#entries.values()].filter(
      ({ baseId, source }) => baseId === base.id && source !== null,
    )
    await Promise.all(adapters.map((entry) => entry.loads.run(() => move(entry))))
    if (adapters.length > 0) this.#options.onChange?.()
  }

  /** Waits for a load in a place of the queue. */
  async #acquireInLine(
    entry: ModelEntry,
    { signal, place }: { readonly signal: AbortSignal; readonly place: QueuePlace },
  ): Promise<ModelLease> {
    this.#loadLine.enter(1, { place })
    try {
      return await this.#whenLoaded(entry, signal, () => leaseOf(entry))
    } finally {
      this.#loadLine.leave(1, { place })
    }
  }

  /**
   * Until a load has brought something that serves, or none is left; loads one that is unloaded. `then` runs before the model counts
   * as one that nobody waits for, which another load may have unloaded.
   */
  async #whenLoaded<Result>(entry: ModelEntry, signal: AbortSignal, then: () => Result): Promise<Result> {
    entry.waiting++
    try {
      this.#residency.wake(entry)
      while (isComing(entry)) {
        await entry.loads.nextRelease(signal)
        this.#residency.wake(entry)
      }
      return then()
    } finally {
      entry.waiting--
      this.#rooms.changes.notify()
    }
  }
}

/** @throws ServiceError `model_not_found`, `model_loading_failed` */
function leaseOf(entry: ModelEntry): ModelLease {
  const { current } = entry
  // One whose first load failed may be forgotten by now; what matters to the caller is why it failed.
  const hasFailed = current === null && entry.failure !== null
  if (entry.isDraining && !hasFailed) throw modelNotFound(entry.id)
  if (current === null) throw loadingFailed(entry)
  return current.acquire()
}

function waitsForLoad(entry: ModelEntry): boolean {
  return entry.isUnloaded || isComing(entry)
}

/** Whether a load is under way, or due, that brings what nothing else serves. */
function isComing(entry: ModelEntry): boolean {
  return !isServing(entry) && !entry.loads.isIdle
}
