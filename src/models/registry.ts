/**
 * The models that are served, by id, and the leases requests hold on them. Registering an id again loads the new
 * model beside the old, switches, and drains: no request fails, none is answered by half of each. The fallback model serves
 * under the id `default` until a model is given; from then on, nothing registered means that nothing serves.
 *
 *   loading ──▶ ready ──register again──▶ (the old engine drains, the new one is ready)
 *      └──▶ failed                └──unregister──▶ draining ──▶ gone
 *
 * Knows no engine and no files: `openEngine` is passed in by the composition root, and sources are passed on.
 */
import { withAbort } from '../core/abort.ts'
import type { Clock } from '../core/clock.ts'
import { OPERATOR_ACCOUNT_ID } from '../core/credential.ts'
import { type ServiceError, StartError } from '../core/errors.ts'
import type { Engine, ModelOutline, QueuePlace } from '../protocol/engine.ts'
import { type ModelPolicy, OPEN_POLICY } from '../protocol/model-policy.ts'
import {
  type AdapterModelSource,
  toModelSource,
  type ModelSource,
  type RegisteredSource,
} from '../protocol/model-source.ts'
import type { Answer } from '../core/shared-state.ts'
import { refuseBase, requireBase, servingBase } from './adapters.ts'
import type { LoadedModel, ModelLease } from './loaded-model.ts'
import {
  createEntry,
  loadingFailed,
  type ModelEntry,
  modelNotFound,
  noModel,
  sourceOf,
} from './model-entry.ts'
import { createEngineQueue } from './engine-queue.ts'
import { RenderThread } from './chat/render-thread.ts'
import { type EngineProcessId, ModelLoader, type OpenEngine } from './model-loader.ts'
import { isServing, notReady, toRecord, type ModelRecord } from './model-record.ts'
import { QueueLimit } from './queue-limit.ts'
import { QueueLine } from './queue-line.ts'
import { type ModelSequences, SequenceCounts } from './sequence-counts.ts'

export type { ModelLease } from './loaded-model.ts'
export type { LoadHooks, OpenEngine } from './model-loader.ts'
export type { ModelRecord, ModelState } from './model-record.ts'

/** The alias of the default model, and the id of the fallback. */
export const DEFAULT_MODEL_ID = 'default'

const OPERATOR_PLACE: QueuePlace = { priorityClass: 0, priority: 0, accountId: OPERATOR_ACCOUNT_ID }

export interface RegistryOptions {
  readonly openEngine: OpenEngine
  /** Serves until a model is given. */
  readonly openFallback: () => Engine
  /** Further names of models, by the name; an id comes before them. @default none */
  readonly aliases?: ReadonlyMap<string, string>
  /** Sequences that may wait, over all models; a request that waits for a first load counts as one. */
  readonly maxQueue: number
  /** Priority classes that have callers now; slots and queue are kept for the higher ones. @default none known */
  readonly servedClasses?: () => readonly number[]
  readonly clock: Clock
  /** Called when what `serving` gives may have changed, except for what engines report of themselves. */
  readonly onChange?: () => void
  /** Renders the long chats of all models. @default one of its own */
  readonly renderThread?: RenderThread
}

export interface RegisterOptions {
  /** What is known of the model before its load begins. */
  readonly outline?: ModelOutline
  /** Whether an id that is new stays, as `failed`, when its load fails. @default true */
  readonly keepsFailed?: boolean
  /** Holds as soon as the model serves. @default no fallback, open to all */
  readonly policy?: ModelPolicy
}

/** A model as `list` shows it, and what is behind it. */
export interface ServingModel {
  readonly record: ModelRecord
  /** Whether it has its id; the fallback and what drains have not. */
  readonly isRegistered: boolean
  /** Whether a new request may be for it. */
  readonly mayServe: boolean
  /** Whether a request would wait for a load under way. */
  readonly waitsForLoad: boolean
  /** Null until the first load has finished. */
  readonly model: LoadedModel | null
  /** What `model` was loaded from; null for the fallback. */
  readonly source: ModelSource | null
}

export interface ServingModels {
  readonly rows: readonly ServingModel[]
  /** Null where nothing serves. */
  readonly defaultId: string | null
  readonly whyNotReady: ServiceError | null
  readonly servedClasses: readonly number[]
}

/** What the API needs of the registry; in a worker process another one, over the registry of the supervisor. */
export type Models = Pick<
  ModelRegistry,
  | 'register'
  | 'unregister'
  | 'whenShared'
  | 'list'
  | 'has'
  | 'get'
  | 'whyNotReady'
  | 'waitingOf'
  | 'engineProcesses'
  | 'sequences'
  | 'acquire'
  | 'close'
