/**
 * Opens the engines of models and knows every engine that is open, those that finish their last requests included. A load
 * changes its entry: what serves, how far it is, why it failed. The registry, its only caller, owns the ids.
 */
import { ServiceError, StartError } from '../core/errors.ts'
import type { ToolFormat } from '../core/tool-format.ts'
import type { Engine, ModelInfo, ModelOutline } from '../protocol/engine.ts'
import type { ModelSource } from '../protocol/model-source.ts'
import type { LoadProgress } from '../protocol/runner-options.ts'
import { LoadedModel, type LoadedModelDeps, type LoadedModelOptions } from './loaded-model.ts'
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
  async load(entry: ModelEntry, { source, outline = null, findBase }: LoadWork): Promise<void> {
    entry.failure = null
    entry.loadFraction = 0
    try {
      const base = (await findBase?.(this.#signalOf(entry))) ?? null
      using _held = base?.acquire()
      const engine = await this.#openEngine(entry.id, source, this.#hooks(entry, { outline, base }))
      if (this.#closing.signal.aborted) {
        await engine.close()
        throw new ServiceError('shutting_down')
      }
      const replaced = entry.current
      entry.current = this.adopt({ modelId: entry.id, engine, toolFormat: toolFormatOf(source, base), base })
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
  adopt(options: LoadedModelOptions): LoadedModel {
    const model = new LoadedModel(options, this.#modelDeps)
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

  #signalOf(entry: ModelEntry): AbortSignal {
    return AbortSignal.any([this.#closing.signal, entry.removed.signal])
  }

  /** @throws the signal's reason when the load has been cancelled. */
  #hooks(entry: ModelEntry, { outline, base }: HookOptions): LoadHooks {
    const signal = this.#signalOf(entry)
    signal.throwIfAborted()
    return {
      outline,
      base: base?.engine ?? null,
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

interface HookOptions {
  readonly outline: ModelOutline | null
  readonly base: LoadedModel | null
}

/** An adapter writes them as its base model does. */
function toolFormatOf(source: ModelSource, base: LoadedModel | null): ToolFormat {
  return source.kind === 'local' ? source.toolFormat : (base?.toolFormat ?? 'auto')
}
