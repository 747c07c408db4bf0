/** A model as `/v1/models` shows it on both servers: the record of a registry's entry, and its JSON. */
import { ServiceError } from '../core/errors.ts'
import { withoutFolders } from '../core/text/file-paths.ts'
import type { Quantization } from '../core/choices/quant-mode.ts'
import type { Placement } from '../protocol/compute-device.ts'
import type { ReplicaCount } from '../protocol/engine.ts'
import type { ModelInfo, ModelOutline } from '../protocol/model-info.ts'
import type { ModelPolicy } from '../protocol/model-policy.ts'
import type { ModelEntry } from './model-entry.ts'

export const BYTES_PER_MB = 1_000_000

/** A stranger takes its answers for those of a model that does not work. */
const PASSTHROUGH_NOTE =
  'The passthrough model: no checkpoint was given, so each prompt is continued with itself.'

/** The routes that a model serves. */
export const CAPABILITIES = ['generate', 'chat', 'embeddings', 'rerank'] as const

type Capability = (typeof CAPABILITIES)[number]

/** `unloaded`: the next request loads it. */
export const MODEL_STATES = ['loading', 'ready', 'unloaded', 'draining', 'failed'] as const

export type ModelState = (typeof MODEL_STATES)[number]

export interface ModelRecord {
  readonly id: string
  readonly createdUnixSeconds: number
  readonly state: ModelState
  /** 0 to 1 while loading. */
  readonly loadFraction: number
  /** Why it failed, or why the last try to replace it did; one sentence. */
  readonly failure: string | null
  /** Null until the first load has finished, and while it is not loaded. */
  readonly info: ModelInfo | null
  /** Of what serves, or of what is being loaded; null until its headers have been read. */
  readonly outline: ModelOutline | null
  /** Its engine processes; null where nothing serves, or none of its own. */
  readonly replicas: ReplicaCount | null
  /** Engine processes that have died; of the engine that serves now. */
  readonly engineDeaths: number
  /** What conversations without a slot hold in the host memory of its engines. */
  readonly prefixCacheBytes: number
  /** How often a sequence has lost its slot to others, in the engines that serve now. */
  readonly preemptions: number
  /** What the weights that serve were quantized to from their source. */
  readonly quantization: Quantization
  readonly policy: ModelPolicy
  /** The id of the model that it is an adapter of; null for a model of its own. */
  readonly baseId: string | null
  /** Whether it stays loaded when others need its room, and while nobody uses it. */
  readonly isPinned: boolean
  /** When a request last began or ended; null before the first. */
  readonly lastUsedUnixSeconds: number | null
}

export function toRecord(entry: ModelEntry): ModelRecord {
  const info = entry.current?.engine.info() ?? null
  return {
    id: entry.id,
    createdUnixSeconds: entry.createdUnixSeconds,
    state: stateOf(entry),
    // While a replacement loads beside the model that serves, this is the replacement's.
    loadFraction: entry.current !== null && entry.loads.isIdle ? 1 : entry.loadFraction,
    failure: failureOf(entry),
    info,
    outline: isReplacingFailed(entry) ? entry.outline : (info ?? entry.outline),
    replicas: entry.current?.engine.status().replicas ?? null,
    engineDeaths: entry.current?.engine.status().deaths ?? 0,
    prefixCacheBytes: entry.current?.engine.status().prefixCacheBytes ?? 0,
    preemptions: entry.current?.engine.status().preemptions ?? 0,
    quantization: entry.source?.kind === 'local' ? entry.source.quantization : 'none',
    policy: entry.policy,
    baseId: entry.baseId,
    isPinned: entry.isPinned,
    lastUsedUnixSeconds: entry.lastUsedUnixSeconds,
  }
}

/** What stays known of a model that is unloaded. */
export function toOutline(info: ModelInfo): ModelOutline {
  const { architecture, parameters, sizeBytes, quantization, maxSeqLen, vocabSize, engine, embedding } = info
  const outline = { architecture, parameters, sizeBytes, quantization, maxSeqLen, vocabSize, engine }
  return { ...outline, ...(embedding && { embedding }) }
}

/** Whether there is an engine that takes work or will take it again by itself. */
export function isServing({ current }: ModelEntry): boolean {
  return current !== null && current.engine.status().state !== 'failed'
}

/** Why a model cannot take work now; null while it can. */
export function notReady(entry: ModelEntry): ServiceError | null {
  const { state, failure, loadFraction } = toRecord(entry)
  if (state === 'ready' || state === 'unloaded') return null
  return new ServiceError('not_ready', {
    model: entry.id,
    message: failure ?? describeLoad(entry, loadFraction),
  })
}

