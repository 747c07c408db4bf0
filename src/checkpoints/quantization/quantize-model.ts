/**
 * Quantizes a model into the artifact cache, or finds it there. The quantizer, which runs in a process of its own, is
 * passed in; `quantization-plan.ts` decides about formats and sizes.
 */
import { dirname } from 'node:path'
import type { LogWriter } from '../../core/log-writer.ts'
import type { QuantMode } from '../../core/choices/quant-mode.ts'
import { cachedArtifact, DAMAGED_FILE } from '../cache/artifact-cache.ts'
import { requireIntact } from '../cache/intact-artifact.ts'
import { requireRoom } from '../files/disk-room.ts'
import { type GgufModel, openGgufModel } from '../gguf/gguf-file.ts'
import {
  checkFullPrecision,
  estimateBytes,
  type QuantFormat,
  quantFormat,
  type QuantizationSummary,
  summarizeQuantization,
} from './quantization-plan.ts'

/** Part of every key: raised whenever the same source and format give something else. */
const QUANTIZER_VERSION = 1
/** Share of the work from one log line to the next. */
const LOG_STEP = 0.25

/** One call of a quantizer, which must leave `outputPath` whole or fail. */
export interface QuantizeWork {
  readonly model: GgufModel
  readonly format: QuantFormat
  /** Must not exist yet. */
  readonly outputPath: string
  readonly onProgress: (fraction: number) => void
  readonly signal?: AbortSignal | undefined
}

interface QuantizationSize {
  /** Size of the weights that are read; 0 when the cache holds the new ones. */
  readonly sourceBytes: number
  /** Size of the new weights; an estimate before they are made. */
  readonly newBytes: number
}

export interface CachedQuantizationOptions {
  /** In full precision. */
  readonly model: GgufModel
  readonly mode: QuantMode
  readonly dataDir: string
  readonly quantize: (work: QuantizeWork) => Promise<void>
  /** Called before the work starts, and for what the cache holds. @throws StartError when it does not fit */
  readonly checkMemory?: (size: QuantizationSize) => Promise<void> | void
  /** Called when the cache holds a damaged file of it. */
  readonly onDamaged?: (path: string) => void
  readonly onProgress?: (fraction: number) => void
  readonly signal?: AbortSignal
}

interface QuantizerHooks {
  readonly onLogLine: (line: string) => void
  /** The last lines of a process that failed without a reason of its own. */
  readonly onLastLines: (lines: readonly string[]) => void
}

/** Resolves with numbers for the log. */
export type Quantizer = (work: QuantizeWork, hooks: QuantizerHooks) => Promise<object>

interface QuantizeModelOptions extends Omit<CachedQuantizationOptions, 'quantize'> {
  readonly modelId: string
  readonly quantize: Quantizer
  readonly log: LogWriter
  readonly onProgress: (fraction: number) => void
}

export interface QuantizedModel extends QuantizationSummary {
  readonly model: GgufModel
  readonly format: QuantFormat
}

/** As `cachedQuantization`, with lines in the log. */
export async function quantizeModel(options: QuantizeModelOptions): Promise<QuantizedModel> {
  const { modelId, mode, quantize, log, onProgress } = options
  let logged = 0
  return cachedQuantization({
    ...options,
    onDamaged: (file) => log.warn({ model: modelId, file }, DAMAGED_FILE),
    quantize: async (work) => {
      log.info({ model: modelId, mode, format: work.format }, 'quantizing')
      const end = await quantize(work, {
        onLogLine: (line) => log.debug({ model: modelId }, line),
        onLastLines: (lines) => log.error({ model: modelId, lines }, 'the process that quantizes has failed'),
      })
      log.info({ model: modelId, mode, format: work.format, ...end }, 'quantized')
    },
    onProgress: (fraction) => {
      onProgress(fraction)
      if (fraction - logged < LOG_STEP || fraction >= 1) return
      logged = fraction
      log.info({ model: modelId, mode, percent: Math.round(fraction * 100) }, 'quantizing')
    },
  })
}

/** @throws StartError when the source is quantized already, there is no room, or its weights are damaged. */
export async function cachedQuantization(options: CachedQuantizationOptions): Promise<QuantizedModel> {
  const { model, mode, dataDir, quantize, checkMemory, onDamaged, onProgress = () => {}, signal } = options
  checkFullPrecision(model)
  const format = quantFormat(mode, model)
  const { path, isNew } = await cachedArtifact({
    dataDir,
    recipe: `sluice quantized ${QUANTIZER_VERSION} ${format}`,
    sources: () => Promise.resolve(model.filePaths),
    manifest: { from: model.filePaths, as: format },
    make: async (outputPath) => {
      const newBytes = estimateBytes(format, model)
      await requireRoom({ work: 'Quantizing', folder: dirname(outputPath), neededBytes: newBytes })
      await checkMemory?.({ sourceBytes: model.sizeBytes, newBytes })
      await requireIntact(model.path, signal)
      await quantize({ model, format, outputPath, onProgress, signal })
    },
    onDamaged,
    signal,
  })
  const quantized = await openGgufModel(path)
  const summary = summarizeQuantization(model, quantized)
  if (!isNew) await checkMemory?.({ sourceBytes: 0, newBytes: summary.sizeBytes })
  return { model: quantized, format, ...summary }
}
