/**
 * The models as a worker process serves them: its own engines' clients and leases over what the supervisor has loaded. What is
 * listed, and what a name stands for, comes from the supervisor's last table; what changes the models is a call to it.
 * Invariant: a request keeps its version until its lease is disposed; the version is let go of after the last one.
 */
import type { Channel } from '../../../core/channel/channel.ts'
import { fromErrorData } from '../../../core/channel/error-data.ts'
import { Mutex } from '../../../core/concurrency/semaphore.ts'
import { ServiceError } from '../../../core/errors.ts'
import { modelNotFound, noModel } from '../../../models/model-entry.ts'
import type { RenderThread } from '../../../models/chat/render-thread.ts'
import { LoadedModel, type ModelLease } from '../../../models/loaded-model.ts'
import type { ModelRecord, Models, RegisterOptions } from '../../../models/registry.ts'
import { DEFAULT_MODEL_ID } from '../../../models/registry.ts'
import { type ModelSequences, SequenceCounts } from '../../../models/sequence-counts.ts'
import type { EnginePlace, QueuePlace } from '../../../protocol/engine.ts'
import { type RegisteredSource, toModelSource } from '../../../protocol/model-source.ts'
import type { ModelRow, ModelsTable, VersionData } from './models-table.ts'
import type { OpenedEngine } from './worker-engines.ts'
import { workerQueue } from './worker-queue.ts'

export interface WorkerModelsOptions {
  readonly channel: Pick<Channel, 'call' | 'cast'>
  readonly renderThread: RenderThread
  /** Further names of models. */
  readonly aliases: ReadonlyMap<string, string>
  readonly openEngine: (data: VersionData) => Promise<OpenedEngine>
}

interface OpenVersion {
  readonly model: LoadedModel
  readonly engine: OpenedEngine
}

/** A model may be replaced or unloaded again while this process waits. */
const MAX_ASKED = 3

/** A request that waits for a load. */
interface Waiter {
  readonly modelId: string | null
  /** Taken as soon as the table has the model: one without a lease may be unloaded again. */
  lease: ModelLease | null
}

const NO_MODELS: ModelsTable = {
  rows: [],
  versions: [],
  defaultId: null,
  whyNotReady: null,
  servedClasses: [],
  usageLost: null,
}

export class WorkerModels implements Models {
  readonly #options: WorkerModelsOptions
  #table = NO_MODELS
  readonly #versions = new Map<number, OpenVersion>()
  readonly #retiring = new Set<number>()
  readonly #waiters = new Set<Waiter>()
  /** Held while a table is taken over: they are taken over in their order. */
  readonly #taking = new Mutex()
  readonly #sequences = new SequenceCounts()
  #closed: Promise<void> | null = null

  constructor(options: WorkerModelsOptions) {
    this.#options = options
  }

