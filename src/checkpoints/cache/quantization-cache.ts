/** Quantized models in the artifact cache. What quantizes is passed in. */
import { createHash } from 'node:crypto'
import { dirname } from 'node:path'
import type { QuantMode } from '../../core/quant-mode.ts'
import { type GgufModel, openGgufModel } from '../gguf/gguf-file.ts'
import {
  checkFullPrecision,
  estimateBytes,
  type QuantFormat,
  quantFormat,
  type QuantizationSummary,
  summarizeQuantization,
} from '../quantization-plan.ts'
import { cachedArtifact } from './artifact-cache.ts'
import type { ContentHashes } from './content-hash.ts'
import { requireRoom } from '../disk-room.ts'

/** Part of every name: raised whenever the same source and format give something else. */
const QUANTIZER_VERSION = 1

/** What a quantizer is asked to do; it must leave `outputPath` whole or fail. */
export interface QuantizeWork {
  readonly model: GgufModel
  readonly format: QuantFormat
  /** Must not exist yet. */
  readonly outputPath: string
  readonly onProgress: (fraction: number) => void
  readonly signal?: AbortSignal | undefined
}

interface QuantizationSize {
  /** Of the weights that are read for the work; 0 when the cache holds the new ones. */
  readonly sourceBytes: number
  /** Of the new weights; about, while they are not there. */
  readonly newBytes: number
}

export interface CachedQuantizationOptions {
  /** In full precision. */
  readonly model: GgufModel
  readonly mode: QuantMode
  readonly dataDir: string
  readonly quantize: (work: QuantizeWork) => Promise<void>
  /** Asked before the work starts, and for what the cache holds. @throws StartError when it does not fit */
  readonly checkMemory?: ((size: QuantizationSize) => void) | undefined
  readonly onProgress?: (fraction: number) => void
  readonly signal?: AbortSignal | undefined
}

export interface QuantizedModel extends QuantizationSummary {
  readonly model: GgufModel
  readonly format: QuantFormat
}

/** @throws StartError when the source is quantized itself, there is no room, or its weights are damaged. */
export async function cachedQuantization(options: CachedQuantizationOptions): Promise<QuantizedModel> {
  const { model, mode, dataDir, quantize, checkMemory, onProgress = () => {}, signal } = options
  checkFullPrecision(model)
  const format = quantFormat(mode, model)
  const { path, isNew } = await cachedArtifact({
    dataDir,
    keyOf: (hashes) => quantizationKey(model, format, { hashes, signal }),
    manifest: { from: model.filePaths, as: format },
    make: async (outputPath) => {
      const newBytes = estimateBytes(format, model)
      await requireRoom({ work: 'Quantizing', folder: dirname(outputPath), neededBytes: newBytes })
      checkMemory?.({ sourceBytes: model.sizeBytes, newBytes })
      await quantize({ model, format, outputPath, onProgress, signal })
    },
    signal,
  })
  const quantized = await openGgufModel(path)
  const summary = summarizeQuantization(model, quantized)
  if (!isNew) checkMemory?.({ sourceBytes: 0, newBytes: summary.sizeBytes })
  return { model: quantized, format, ...summary }
}

interface Hashing {
  readonly hashes: ContentHashes
  readonly signal: AbortSignal | undefined
}

async function quantizationKey(
  { filePaths }: GgufModel,
  format: QuantFormat,
  { hashes, signal }: Hashing,
): Promise<string> {
  const key = createHash('sha256').update(`sluice quantized ${QUANTIZER_VERSION} ${format}`)
  for (const path of filePaths) key.update(`\n${await hashes.hash(path, signal)}`)
  return key.digest('hex')
}
