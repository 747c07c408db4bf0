/** Quantizes models for the server: in a process of its own, cached, and only when memory and disk have the room. */
import { StartError } from '../core/errors.ts'
import type { QuantMode } from '../core/quant-mode.ts'
import { availableMemoryBytes } from '../engines/llamacpp/memory.ts'
import { quantizeInProcess } from '../engines/llamacpp/quantize-process.ts'
import type { QuantizedSize } from '../models/quantize-jobs.ts'
import type { ModelSource } from '../models/registry.ts'
import type { Log } from '../telemetry/log.ts'
import type { GgufModel } from '../weights/gguf-file.ts'
import { resolveModelFile } from '../weights/model-file.ts'
import {
  cachedQuantization,
  type QuantizationSize,
  type QuantizedModel,
} from '../weights/quantization-cache.ts'

/** A line in the log each time this much more is done. */
const LOG_STEP = 0.25

export interface QuantizeModelOptions {
  readonly modelId: string
  /** In full precision. */
  readonly model: GgufModel
  readonly mode: QuantMode
  readonly dataDir: string
  readonly log: Log
  /** Weights that serve meanwhile. */
  readonly servedBytes: number
  readonly onProgress: (fraction: number) => void
  readonly signal?: AbortSignal
}

/** @throws StartError in one sentence when it cannot be done. */
export async function quantizeModel(options: QuantizeModelOptions): Promise<QuantizedModel> {
  const { modelId, model, mode, dataDir, log, servedBytes, onProgress, signal } = options
  let logged = 0
  return cachedQuantization({
    model,
    mode,
    dataDir,
    signal,
    checkMemory: (size) => checkMemory({ ...size, servedBytes }, availableMemoryBytes()),
    quantize: async (work) => {
      log.info({ model: modelId, mode, format: work.format }, 'quantizing')
      const end = await quantizeInProcess(work, { onLogLine: (line) => log.debug({ model: modelId }, line) })
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

/** What quantizing a source gave, from its cached file. @throws StartError */
export async function measureQuantization(
  source: ModelSource,
  options: Pick<QuantizeModelOptions, 'mode' | 'dataDir' | 'log'>,
): Promise<QuantizedSize> {
  const { model } = await resolveModelFile({ ...source, dataDir: options.dataDir })
  return quantizeModel({ ...options, modelId: model.path, model, servedBytes: 0, onProgress: () => {} })
}

interface MemoryNeed extends QuantizationSize {
  readonly servedBytes: number
}

/**
 * The source is read while the new weights are written, and these are loaded beside those that serve.
 * @throws StartError with all numbers when they do not fit together.
 */
export function checkMemory(
  { model, format, newBytes, servedBytes }: MemoryNeed,
  availableBytes: number,
): void {
  // Weights that serve are mapped files, which count as available.
  const neededBytes = model.sizeBytes + newBytes + servedBytes
  if (neededBytes <= availableBytes) return
  throw new StartError(
    `Quantizing ${model.path} to ${format} needs ${gigabytes(neededBytes)} of memory (${gigabytes(model.sizeBytes)} source, ` +
      `${gigabytes(newBytes)} new weights, ${gigabytes(servedBytes)} served meanwhile), ` +
      `but ${gigabytes(availableBytes)} is available.`,
    1,
  )
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(2)} GB`
}