  /** Resolves when this process goes by the table. */
  async take(table: ModelsTable, places: ReadonlyMap<number, readonly EnginePlace[]>): Promise<void> {
    // At once: an engine that is back must not wait for an upstream that does not answer.
    this.#update(places)
    await this.#taking.run(async () => {
      await this.#take(table)
      // And what was opened meanwhile, by an older table.
      this.#update(places)
    })
  }

  /** Why usage cannot be recorded. */
  get usageLost(): ServiceError | null {
    return toServiceErrorOrNull(this.#table.usageLost)
  }

  async register(id: string, given: RegisteredSource, options: RegisterOptions = {}): Promise<void> {
    const source = toModelSource(given)
    const apiKey = source.kind === 'openai' ? (source.apiKey?.reveal() ?? null) : null
    await this.#options.channel.call('models.register', [id, source, apiKey, options])
  }

  async unregister(id: string): Promise<void> {
    await this.#options.channel.call('models.unregister', [id])
  }

  async load(modelId: string): Promise<void> {
    await this.#options.channel.call('models.load', [modelId])
  }

  async unload(modelId: string): Promise<void> {
    await this.#options.channel.call('models.unload', [modelId])
  }

  whenShared(): Promise<void> {
    return this.#options.channel.call('models.whenShared', [])
  }

  list(): readonly ModelRecord[] {
    return this.#table.rows.map(({ record }) => record)
  }

  has(id: string): boolean {
    return this.#table.rows.some(({ record, isRegistered }) => isRegistered && record.id === id)
  }

  get(modelId: string | null): ModelRecord {
    return this.#resolve(modelId).record
  }

  awaitsLoad(modelId: string | null): boolean {
    const row = this.#find(modelId)
    return row !== null && (row.waitsForLoad || this.#openedOf(row) === undefined)
  }

  whyNotReady(): ServiceError | null {
    return toServiceErrorOrNull(this.#table.whyNotReady)
  }

  /** The supervisor counts what waits, for all workers. */
  waitingOf(): number {
    return 0
  }

  /** The engines are the supervisor's. */
  engineProcesses(): readonly [] {
    return []
  }

  /** What the sequences do that this process serves. */
  sequences(): readonly ModelSequences[] {
    return this.#sequences.list()
  }

  async acquire(modelId: string | null, signal: AbortSignal, place?: QueuePlace): Promise<ModelLease> {
    for (let asked = 0; asked <= MAX_ASKED; asked++) {
      if (this.#table.defaultId === null) throw noModel()
      const row = this.#resolve(modelId)
      const opened = this.#openedOf(row)
      if (opened !== undefined && (asked > 0 || !row.waitsForLoad)) return opened.acquire()
      const lease = await this.#waitForLoad(modelId, { signal, place })
      if (lease !== null) return lease
    }
    const message = 'this process could not take it over.'
    throw new ServiceError('engine_unavailable', { message }, { retryAfterSeconds: 1 })
  }

  /** Has the supervisor load it, or say why there is nothing to wait for. The table is here before the answer. */
  async #waitForLoad(
    modelId: string | null,
    { signal, place }: { readonly signal: AbortSignal; readonly place: QueuePlace | undefined },
  ): Promise<ModelLease | null> {
    const waiter: Waiter = { modelId, lease: null }
    this.#waiters.add(waiter)
    try {
      await this.#options.channel.call('models.await', [modelId, place ?? null], signal)
      return waiter.lease
    } catch (error) {
      waiter.lease?.[Symbol.dispose]()
      throw error
    } finally {
      this.#waiters.delete(waiter)
    }
  }

  #openedOf(row: ModelRow | null): LoadedModel | undefined {
    const version = row?.version ?? null
    return version === null ? undefined : this.#versions.get(version)?.model
  }

  /** Ends what still runs. */
  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  async #close(): Promise<void> {
    await Promise.all(Array.from(this.#versions.values(), ({ model }) => model.engine.close()))
    await this.#options.renderThread.close()
  }

  #update(places: ReadonlyMap<number, readonly EnginePlace[]>): void {
    for (const [version, own] of places) this.#versions.get(version)?.engine.update(own)
  }

  async #take(table: ModelsTable): Promise<void> {
    const serving = new Set(table.rows.map(({ version }) => version))
    // At the same time: each of an upstream that does not answer takes ten seconds.
    const missing = table.versions.filter(({ version }) => !this.#versions.has(version))
    const open = async (data: VersionData) => void this.#versions.set(data.version, await this.#open(data))
    await Promise.all(missing.map(open))
    this.#table = table
    for (const waiter of this.#waiters) {
      const row = this.#find(waiter.modelId)
      if (row?.waitsForLoad === false) waiter.lease ??= this.#openedOf(row)?.acquire() ?? null
    }
    for (const [version, { model }] of this.#versions) {
      if (!serving.has(version)) void this.#retire(version, model)
    }
  }

  async #open(data: VersionData): Promise<OpenVersion> {
    const { channel, renderThread, openEngine } = this.#options
    const { modelId, toolFormat } = data
    const engine = await openEngine(data)
    const queue = workerQueue(channel, { ...data, servedClasses: () => this.#table.servedClasses })
    const deps = { createQueue: () => queue, renderThread, sequences: this.#sequences }
    const onUse = (isInUse: boolean) => channel.cast('models.used', [data.version, isInUse])
    return { engine, model: new LoadedModel({ modelId, engine: engine.engine, toolFormat, onUse }, deps) }
  }

  async #retire(version: number, model: LoadedModel): Promise<void> {
    if (this.#retiring.has(version)) return
    this.#retiring.add(version)
    await model.retire()
    this.#versions.delete(version)
    this.#retiring.delete(version)
    this.#options.channel.cast('models.released', [version])
  }

  #resolve(modelId: string | null): ModelRow {
    const row = this.#find(modelId)
    if (row === null) throw modelNotFound(modelId ?? DEFAULT_MODEL_ID)
    return row
  }

  #find(modelId: string | null): ModelRow | null {
    const id = modelId ?? DEFAULT_MODEL_ID
    const { rows, defaultId } = this.#table
    const registered = (name: string | undefined): ModelRow | undefined =>
      rows.find(({ record, isRegistered }) => isRegistered && record.id === name)
    const named = registered(id) ?? registered(this.#options.aliases.get(id))
    const row =
      named ??
      (id === DEFAULT_MODEL_ID
        ? rows.find(({ record, mayServe }) => mayServe && record.id === defaultId)
        : undefined)
    return row ?? null
  }
}

function toServiceErrorOrNull(data: ModelsTable['whyNotReady']): ServiceError | null {
  const error = data === null ? null : fromErrorData(data)
  return error instanceof ServiceError ? error : null
}