>

export class ModelRegistry {
  readonly #options: RegistryOptions
  readonly #entries = new Map<string, ModelEntry>()
  /** Entries that were unregistered and finish their last requests. */
  readonly #draining = new Set<ModelEntry>()
  #fallback: ModelEntry | null
  /** Whether a model was registered, other than one that was refused. The fallback echoes, so it must not take its place. */
  #wasGivenModel = false
  readonly #loader: ModelLoader
  readonly #renderThread: RenderThread
  readonly #queueLimit: QueueLimit
  /** Requests that wait for a first load. */
  readonly #loadLine: QueueLine
  readonly #sequences = new SequenceCounts()

  constructor(options: RegistryOptions) {
    this.#options = options
    const { maxQueue: max, servedClasses } = options
    this.#queueLimit = new QueueLimit({ max, ...(servedClasses && { servedClasses }) })
    this.#loadLine = new QueueLine(this.#queueLimit, 0)
    this.#renderThread = options.renderThread ?? new RenderThread()
    const createQueue = (engine: Engine) => createEngineQueue(engine, this.#queueLimit)
    const modelDeps = { createQueue, renderThread: this.#renderThread, sequences: this.#sequences }
    const { onChange = () => {} } = options
    this.#loader = new ModelLoader(options.openEngine, { ...modelDeps, onChange })
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
    const baseId = source.kind === 'adapter' ? this.#baseOf(id, source).id : null
    const entry = this.#entries.get(id) ?? createEntry(id, this.#options.clock.unixSeconds())
    this.#entries.set(id, entry)
    this.#retireFallback()
    if (options.outline !== undefined && entry.current === null) entry.outline = options.outline
    entry.isKept ||= options.keepsFailed ?? true
    const { policy = OPEN_POLICY } = options
    if (entry.current === null) Object.assign(entry, { policy, baseId })
    this.#options.onChange?.()
    this.#wasGivenModel ||= entry.isKept
    try {
      await entry.loads.run(async () => {
        await this.#load(entry, source, options.outline)
        Object.assign(entry, { policy, baseId })
      })
      this.#wasGivenModel = true
      await this.#moveAdapters(entry)
    } catch (error) {
      if (!entry.isKept && entry.current === null && entry.loads.isIdle) this.#forget(entry)
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
    const entry = this.#resolve(modelId)
    const reloaded = await entry.loads.run(async () => {
      const source = change(sourceOf(entry))
      await this.#load(entry, source)
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
    const entry = this.#resolve(modelId)
    if (entry === this.#fallback) return null
    if (entry.current === null) await entry.loads.whenIdle()
    return sourceOf(entry)
  }

  /** Stops serving a model; its running requests finish. @throws ServiceError `model_not_found`, `model_has_adapters`. */
  async unregister(id: string): Promise<void> {
    const entry = this.#entries.get(id)
    if (entry === undefined) throw modelNotFound(id)
    refuseBase(id, this.#entries.values())
    // Gone at once for new requests; the id may be registered again meanwhile.
    this.#draining.add(entry)
    this.#forget(entry)
    this.#options.onChange?.()
    entry.removed.abort()
    await entry.loads.whenIdle()
    await this.#loader.retire(entry.current)
    this.#draining.delete(entry)
    this.#options.onChange?.()
  }

  /** Resolves when every process of the service knows of the changes that were begun; here there is one. */
  whenShared(): Answer<void> {}

  /** What a process without a registry needs to serve these models. */
  serving(): ServingModels {
    const defaultId = this.#findDefault()?.id ?? null
    const named = this.#fallback === null ? [...this.#entries.values()] : [this.#fallback]
    const draining = [...this.#draining].filter(({ id }) => !this.#entries.has(id))
    const rows = [...named, ...draining].map((entry) => ({
      record: toRecord(entry),
      isRegistered: this.#entries.get(entry.id) === entry,
      mayServe: !entry.isDraining,
      waitsForLoad: !isServing(entry) && !entry.loads.isIdle,
      model: entry.current,
      source: entry.source,
    }))
    return { rows, defaultId, whyNotReady: this.whyNotReady(), servedClasses: this.#queueLimit.servedClasses }
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

  /** Why the default model cannot take work now; null while it, or its fallback, can. */
  whyNotReady(): ServiceError | null {
    const entry = this.#findDefault()
    if (entry === null) return noModel()
    const why = notReady(entry)
    const { fallback } = entry.policy
    const other = why === null || fallback === null ? null : this.#find(fallback)
    return other === null || notReady(other) !== null ? why : null
  }

  /** Sequences of a priority class that wait for a slot or a first load. */
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
   * Holds a model for a request; waits for a first load that is under way.
   * @param place whose share of the queue that wait takes
   * @throws ServiceError `no_model`, `model_not_found`, `model_loading_failed`, `queue_full`, `queue_share_full`.
   */
  async acquire(
    modelId: string | null,
    signal: AbortSignal,
    place: QueuePlace = OPERATOR_PLACE,
  ): Promise<ModelLease> {
    if (this.#findDefault() === null) throw noModel()
    const entry = this.#resolve(modelId)
    if (!isServing(entry) && !entry.loads.isIdle) await this.#waitForLoad(entry, { signal, place })
    // One whose first load failed may be forgotten by now; what matters to the caller is why it failed.
    const hasFailed = entry.current === null && entry.failure !== null
    if (entry.isDraining && !hasFailed) throw modelNotFound(entry.id)
    if (entry.current !== null) return entry.current.acquire()
    throw loadingFailed(entry)
  }

  /**
   * Ends every load and closes every engine now; requests that still run fail with `shutting_down`. A load that hangs is
   * waited for a few seconds; what it brings after that is closed then.
   */
  async close(): Promise<void> {
    await this.#loader.close([...this.#entries.values(), ...this.#draining])
    await this.#renderThread.close()
  }

  async #load(entry: ModelEntry, source: ModelSource, outline: ModelOutline | null = null): Promise<void> {
    const findBase =
      source.kind === 'adapter'
        ? (signal: AbortSignal) => servingBase(this.#baseOf(entry.id, source), signal)
        : async () => null
    await this.#loader.load(entry, { source, outline, findBase })
  }

  #baseOf(id: string, source: AdapterModelSource): ModelEntry {
    return requireBase(id, source, (baseId) => this.#find(baseId))
  }

  /** What takes the place of a model takes its adapters over. One that does not fit it fails, and says why. */
  async #moveAdapters(base: ModelEntry): Promise<void> {
    const move = async (entry: ModelEntry): Promise<void> => {
      const { current, source } = entry
      if (source === null || current?.base === base.current) return
      try {
        await this.#load(entry, source)
      } catch {
        entry.current = null
        void this.#loader.retire(current)
      }
    }
    const adapters = [...this.#entries.values()].filter(({ baseId }) => baseId === base.id)
    await Promise.all(adapters.map((entry) => entry.loads.run(() => move(entry))))
    if (adapters.length > 0) this.#options.onChange?.()
  }

  /** Takes an entry out, so that no new request finds it. */
  #forget(entry: ModelEntry): void {
    entry.isDraining = true
    if (this.#entries.get(entry.id) !== entry) return
    this.#entries.delete(entry.id)
    if (this.#entries.size === 0 && !this.#wasGivenModel) this.#fallback ??= this.#createFallback()
  }

  /** Until a load has brought something that serves, or none is left. */
  async #waitForLoad(
    entry: ModelEntry,
    { signal, place }: { readonly signal: AbortSignal; readonly place: QueuePlace },
  ): Promise<void> {
    this.#loadLine.enter(1, { place })
    try {
      while (!isServing(entry) && !entry.loads.isIdle) await withAbort(entry.loads.nextRelease(), signal)
    } finally {
      this.#loadLine.leave(1, { place })
    }
  }

  #retireFallback(): void {
    void this.#loader.retire(this.#fallback?.current ?? null)
    this.#fallback = null
  }

  #resolve(modelId: string | null): ModelEntry {
    const id = modelId ?? DEFAULT_MODEL_ID
    const entry = this.#find(id)
    if (entry === null) throw modelNotFound(id)
    return entry
  }

  #find(id: string): ModelEntry | null {
    const named = this.#entries.get(id) ?? this.#entries.get(this.#options.aliases?.get(id) ?? '')
    return named ?? (id === DEFAULT_MODEL_ID ? this.#findDefault() : null)
  }

  /** The one registered first: the server registers its `--checkpoint` before anything else. */
  #findDefault(): ModelEntry | null {
    return this.#entries.get(DEFAULT_MODEL_ID) ?? this.#entries.values().next().value ?? this.#fallback
  }

  #createFallback(): ModelEntry {
    const entry = createEntry(DEFAULT_MODEL_ID, this.#options.clock.unixSeconds())
    const engine = this.#options.openFallback()
    entry.current = this.#loader.adopt({ modelId: DEFAULT_MODEL_ID, engine, toolFormat: 'auto' })
    return entry
  }
}
