/** Quantizes a model into the cache, with lines in the log. What does the work, in its own process, is passed in. */
import type { LogWriter } from '../core/log-writer.ts'
import type { QuantMode } from '../core/quant-mode.ts'
import {
  type CachedQuantizationOptions,
  cachedQuantization,
  type QuantizedModel,
  type QuantizeWork,
} from './cache/quantization-cache.ts'
import type { GgufModel } from './gguf/gguf-file.ts'

interface QuantizerHooks {
  readonly onLogLine: (line: string) => void
  /** The last lines of a process that failed without a reason of its own. */
  readonly onLastLines: (lines: readonly string[]) => void
}

/** Resolves with numbers for the log. */
export type Quantizer = (work: QuantizeWork, hooks: QuantizerHooks) => Promise<object>

/** Share of the work from one line in the log to the next. */
const LOG_STEP = 0.25

export interface QuantizeModelOptions {
  readonly modelId: string
  /** In full precision. */
  readonly model: GgufModel
  readonly mode: QuantMode
  readonly dataDir: string
  readonly quantize: Quantizer
  readonly log: LogWriter
  /** Called before any work. @default accepts: the work itself needs little memory, whatever the model */
  readonly checkMemory?: CachedQuantizationOptions['checkMemory']
  readonly onProgress: (fraction: number) => void
  readonly signal?: AbortSignal
}

/** @throws StartError in one sentence when it cannot be done. */
export async function quantizeModel(options: QuantizeModelOptions): Promise<QuantizedModel> {
  const { modelId, model, mode, dataDir, quantize, log, checkMemory, onProgress, signal } = options
  let logged = 0
  return cachedQuantization({
    model,
    mode,
    dataDir,
    signal,
    checkMemory,
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
