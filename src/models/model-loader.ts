/**
 * Opens the engines of models and knows every engine that is open, those that finish their last requests included. A load
 * changes its entry: what serves, how far it is, why it failed. The registry, its only caller, owns the ids.
 */
import { ServiceError, StartError } from '../core/errors.ts'
import type { ToolFormat } from '../core/tool-format.ts'
import type { Engine, ModelInfo, ModelOutline } from '../protocol/engine.ts'
import type { ModelSource } from '../protocol/model-source.ts'
import type { LoadProgress } from '../protocol/runner-options.ts'
import { LoadedModel, type LoadedModelDeps } from './loaded-model.ts'
import { modelNotFound, type ModelEntry } from './model-entry.ts'

/** Time for loads to end when the server does; one that reads from a dead network disk never ends. */
const LOADS_END_MS = 5000

export interface LoadHooks {
  readonly onProgress: LoadProgress
  /** What `register` was given, so that the headers need not be read again; null for nothing. */
  readonly outline: ModelOutline | null
  /** Called as soon as the headers have been read. */
  readonly onOutline: (outline: ModelOutline) => void
  /** What is loaded now and stays so while this one loads. */
  readonly loaded: readonly ModelInfo[]
  /** Aborts when the registry closes or the model is unregistered: the load ends as soon as it can. */
  readonly signal: AbortSignal
}

/** Of one replica. */
export interface EngineProcessId {
  readonly model: string
  readonly pid: number
}

/** @throws StartError when the model cannot be opened. */
export type OpenEngine = (modelId: string, source: ModelSource, hooks: LoadHooks) => Promise<Engine>

export class ModelLoader {
  readonly #openEngine: OpenEngine
  readonly #modelDeps: LoadedModelDeps
  readonly #onChange: () => void
  readonly #open = new Set<LoadedModel>()
  readonly #closing = new AbortController()

  /** @param deps `onChange` is called when an entry has changed */
  constructor(
    openEngine: OpenEngine,
    { onChange, ...modelDeps }: LoadedModelDeps & { readonly onChange: () => void },
  ) {
    this.#openEngine = openEngine
    this.#onChange = onChange
    this.#modelDeps = modelDeps
  }

  /**
   * Opens the engine of a source and lets it serve in the place of what served; the old one closes with its last lease.
   * @throws StartError, ServiceError `shutting_down`, `model_not_found` when the entry was unregistered meanwhile.
   */
  async load(entry: ModelEntry, source: ModelSource, outline: ModelOutline | null): Promise<void> {
    entry.failure = null
    entry.loadFraction = 0
    try {
      const engine = await this.#openEngine(entry.id, source, this.#hooks(entry, outline))
      if (this.#closing.signal.aborted) {
        await engine.close()
        throw new ServiceError('shutting_down')
      }
      const replaced = entry.current
      entry.current = this.adopt(entry.id, engine, source.kind === 'local' ? source.toolFormat : 'auto')
      entry.source = source
      this.#onChange()
      void this.retire(replaced)
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

  /** Makes a model of an engine that is open. */
  adopt(modelId: string, engine: Engine, toolFormat: ToolFormat): LoadedModel {
    const model = new LoadedModel({ modelId, engine, toolFormat }, this.#modelDeps)
    this.#open.add(model)
    return model
  }

  engineProcesses(): readonly EngineProcessId[] {
    return [...this.#open].flatMap(({ modelId, engine }) =>
      (engine.replicas?.() ?? []).flatMap((replica) => {
        const place = replica.place()
        return place.state === 'ready' ? [{ model: modelId, pid: place.pid }] : []
      }),
    )
  }

  /** Closes a model's engine when its last lease is gone. */
  async retire(model: LoadedModel | null): Promise<void> {
    if (model === null) return
    await model.retire()
    this.#open.delete(model)
  }

  /**
   * Ends the loads of these entries, and closes every engine. A load that hangs is waited for a few seconds; what it brings
   * after that is closed then.
   */
  async close(entries: readonly ModelEntry[]): Promise<void> {
    this.#closing.abort()
    let timer: NodeJS.Timeout | undefined
    const tooLate = new Promise((resolve) => {
      timer = setTimeout(resolve, LOADS_END_MS)
    })
    await Promise.race([Promise.all(entries.map(({ loads }) => loads.whenIdle())), tooLate])
    clearTimeout(timer)
    await Promise.all(Array.from(this.#open, ({ engine }) => engine.close()))
  }

  /** @throws the signal's reason when the load has been cancelled. */
  #hooks(entry: ModelEntry, outline: ModelOutline | null): LoadHooks {
    const signal = AbortSignal.any([this.#closing.signal, entry.removed.signal])
    signal.throwIfAborted()
    return {
      outline,
      signal,
      onProgress: (fraction) => {
        entry.loadFraction = fraction
        this.#onChange()
      },
      onOutline: (read) => {
        entry.outline = read
        this.#onChange()
      },
      loaded: Array.from(this.#open)
        .filter(({ engine }) => engine.status().state !== 'failed')
        .map(({ engine }) => engine.info()),
    }
  }
}
