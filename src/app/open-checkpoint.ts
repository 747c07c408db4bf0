/**
 * Opens a checkpoint in its engine processes, converting and quantizing it first where it must be. What does not fit
 * into memory is refused before that, by its headers.
 */
import type { ServerConfig } from '../config/server-config.ts'
import { EngineHost, type EngineHostHooks } from '../engines/process/engine-host.ts'
import { ReplicatedEngine } from '../engines/process/replicated-engine.ts'
import { availableMemoryBytes } from '../checkpoints/memory/available-memory.ts'
import type { QuantizedSize } from '../models/quantize-jobs.ts'
import type { LoadHooks, OpenEngine } from '../models/registry.ts'
import type { Engine } from '../protocol/engine.ts'
import type { ModelSource } from '../protocol/model-source.ts'
import type { MetadataOverride as RunnerMetadataOverride } from '../protocol/runner-options.ts'
import type { Log } from '../telemetry/log.ts'
import { numberValue, type GgufModel } from '../checkpoints/gguf/gguf-file.ts'
import type { MetadataOverride } from '../checkpoints/gguf/gguf-overrides.ts'
import { type ResolvedModel, resolveModelFile } from '../checkpoints/model-file.ts'
import type { QuantizationSize } from '../checkpoints/cache/quantization-cache.ts'
import { isCheckpointOutline, outlineCheckpoint } from './checkpoint-outline.ts'
import { keepInUse } from './keep-in-use.ts'
import { localCheckpointLogged } from './local-checkpoint.ts'
import { mayUseGpu, MemoryFit } from '../checkpoints/memory/memory-fit.ts'
import { type MemoryNeed, memoryNeed } from '../checkpoints/memory/memory-need.ts'
import { quantizeModel } from './quantize-model.ts'

/** Share of the progress that downloading a checkpoint makes. */
const DOWNLOAD_SHARE = 0.8
/** Share of the progress that is left for loading, when a checkpoint has to be converted or quantized first. */
const LOADING_SHARE = 0.1

export interface CheckpointOpenerDeps {
  readonly config: ServerConfig
  readonly log: Log
  /** Told while a model loads, with 0 to 1. */
  readonly onLoadProgress?: ((modelId: string, fraction: number) => void) | undefined
  /** Told what quantizing gave, with the source as it was asked for, before the model is loaded. */
  readonly onQuantized?: ((source: ModelSource, size: QuantizedSize) => void) | undefined
  /** @default what the system and the container say */
  readonly availableMemoryBytes?: () => number
}

export function createCheckpointOpener(deps: CheckpointOpenerDeps): OpenEngine {
  const { config, log, onLoadProgress, onQuantized } = deps
  const { maxSeqLen } = config
  const memory = new MemoryFit(
    // What goes to a GPU is for its driver to refuse.
    mayUseGpu(config) ? () => Number.POSITIVE_INFINITY : (deps.availableMemoryBytes ?? availableMemoryBytes),
  )

  return async (modelId, given, hooks) => {
    const report = (fraction: number): void => {
      hooks.onProgress(fraction)
      onLoadProgress?.(modelId, fraction)
    }
    let downloaded = 0
    const local = await localCheckpointLogged(given.checkpoint, {
      modelId,
      log,
      signal: hooks.signal,
      onProgress: (fraction) => {
        downloaded = fraction * DOWNLOAD_SHARE
        report(downloaded)
      },
    })
    const source = { ...given, checkpoint: local }
    const outline = isCheckpointOutline(hooks.outline)
      ? hooks.outline
      : await outlineCheckpoint(source, { maxSeqLen, signal: hooks.signal })
    hooks.onOutline(outline)
    const need = memoryNeed(outline, config)
    const servingBytes = hooks.loaded.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
    const reserve = (change: Partial<MemoryNeed>): Disposable =>
      memory.reserve(modelId, { ...need, ...change }, servingBytes)
    // How large quantized weights are, and whether they are to be made, is known later.
    let reserved = given.quantization === 'none' ? reserve({}) : null
    try {
      const onProgress = (fraction: number) => report(downloaded + fraction * (1 - downloaded))
      return await openReplicas({
        config,
        log,
        modelId,
        source,
        hooks: { ...hooks, onProgress },
        checkMemory: ({ sourceBytes, newBytes }) => {
          reserved = reserve({ sourceBytes, weightBytes: newBytes })
        },
        onQuantized: (size) => onQuantized?.(given, size),
      })
    } finally {
      reserved?.[Symbol.dispose]()
    }
  }
}

