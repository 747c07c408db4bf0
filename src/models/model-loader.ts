/**
 * Opens and closes the engines of models and knows every engine that is open, those that finish their last requests included. A
 * load changes its entry: what serves, how far it is, why it failed. Called by the registry, which owns the ids, and by
 * `residency/model-residency.ts`, which says when a model is loaded for a request and unloaded.
 */
import type { Clock } from '../core/clock.ts'
import { ServiceError, StartError } from '../core/errors.ts'
import type { ToolFormat } from '../core/choices/tool-format.ts'
import type { Engine } from '../protocol/engine.ts'
import type { ModelInfo, ModelOutline } from '../protocol/model-info.ts'
import type { ModelSource } from '../protocol/model-source.ts'
import type { LoadProgress } from '../protocol/runner-options.ts'
import { LoadedModel, type LoadedModelDeps, type LoadedModelOptions } from './loaded-model.ts'
import type { LoadRooms, MemoryDemand } from './residency/load-rooms.ts'
import { modelNotFound, type ModelEntry } from './model-entry.ts'
import { toOutline } from './model-record.ts'
import { LoadNotWantedError, NoRoomNowError, type RoomOptions } from './residency/model-room.ts'

/** Time for loads to end when the server does; one that reads from a dead network disk never ends. */
const LOADS_END_MS = 5000

export interface LoadHooks {
  readonly onProgress: LoadProgress
  /** What `register` was given, so that the headers need not be read again; null for nothing. */
  readonly outline: ModelOutline | null
  /** Called as soon as the headers have been read. */
  readonly onOutline: (outline: ModelOutline) => void
  /** What is loaded now. */
  readonly loaded: () => readonly ModelInfo[]
  /** Takes memory; has other models unloaded where none is left. @throws StartError of `reserve` where that cannot help */
  readonly makeRoom: (demand: MemoryDemand) => Promise<Disposable>
  /** The engine of an adapter's base model; null for a model of its own. */
  readonly base: Engine | null
  /** Aborts when the registry closes or the model is unregistered: the load ends as soon as it can. */
  readonly signal: AbortSignal
}

export interface LoadWork {
  readonly source: ModelSource
  /** What is known of the model before its load begins; null for nothing. */
  readonly outline?: ModelOutline | null
  /** Finds the model that an adapter is loaded into. @default a model of its own */
  readonly findBase?: (signal: AbortSignal) => Promise<LoadedModel | null>
  /** Whether others are unloaded where it has no room; where they are not, it is set aside. @default true */
  readonly mayUnload?: boolean
}

/** Of one replica. */
export interface EngineProcessId {
  readonly model: string
  readonly pid: number
}

/** @throws StartError when the model cannot be opened. */
export type OpenEngine = (modelId: string, source: ModelSource, hooks: LoadHooks) => Promise<Engine>

/** Reads what the headers of a source say, and loads nothing; null where there are none. @throws StartError */
export type OutlineModel = (
  modelId: string,
  source: ModelSource,
  hooks: Pick<LoadHooks, 'onProgress' | 'signal'>,
) => Promise<ModelOutline | null>

export interface ModelLoaderDeps extends LoadedModelDeps {
  readonly openEngine: OpenEngine
  readonly outlineModel: OutlineModel
  readonly rooms: LoadRooms
  readonly clock: Clock
  /** Called when an entry has changed. */
  readonly onChange: () => void
}

export class ModelLoader {
  readonly #deps: ModelLoaderDeps
  readonly #open = new Set<LoadedModel>()
  readonly #closing = new AbortController()

  constructor(deps: ModelLoaderDeps) {
    this.#deps = deps
  }