function describeLoad({ current, loads }: ModelEntry, loadFraction: number): string {
  if (current !== null && loads.isIdle) return 'its engine is being started again.'
  return `it is loading (${Math.floor(loadFraction * 100)} %).`
}

function isReplacingFailed(entry: ModelEntry): boolean {
  return !entry.loads.isIdle && entry.current !== null && !isServing(entry)
}

function stateOf(entry: ModelEntry): ModelState {
  if (entry.isDraining) return 'draining'
  if (isReplacingFailed(entry)) return 'loading'
  if (entry.isUnloaded) return entry.wakeFailedMs === null ? 'unloaded' : 'failed'
  const engineState = entry.current?.engine.status().state
  if (engineState !== undefined) return engineState === 'restarting' ? 'loading' : engineState
  return entry.failure === null ? 'loading' : 'failed'
}

function failureOf(entry: ModelEntry): string | null {
  if (isReplacingFailed(entry)) return null
  const status = entry.current?.engine.status()
  if (status?.state !== 'failed') return entry.failure
  return entry.failure === null
    ? status.message
    : `${status.message} It could not be loaded again: ${entry.failure}`
}

/**
 * The one shape of the wire below the servers: the light server may not load the schemas that document it, against which the
 * compiler checks it in `api/schemas/models.ts`.
 */
export function toModelObject(record: ModelRecord) {
  const { outline, quantization, failure, replicas, baseId } = record
  const kvCacheTokens = record.info?.kvCacheTokens
  const draft = record.info?.draft
  return {
    id: record.id,
    object: 'model' as const,
    created: Math.floor(record.createdUnixSeconds),
    owned_by: 'sluice',
    ...(baseId !== null && { root: baseId, parent: baseId }),
    meta: {
      architecture: outline?.architecture ?? null,
      parameters: knownOrNull(outline?.parameters),
      size_mb: outline === null ? null : knownOrNull(outline.sizeBytes / BYTES_PER_MB),
      // llama.cpp has no fp8 and sees the blocks it is stored in.
      quantization: quantization === 'fp8' ? quantization : (outline?.quantization ?? null),
      max_seq_len: outline?.maxSeqLen ?? null,
      ...(kvCacheTokens !== undefined && { kv_cache_tokens: kvCacheTokens }),
      vocab_size: knownOrNull(outline?.vocabSize),
      engine: outline?.engine ?? null,
      capabilities: capabilitiesOf(outline),
      ...(draft !== undefined && { draft: { name: draft.name, parameters: draft.parameters } }),
      ...(outline?.embedding &&
        outline.embedding.pooling !== 'rank' && { dimensions: outline.embedding.dimensions }),
      state: record.state,
      load_progress: record.loadFraction,
      pinned: record.isPinned,
      last_used: record.lastUsedUnixSeconds,
      failure: failure === null ? null : withoutFolders(failure),
      ...(outline?.engine === 'passthrough' && { note: PASSTHROUGH_NOTE }),
      ...(record.info?.placement !== undefined && { gpu: toGpuObject(record.info.placement) }),
      ...(replicas !== null && { replicas: replicas.all, replicas_ready: replicas.ready }),
    },
  }
}

/** The shape of `meta.gpu`. */
export function toGpuObject({ layers, allLayers, devices }: Placement) {
  return {
    layers,
    layers_total: allLayers,
    devices: devices.map((device) => ({
      name: device.name,
      description: device.description,
      layers: device.layers,
      weights_mb: device.weightBytes / BYTES_PER_MB,
      kv_cache_mb: device.kvCacheBytes / BYTES_PER_MB,
      free_mb: device.freeBytes / BYTES_PER_MB,
      total_mb: device.totalBytes / BYTES_PER_MB,
    })),
  }
}

/** An upstream need not say what it serves. */
function knownOrNull(value: number | undefined): number | null {
  return value !== undefined && Number.isFinite(value) ? value : null
}

/** What a model can be asked for; null before its headers have been read. */
function capabilitiesOf(outline: ModelOutline | null): Capability[] | null {
  if (outline === null) return null
  // An upstream does not say which of them it serves.
  if (outline.engine === 'openai') return ['generate', 'chat', 'embeddings', 'rerank']
  if (outline.embedding === undefined) return ['generate', 'chat']
  return outline.embedding.pooling === 'rank' ? ['rerank'] : ['embeddings', 'rerank']
}
