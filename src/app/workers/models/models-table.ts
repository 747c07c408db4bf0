/**
 * What the supervisor tells its workers of the models, as data: the whole truth each time, since it changes rarely. A version is
 * what one load has brought; a worker holds each that may serve until another takes its place and its own requests have ended.
 */
import { type ErrorData, toErrorData } from '../../../core/channel/error-data.ts'
import type { ToolFormat } from '../../../core/choices/tool-format.ts'
import type { LoadedModel } from '../../../models/loaded-model.ts'
import type { ModelRecord, ServingModel, ServingModels } from '../../../models/registry.ts'
import type { OpenedAdapter } from '../../../protocol/adapter.ts'
import type { EnginePlace } from '../../../protocol/engine.ts'
import type { RemoteModelSource } from '../../../protocol/model-source.ts'

/** A `RemoteModelSource` whose key can be sent. */
interface RemoteSourceData extends Omit<RemoteModelSource, 'apiKey'> {
  readonly apiKey: string | null
}

/** How a worker reaches the engine of a version. */
type EngineData =
  | {
      readonly kind: 'processes'
      readonly places: readonly EnginePlace[]
      /** The one of an adapter, whose processes are those of its base model; null for a model of its own. */
      readonly adapter: OpenedAdapter | null
    }
  /** The worker is a client of the upstream itself. */
  | { readonly kind: 'upstream'; readonly source: RemoteSourceData }

export interface VersionData {
  readonly version: number
  readonly modelId: string
  readonly toolFormat: ToolFormat
  readonly hasBeams: boolean
  readonly engine: EngineData
}

export interface ModelRow extends Omit<ServingModel, 'model' | 'source'> {
  readonly record: ModelRecord
  /** Null where no new request may be for it. */
  readonly version: number | null
}

export interface ModelsTable {
  readonly rows: readonly ModelRow[]
  /** Of the rows. */
  readonly versions: readonly VersionData[]
  readonly defaultId: string | null
  readonly whyNotReady: ErrorData | null
  readonly servedClasses: readonly number[]
  /** Why usage cannot be recorded. */
  readonly usageLost: ErrorData | null
}

/** The table, and the models of its versions. */
export interface PublishedModels {
  readonly table: ModelsTable
  readonly models: ReadonlyMap<number, LoadedModel>
}

/** Numbers the versions, each once. */
export class VersionNumbers {
  readonly #numbers = new WeakMap<LoadedModel, number>()
  #count = 0

  of(model: LoadedModel): number {
    const number = this.#numbers.get(model) ?? ++this.#count
    this.#numbers.set(model, number)
    return number
  }
}

export function toModelsTable(
  { rows, defaultId, whyNotReady, servedClasses }: ServingModels,
  { numbers, usageLost }: { readonly numbers: VersionNumbers; readonly usageLost: Error | null },
): PublishedModels {
  const models = new Map<number, LoadedModel>()
  const versions: VersionData[] = []
  const tableRows = rows.map(({ model, source, ...row }): ModelRow => {
    if (model === null || !row.mayServe) return { ...row, version: null }
    const version = numbers.of(model)
    models.set(version, model)
    const { modelId, toolFormat, queue } = model
    const engine = toEngineData({ model, source })
    versions.push({ version, modelId, toolFormat, hasBeams: queue.beams !== null, engine })
    return { ...row, version }
  })
  const table: ModelsTable = {
    rows: tableRows,
    versions,
    defaultId,
    whyNotReady: whyNotReady === null ? null : toErrorData(whyNotReady),
    servedClasses,
    usageLost: usageLost === null ? null : toErrorData(usageLost),
  }
  return { table, models }
}

function placesOf({ engine }: LoadedModel): readonly EnginePlace[] {
  return (engine.replicas?.() ?? []).map((replica) => replica.place())
}

function toEngineData({
  model,
  source,
}: Pick<ServingModel, 'source'> & { readonly model: LoadedModel }): EngineData {
  if (source?.kind !== 'openai')
    return { kind: 'processes', places: placesOf(model), adapter: model.engine.adapter ?? null }
  return { kind: 'upstream', source: { ...source, apiKey: source.apiKey?.reveal() ?? null } }
}