  /**
   * Opens the engine of a source and lets it serve in the place of what served; the old one closes with its last lease.
   * @throws StartError, LoadNotWantedError, ServiceError `shutting_down`, `model_not_found` when the entry was unregistered meanwhile.
   */
  async load(
    entry: ModelEntry,
    { source, outline = null, findBase = noBase, mayUnload = true }: LoadWork,
  ): Promise<void> {
    entry.failure = null
    entry.loadFraction = 0
    entry.isUnloaded = false
    entry.wakeFailedMs = null
    try {
      const work = { source, outline, findBase, mayUnload }
      while (!(await this.#loadOnce(entry, work)));
    } catch (error) {
      if (error instanceof NoRoomNowError && !mayUnload)
        return await this.setAside(entry, source, outline ?? entry.outline)
      entry.isUnloaded = entry.current === null && entry.source !== null
      if (entry.isUnloaded) entry.loadFraction = 0
      this.#fail(entry, error)
    } finally {
      this.#deps.rooms.loadEnded(entry)
    }
  }

  /** Resolves with false where the base of an adapter was replaced meanwhile. */
  async #loadOnce(entry: ModelEntry, work: Required<LoadWork>): Promise<boolean> {
    const { source, findBase, mayUnload } = work
    const { rooms, clock } = this.#deps
    const base = await findBase(this.#signalOf(entry))
    using _held = base?.acquire()
    const hooks = this.#hooks(entry, { ...work, base })
    using _seat = source.kind === 'local' ? await rooms.takeSeat(entry, { ...hooks, mayUnload }) : null
    const engine = await this.#deps.openEngine(entry.id, source, hooks)
    checkEngine(engine)
    const isClosing = this.#closing.signal.aborted
    if (isClosing || base?.isRetired === true) {
      await engine.close()
      if (isClosing) throw new ServiceError('shutting_down')
      return false
    }
    const replaced = entry.current
    try {
      entry.current = this.adopt(entry, { engine, toolFormat: toolFormatOf(source, base), base })
    } catch (error) {
      // One of an application's own that cannot tell what it is; nothing else would close it.
      await engine.close().catch(() => {})
      throw error
    }
    entry.source = source
    entry.loadedMs = clock.nowMs()
    entry.lastUsedMs = entry.loadedMs
    this.#deps.onChange()
    void this.retire(replaced)
    return true
  }

  /** Keeps a source to load it by a request; what served in its place closes with its last lease. @throws as `load` */
  async setAside(entry: ModelEntry, source: ModelSource, known: ModelOutline | null): Promise<void> {
    try {
      const hooks = this.#hooks(entry, { outline: null, base: null, mayUnload: false })
      entry.outline = known ?? (await this.#deps.outlineModel(entry.id, source, hooks))
    } catch (error) {
      this.#fail(entry, error)
    }
    const replaced = entry.current
    entry.source = source
    this.#empty(entry)
    void this.retire(replaced)
  }

  /** Resolves when its engine is closed, after its last lease; from the beginning, a request loads it again. */
  async unload(entry: ModelEntry): Promise<void> {
    const { current } = entry
    if (current === null) return
    entry.outline = toOutline(current.engine.info())
    this.#empty(entry)
    await entry.loads.run(() => this.retire(current))
    this.#deps.rooms.changes.notify()
  }

  /** Makes a model of an engine that is open. */
  adopt(entry: ModelEntry, opened: Omit<LoadedModelOptions, 'modelId' | 'onUse'>): LoadedModel {
    const onUse = (isInUse: boolean): void => this.#used(entry, isInUse)
    const model = new LoadedModel({ ...opened, modelId: entry.id, onUse }, this.#deps)
    this.#open.add(model)
    return model
  }

  engineProcesses(): readonly EngineProcessId[] {
    // An adapter has none of its own.
    const models = [...this.#open].filter(({ base }) => base === null)
    return models.flatMap(({ modelId, engine }) =>
      (engine.replicas?.() ?? []).flatMap((replica) => {
        const place = replica.place()
        return place.state === 'ready' ? [{ model: modelId, pid: place.pid }] : []
      }),
    )
  }

  /** Closes a model's engine when its last lease is gone. One of an application's own that cannot be closed is let go of. */
  async retire(model: LoadedModel | null): Promise<void> {
    if (model === null) return
    await model.retire().catch(() => {})
    this.#open.delete(model)
  }

  /**
   * Ends the loads of these entries, and closes every engine: at once, as one that drains keeps the load that takes its room from its
   * end. A load that hangs is waited for a few seconds; what it brings after that is closed then.
   * @throws what an engine throws as it is closed, once all of them were
   */
  async close(entries: readonly ModelEntry[]): Promise<void> {
    this.#closing.abort()
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise((resolve) => {
      timer = setTimeout(resolve, LOADS_END_MS)
    })
    const loads = Promise.race([Promise.all(entries.map((entry) => entry.loads.whenIdle())), tooLate])
    const [closed] = await Promise.all([this.#closeOpen(), loads])
    clearTimeout(timer)
    const failed = [...closed, ...(await this.#closeOpen())].find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  async #closeOpen(): Promise<readonly PromiseSettledResult<void>[]> {
    return await Promise.allSettled(Array.from(this.#open, async ({ engine }) => await engine.close()))
  }

  #signalOf(entry: ModelEntry): AbortSignal {
    return AbortSignal.any([this.#closing.signal, entry.removed.signal])
  }

  /** @throws the signal's reason when the load has been cancelled. */
  #hooks(entry: ModelEntry, { outline, base, mayUnload }: HookOptions): LoadHooks {
    const signal = this.#signalOf(entry)
    signal.throwIfAborted()
    const options: RoomOptions = { mayUnload, signal }
    return {
      outline,
      base: base?.engine ?? null,
      signal,
      onProgress: (fraction) => {
        entry.loadFraction = fraction
        this.#deps.onChange()
      },
      onOutline: (read) => {
        entry.outline = read
        this.#deps.onChange()
      },
      loaded: () =>
        Array.from(this.#open)
          .filter(({ engine }) => engine.status().state !== 'failed')
          .map(({ engine }) => engine.info()),
      makeRoom: (demand) => this.#deps.rooms.takeMemory(entry, demand, options),
    }
  }

  #empty(entry: ModelEntry): void {
    entry.current = null
    entry.isUnloaded = true
    entry.loadFraction = 0
    entry.failure = null
    entry.wakeFailedMs = null
    this.#deps.onChange()
  }

  #used(entry: ModelEntry, isInUse: boolean): void {
    const { clock, rooms } = this.#deps
    entry.lastUsedMs = clock.nowMs()
    entry.lastUsedUnixSeconds = Math.floor(clock.unixSeconds())
    if (!isInUse) rooms.changes.notify()
  }

  #fail(entry: ModelEntry, error: unknown): never {
    if (this.#closing.signal.aborted) throw new ServiceError('shutting_down', {}, { cause: error })
    if (entry.removed.signal.aborted) throw modelNotFound(entry.id)
    if (!(error instanceof LoadNotWantedError)) {
      entry.failure =
        error instanceof StartError || error instanceof ServiceError
          ? error.message
          : 'its engine could not be started.'
    }
    throw error
  }
}

const noBase = (): Promise<null> => Promise.resolve(null)

interface HookOptions {
  readonly outline: ModelOutline | null
  readonly base: LoadedModel | null
  readonly mayUnload: boolean
}

/** An adapter writes them as its base model does. */
function toolFormatOf(source: ModelSource, base: LoadedModel | null): ToolFormat {
  return source.kind === 'local' ? source.toolFormat : (base?.toolFormat ?? 'auto')
}

/** @throws StartError unless it is an engine as far as its methods tell */
function checkEngine(given: unknown): asserts given is Engine {
  const engine = (typeof given === 'object' && given !== null ? given : {}) as Partial<
    Record<string, unknown>
  >
  const missing = ENGINE_METHODS.find((name) => typeof engine[name] !== 'function')
  if (missing === undefined) return
  throw new StartError(`openEngine must give an engine, but what it gave has no method ${missing}.`)
}

const ENGINE_METHODS = ['generate', 'tokenize', 'detokenize', 'info', 'status', 'close'] as const
