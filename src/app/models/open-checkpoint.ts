/**
 * Starts the engine processes of a local model: prepares its checkpoint, then starts the replicas. A server has one
 * opener, so that concurrent loads share one memory budget.
 */
import { embeddingInfo } from '../../checkpoints/gguf/embedding-model.ts'
import { removeLeftoverArtifacts } from '../../checkpoints/cache/artifact-cache.ts'
import { touchWhileOpen } from '../../checkpoints/cache/artifact-manifest.ts'
import { KnownOutlines } from '../../checkpoints/known-outlines.ts'
import type { MemoryFit } from '../../checkpoints/memory/memory-need.ts'
import { type PreparedCheckpoint, prepareCheckpoint } from '../../checkpoints/prepare-checkpoint.ts'
import { ProgressSplitter } from '../../checkpoints/progress-splitter.ts'
import type { ServerConfig } from '../../config/server-config.ts'
import { StartError } from '../../core/errors.ts'
import type { LogWriter } from '../../core/log-writer.ts'
import { findGpus } from '../../engines/llamacpp/devices/devices-process.ts'
import { quantizeInProcess } from '../../engines/llamacpp/quantize/quantize-process.ts'
import { EngineHost, type EngineHostHooks } from '../../engines/process/host/engine-host.ts'
import { startReplicas } from '../../engines/process/host/replicated-engine.ts'
import type { QuantizedSize } from '../../models/quantize-jobs.ts'
import type { LoadHooks } from '../../models/registry.ts'
import type { Engine } from '../../protocol/engine.ts'
import type { ModelInfo } from '../../protocol/model-info.ts'
import type { LocalModelSource } from '../../protocol/model-source.ts'
import type { OpenedModels } from './open-adapter.ts'

export interface CheckpointOpenerDeps {
  readonly config: ServerConfig
  readonly log: LogWriter
  /** Called while a model loads, with 0 to 1. */
  readonly onLoadProgress?: ((modelId: string, fraction: number) => void) | undefined
  /** Called before the quantized model is loaded, with the source as requested. */
  readonly onQuantized?: ((source: LocalModelSource, size: QuantizedSize) => void) | undefined
  /** Where adapters find what an engine has opened. */
  readonly opened?: OpenedModels
  /** Called when an engine process has ended, or another has taken its place. */
  readonly onEngineChange?: (() => void) | undefined
  /** Called when the engine processes of a load have been started. */
  readonly onEngineStart?: (() => void) | undefined
  /** What was read of checkpoints before. @default nothing */
  readonly outlines?: KnownOutlines
  /** The server's one. */
  readonly memory: MemoryFit
}

/** `OpenEngine` for local sources. */
export type OpenLocalEngine = (modelId: string, source: LocalModelSource, hooks: LoadHooks) => Promise<Engine>

export function createCheckpointOpener(deps: CheckpointOpenerDeps): OpenLocalEngine {
  const { config, log, memory, onLoadProgress, onQuantized } = deps
  const { outlines = new KnownOutlines(config) } = deps
  const options = { ...config, memory, outlines, findGpus, quantize: quantizeInProcess, log }
  let cleaned: Promise<void> | null = null
  return async (modelId, source, hooks) => {
    if (source.draftCheckpoint !== null && config.speculation === 'off') {
      throw new StartError(`'${modelId}' has a draft checkpoint, but speculation is off.`)
    }
    await (cleaned ??= removeLeftoverArtifacts(config.dataDir))
    const progress = new ProgressSplitter((fraction) => {
      hooks.onProgress(fraction)
      onLoadProgress?.(modelId, fraction)
    })
    using prepared = await prepareCheckpoint(options, { ...hooks, modelId, source, progress })
    if (prepared.quantized !== null) onQuantized?.(source, prepared.quantized)
    const starts = progress
      .parallel(config.replicas)
      .map(
        (onProgress) => (signal: AbortSignal) =>
          startReplica(config, prepared, { ...deps, modelId, signal, onProgress }),
      )
    const starting = startReplicas(starts, hooks.signal)
    deps.onEngineStart?.()
    const engine = await starting
    tellOfLayersLeft(engine.info(), { gpuLayers: config.gpuLayers, modelId, log })
    const { model, draft } = prepared
    const touched = touchWhileOpen(engine, model.path)
    const served = draft === null ? touched : touchWhileOpen(touched, draft.model.path)
    deps.opened?.set(served, model)
    return served
  }
}

/** One line where a GPU holds fewer layers than it was asked to. */
function tellOfLayersLeft(
  { placement }: ModelInfo,
  { gpuLayers, modelId, log }: Pick<ServerConfig, 'gpuLayers'> & Pick<ReplicaWork, 'modelId' | 'log'>,
): void {
  if (placement === undefined) return
  const { layers, allLayers } = placement
  const wanted = Math.min(gpuLayers ?? allLayers, allLayers)
  if (layers >= wanted) return
  const text = `${layers} of ${allLayers} layers are on a GPU: it has no room for ${wanted}`
  log.warn({ model: modelId, gpuLayers: layers }, text)
}

interface ReplicaWork extends Pick<EngineHostHooks, 'onProgress'> {
  readonly modelId: string
  readonly log: LogWriter
  readonly onEngineChange?: (() => void) | undefined
  readonly signal: AbortSignal
}

function startReplica(
  config: ServerConfig,
  { model, overrides, draft, kvCacheTokens, prefixCacheBytes, deviceBudgets }: PreparedCheckpoint,
  { modelId, log, signal, onProgress, onEngineChange = () => {} }: ReplicaWork,
): Promise<Engine> {
  const { maxBatchSize, maxSeqLen, kvCacheType, threads, gpu, gpuLayers } = config
  const { schedulePolicy, speculation, prefixCacheScope, prefixCacheDir, replicas } = config
  const store = prefixCacheDir === null ? null : { folder: prefixCacheDir, maxBytes: prefixCacheBytes }
  const embedding = embeddingInfo(model)
  return EngineHost.start(
    {
      start: {
        runner: {
          modelId,
          modelPath: model.path,
          maxBatchSize,
          maxSeqLen,
          kvCacheTokens,
          threads,
          gpu,
          gpuLayers,
          deviceBudgets,
          kvCacheType,
          speculation,
          ...(draft !== null && {
            draft: { name: draft.name, modelPath: draft.model.path, metadataOverrides: draft.overrides },
          }),
          prefixCacheBytes: Math.floor(prefixCacheBytes / replicas),
          ...(store !== null && { prefixCacheStore: store }),
          ...(embedding !== null && { embedding }),
          metadataOverrides: overrides,
        },
        schedulePolicy,
        prefixCacheScope,
        weightBytes: model.sizeBytes + (draft?.model.sizeBytes ?? 0),
      },
    },
    {
      onProgress,
      onLogLine: (line) => log.debug({ model: modelId }, line),
      onCrash: (how) => {
        log.error({ model: modelId }, `the engine process ${how}`)
        onEngineChange()
      },
      onOverload: (message) => log.warn({ model: modelId }, message),
      onNote: (note) => log.warn({ model: modelId }, note),
      onRestart: (pid) => {
        log.info({ model: modelId, pid }, 'the engine process was started again')
        onEngineChange()
      },
    },
    signal,
  )
}
