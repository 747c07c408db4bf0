/** The registered models by id, what stands in for them while there are none, and which of them a name means. */
import { type ModelEntry, modelNotFound } from './model-entry.ts'

/** The alias of the default model, and the id of the fallback. */
export const DEFAULT_MODEL_ID = 'default'

export interface ModelEntriesOptions {
  /** By name: the id that it stands for. */
  readonly aliases?: ReadonlyMap<string, string> | undefined
  readonly openFallback: () => ModelEntry
}

export class ModelEntries {
  readonly #options: ModelEntriesOptions
  readonly #registered = new Map<string, ModelEntry>()
  /** Those that were unregistered and finish their last requests. */
  readonly #draining = new Set<ModelEntry>()
  #fallback: ModelEntry | null
  #mayHaveFallback = true

  constructor(options: ModelEntriesOptions) {
    this.#options = options
    this.#fallback = options.openFallback()
  }

  /** Those that are registered, in their order. */
  values(): IterableIterator<ModelEntry> {
    return this.#registered.values()
  }

  /** What serves, which may be the fallback, and then what drains. */
  all(): readonly ModelEntry[] {
    const serving = this.#fallback === null ? this.#registered.values() : [this.#fallback]
    return [...serving, ...this.#draining]
  }

  isFallback(entry: ModelEntry): boolean {
    return entry === this.#fallback
  }

  /** What is registered under this id; an alias and the fallback are not. */
  get(id: string): ModelEntry | undefined {
    return this.#registered.get(id)
  }

  /** Registers an entry. Returns the fallback whose place it takes. */
  add(entry: ModelEntry): ModelEntry | null {
    this.#registered.set(entry.id, entry)
    const fallback = this.#fallback
    this.#fallback = null
    return fallback
  }

  /** Call when a model was registered, other than one that was refused. The fallback echoes, so it must not take its place. */
  endFallback(): void {
    this.#mayHaveFallback = false
  }

  /** Takes an entry out, so that no new request finds it and its id may be registered again. */
  remove(entry: ModelEntry): void {
    entry.isDraining = true
    if (this.#registered.get(entry.id) !== entry) return
    this.#registered.delete(entry.id)
    if (this.#registered.size === 0 && this.#mayHaveFallback) this.#fallback ??= this.#options.openFallback()
  }

  /** Takes an entry out whose requests finish. Returns what to call when they have. */
  drain(entry: ModelEntry): () => void {
    this.#draining.add(entry)
    this.remove(entry)
    return () => void this.#draining.delete(entry)
  }

  /** By id, by alias, or `default`. */
  find(name: string): ModelEntry | null {
    const named = this.#registered.get(name) ?? this.#registered.get(this.#options.aliases?.get(name) ?? '')
    return named ?? (name === DEFAULT_MODEL_ID ? this.findDefault() : null)
  }

  /** The one registered first: the server registers its `--checkpoint` before anything else. */
  findDefault(): ModelEntry | null {
    return this.#registered.get(DEFAULT_MODEL_ID) ?? this.#registered.values().next().value ?? this.#fallback
  }

  /** Null names the default model. @throws ServiceError `model_not_found` */
  resolve(name: string | null): ModelEntry {
    const id = name ?? DEFAULT_MODEL_ID
    const entry = this.find(id)
    if (entry === null) throw modelNotFound(id)
    return entry
  }
}
