/**
 * Tells the workers of the supervisor's models whenever something has changed: in the next turn of the event loop, and before a
 * call is answered that changed it. What a worker is told of stays loaded until the worker lets go of it.
 */
import { serialize } from 'node:v8'
import type { ServiceError } from '../../../core/errors.ts'
import type { LogWriter } from '../../../core/log-writer.ts'
import type { ModelRegistry } from '../../../models/registry.ts'
import type { EnginePlace } from '../../../protocol/engine.ts'
import { type PublishedModels, toModelsTable, VersionNumbers } from './models-table.ts'
import type { WorkerHolds } from '../worker-holds.ts'

/** Some things change without an event: which tiers have callers, the seconds until an engine is started again. */
const LOOK_EVERY_MS = 1000

const NOTHING = Buffer.alloc(0)

/** A worker, as far as it is told of models. */
export interface ModelsReader {
  readonly holds: WorkerHolds
  /** Resolves when the worker goes by the table; the places are those of every version that it holds. */
  tell(table: PublishedModels['table'], places: ReadonlyMap<number, readonly EnginePlace[]>): Promise<void>
}

export interface ModelsPublisherOptions {
  readonly registry: Pick<ModelRegistry, 'serving'>
  /** Why usage cannot be recorded now, or null. */
  readonly usageLost: () => Error | null
  /** Why every limited request is refused now, or null. */
  readonly whyUnavailable: () => ServiceError | null
  readonly log: Pick<LogWriter, 'warn'>
}

export class ModelsPublisher {
  readonly #options: ModelsPublisherOptions
  readonly #numbers = new VersionNumbers()
  readonly #readers = new Map<ModelsReader, { told: Buffer; telling: Promise<void> }>()
  readonly #timer: NodeJS.Timeout
  #isScheduled = false

  constructor(options: ModelsPublisherOptions) {
    this.#options = options
    this.#timer = setInterval(() => void this.publish(), LOOK_EVERY_MS).unref()
  }

  /** Resolves when the worker goes by the models of this moment; from then on it is told of every change. */
  async add(reader: ModelsReader): Promise<void> {
    this.#readers.set(reader, { told: NOTHING, telling: Promise.resolve() })
    await this.publish()
  }

  remove(reader: ModelsReader): void {
    this.#readers.delete(reader)
    reader.holds.releaseAll()
  }

  /** Something may have changed. */
  changed(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => {
      this.#isScheduled = false
      void this.publish()
    })
  }

  /** Resolves when every worker goes by the models of this moment. */
  async publish(): Promise<void> {
    const { registry, usageLost, whyUnavailable } = this.#options
    const serving = registry.serving()
    const whyNotReady = whyUnavailable() ?? serving.whyNotReady
    const published = toModelsTable(
      { ...serving, whyNotReady },
      { numbers: this.#numbers, usageLost: usageLost() },
    )
    await Promise.all(Array.from(this.#readers.keys(), (reader) => this.#tell(reader, published)))
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #tell(reader: ModelsReader, { table, models }: PublishedModels): Promise<void> {
    const state = this.#readers.get(reader)
    if (state === undefined) return Promise.resolve()
    reader.holds.hold(models)
    const places = new Map(
      Array.from(reader.holds.replicas, ([version, replicas]) => [
        version,
        replicas.map((replica) => replica.place()),
      ]),
    )
    const now = serialize([table, places])
    if (now.equals(state.told)) return state.telling
    state.told = now
    state.telling = reader.tell(table, places).catch((error: unknown) => {
      // One that has died is removed.
      if (!this.#readers.has(reader)) return
      state.told = NOTHING
      this.#options.log.warn({ err: error }, 'a worker could not take over the models; it is told again')
    })
    return state.telling
  }
}
