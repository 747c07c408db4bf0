/** Quantizes models for the server and the command: in a process of its own, cached, and with lines in the log. */
import type { QuantMode } from '../core/quant-mode.ts'
import { quantizeInProcess } from '../engines/llamacpp/quantize/quantize-process.ts'
import type { Log } from '../telemetry/log.ts'
import type { GgufModel } from '../checkpoints/gguf/gguf-file.ts'
import {
  type CachedQuantizationOptions,
  cachedQuantization,
  type QuantizedModel,
} from '../checkpoints/cache/quantization-cache.ts'

/** A line in the log each time this much more is done. */
const LOG_STEP = 0.25

export interface QuantizeModelOptions {
  readonly modelId: string
  /** In full precision. */
  readonly model: GgufModel
  readonly mode: QuantMode
  readonly dataDir: string
  readonly log: Log
  /** Asked before any work. @default takes all; the work itself needs little memory, whatever the model */
  readonly checkMemory?: CachedQuantizationOptions['checkMemory']
  readonly onProgress: (fraction: number) => void
  readonly signal?: AbortSignal
}

/** @throws StartError in one sentence when it cannot be done. */
export async function quantizeModel(options: QuantizeModelOptions): Promise<QuantizedModel> {
  const { modelId, model, mode, dataDir, log, checkMemory, onProgress, signal } = options
  let logged = 0
  return cachedQuantization({
    model,
    mode,
    dataDir,
    signal,
    checkMemory,
    quantize: async (work) => {
      log.info({ model: modelId, mode, format: work.format }, 'quantizing')
      const end = await quantizeInProcess(work, {
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