interface OpenOptions extends Pick<CheckpointOpenerDeps, 'config' | 'log'> {
  readonly modelId: string
  readonly source: ModelSource
  readonly hooks: LoadHooks
  /** Asked when it is known how large quantized weights are. */
  readonly checkMemory: (size: QuantizationSize) => void
  readonly onQuantized: (size: QuantizedSize) => void
}

async function openReplicas(options: OpenOptions): Promise<Engine> {
  const { config, log, hooks } = options
  let done = 0
  const resolved = await prepareWeights(options, (fraction) => {
    done = fraction * (1 - LOADING_SHARE)
    hooks.onProgress(done)
  })
  warnOfLongContext(log, config.maxSeqLen, resolved.model)
  const fractions = Array.from({ length: config.replicas }, () => 0)
  let engine: ReplicatedEngine | null = null
  const starts = fractions.map((_, replica) =>
    startReplica(options, resolved, {
      onProgress: (fraction) => {
        fractions[replica] = fraction
        const mean = fractions.reduce((sum, one) => sum + one, 0) / fractions.length
        hooks.onProgress(done + mean * (1 - done))
      },
      mayTryAgain: () => engine?.status().state === 'ready',
    }),
  )
  engine = new ReplicatedEngine(await allOrNone(starts))
  return keepInUse(engine, resolved.model.path)
}

/** The file to load: converted from the checkpoint where it must be, and quantized where it is asked for. */
async function prepareWeights(
  { config: { dataDir }, log, modelId, source, hooks: { signal }, checkMemory, onQuantized }: OpenOptions,
  onProgress: (fraction: number) => void,
): Promise<ResolvedModel> {
  const { quantization: mode } = source
  const conversionShare = mode === 'none' ? 1 : 0.5
  // Stays 0 where nothing is converted.
  let done = 0
  const resolved = await resolveModelFile({
    ...source,
    dataDir,
    onProgress: (fraction) => {
      done = fraction * conversionShare
      onProgress(done)
    },
    signal,
  })
  if (mode === 'none') return resolved
  const { model, layersQuantized, sizeBytes } = await quantizeModel({
    modelId,
    model: resolved.model,
    mode,
    dataDir,
    log,
    checkMemory,
    onProgress: (fraction) => onProgress(done + fraction * (1 - done)),
    signal,
  })
  onQuantized({ layersQuantized, sizeBytes })
  return { ...resolved, model }
}

/** When one cannot be started, those that could are closed. */
async function allOrNone(starts: readonly Promise<Engine>[]): Promise<readonly Engine[]> {
  try {
    return await Promise.all(starts)
  } catch (error) {
    for (const start of await Promise.allSettled(starts)) {
      if (start.status === 'fulfilled') await start.value.close()
    }
    throw error
  }
}

function startReplica(
  { config, log, modelId, hooks }: OpenOptions,
  { model, overrides }: ResolvedModel,
  replicaHooks: Pick<EngineHostHooks, 'onProgress' | 'mayTryAgain'>,
): Promise<Engine> {
  const { maxBatchSize, maxSeqLen, kvCacheType, threads, gpu, gpuLayers, schedulePolicy, speculation } =
    config
  return EngineHost.start(
    {
      runner: {
        modelId,
        modelPath: model.path,
        maxBatchSize,
        maxSeqLen,
        threads,
        gpu,
        gpuLayers,
        kvCacheType,
        speculation,
        metadataOverrides: overrides.map(toRunnerOverride),
      },
      schedulePolicy,
      weightBytes: model.sizeBytes,
    },
    {
      ...replicaHooks,
      onLogLine: (line) => log.debug({ model: modelId }, line),
      onCrash: (how) => log.error({ model: modelId }, `the engine process ${how}`),
      onRestart: (pid) => log.info({ model: modelId, pid }, 'the engine process was started again'),
    },
    hooks.signal,
  )
}

/** Positions a model has never seen make it say nonsense; that is the operator's choice, but not a silent one. */
function warnOfLongContext(log: Log, maxSeqLen: number | null, model: GgufModel): void {
  const contextLength = numberValue(model.metadata, `${model.architecture}.context_length`)
  if (maxSeqLen === null || contextLength === null || maxSeqLen <= contextLength) return
  log.warn(
    { maxSeqLen, contextLength },
    'max_seq_len is longer than the context that the model was trained for',
  )
}

function toRunnerOverride([key, { type, value }]: MetadataOverride): RunnerMetadataOverride {
  if (typeof value === 'string') return { key, type: 'string', value }
  if (typeof value === 'boolean') return { key, type: 'bool', value }
  return { key, type: type.startsWith('float') ? 'float' : 'int', value: Number(value) }
}
