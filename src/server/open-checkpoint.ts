/** Opens a checkpoint in an engine process, converting and quantizing it first where it must be. */
import type { ServerConfig } from '../config/server-config.ts'
import { EngineHost } from '../engines/local/engine-host.ts'
import type { OpenEngine } from '../models/registry.ts'
import type { MetadataOverride as RunnerMetadataOverride } from '../protocol/runner-options.ts'
import type { Log } from '../telemetry/log.ts'
import { numberValue, type GgufModel } from '../weights/gguf-file.ts'
import type { MetadataOverride } from '../weights/gguf-overrides.ts'
import { resolveModelFile } from '../weights/model-file.ts'
import { quantizeModel } from './quantize-model.ts'

/** Share of the progress that is left for loading, when a checkpoint has to be converted or quantized first. */
const LOADING_SHARE = 0.1

export interface CheckpointOpenerDeps {
  readonly config: ServerConfig
  readonly log: Log
  /** Told while a model loads, with 0 to 1. */
  readonly onLoadProgress?: ((modelId: string, fraction: number) => void) | undefined
}

export function createCheckpointOpener({ config, log, onLoadProgress }: CheckpointOpenerDeps): OpenEngine {
  return async (modelId, source, { onProgress, signal, servedBytes }) => {
    const report = (fraction: number): void => {
      onProgress(fraction)
      onLoadProgress?.(modelId, fraction)
    }
    const { dataDir } = config
    const { quantization: mode = 'none' } = source
    let done = 0
    /** What remains is shared out between this part of the work and those after it. */
    const part = (share: number) => {
      const start = done
      return (fraction: number): void => {
        done = Math.max(done, start + fraction * share)
        report(done)
      }
    }
    const resolved = await resolveModelFile({
      ...source,
      dataDir,
      onProgress: part(mode === 'none' ? 1 - LOADING_SHARE : (1 - LOADING_SHARE) / 2),
      signal,
    })
    const { overrides } = resolved
    const { model } =
      mode === 'none'
        ? resolved
        : await quantizeModel({
            modelId,
            model: resolved.model,
            mode,
            dataDir,
            log,
            servedBytes,
            onProgress: part(1 - LOADING_SHARE - done),
            signal,
          })
    warnOfLongContext(log, config.maxSeqLen, model)
    const { maxBatchSize, maxSeqLen, threads, gpu, gpuLayers, schedulePolicy, maxQueue } = config
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
          kvCacheType: 'f16',
          metadataOverrides: overrides.map(toRunnerOverride),
        },
        schedulePolicy,
        maxQueue,
      },
      {
        onProgress: part(1 - done),
        onLogLine: (line) => log.debug({ model: modelId }, line),
        onCrash: (how) => log.error({ model: modelId }, `the engine process ${how}`),
        onRestart: (pid) => log.info({ model: modelId, pid }, 'the engine process was started again'),
      },
      signal,
    )
  }
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
