/**
 * The quantized models in `<data folder>/models`, each named by a hash over the content of its full-precision source
 * and the format. Written to a temporary name and renamed, as conversions are; who quantizes is passed in.
 */
import { createHash } from 'node:crypto'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { Mutex } from '../../core/concurrency/semaphore.ts'
import { StartError } from '../../core/errors.ts'
import type { QuantMode } from '../../core/quant-mode.ts'
import { ContentHashes } from './content-hash.ts'
import { isWhole, prepareFolder } from './conversion-cache.ts'
import { checkRoom } from '../disk-room.ts'
import { fileError } from '../file-errors.ts'
import { type GgufModel, openGgufModel } from '../gguf/gguf-file.ts'
import { writeManifest } from './artifact-manifest.ts'
import {
  checkFullPrecision,
  estimateBytes,
  type QuantFormat,
  quantFormat,
  type QuantizationSummary,
  summarizeQuantization,
} from '../quantization-plan.ts'
import { writeWhole } from './whole-file.ts'

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

export interface QuantizationSize {
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
  const { model, mode, dataDir, signal } = options
  checkFullPrecision(model)
  const format = quantFormat(mode, model)
  const folder = join(dataDir, 'models')
  const hashes = await ContentHashes.open(folder)
  const path = join(folder, `${await quantizationKey({ model, format, hashes, signal })}.gguf`)
  const isNew = await inTurn(path, signal, async () => {
    if (await isWhole(path)) return false
    const newBytes = estimateBytes(format, model)
    await prepareFolder(folder)
    const { bavail, bsize } = await statfs(folder)
    checkRoom({ work: 'Quantizing', folder, neededBytes: newBytes, freeBytes: bavail * bsize })
    options.checkMemory?.({ sourceBytes: model.sizeBytes, newBytes })
    await quantizeInto(path, format, options)
    return true
  })
  await hashes.save()
  const quantized = await openGgufModel(path)
  await writeManifest(path, { from: model.filePaths, as: format })
  const summary = summarizeQuantization(model, quantized)
  if (!isNew) options.checkMemory?.({ sourceBytes: 0, newBytes: summary.sizeBytes })
  return { model: quantized, format, ...summary }
}

/** By the file that is made: a second request for it in this process waits, and finds the file. */
const mutexes = new Map<string, Mutex>()

async function inTurn<Result>(
  path: string,
  signal: AbortSignal | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const mutex = mutexes.get(path) ?? new Mutex()
  mutexes.set(path, mutex)
  try {
    return await mutex.run(work, signal)
  } finally {
    if (mutex.isFree) mutexes.delete(path)
  }
}

interface KeyOptions {
  readonly model: GgufModel
  readonly format: QuantFormat
  readonly hashes: ContentHashes
  readonly signal: AbortSignal | undefined
}

async function quantizationKey({ model, format, hashes, signal }: KeyOptions): Promise<string> {
  const key = createHash('sha256').update(`sluice quantized ${QUANTIZER_VERSION} ${format}`)
  for (const path of model.filePaths) key.update(`\n${await hashes.hash(path, signal)}`)
  return key.digest('hex')
}

async function quantizeInto(
  path: string,
  format: QuantFormat,
  { model, quantize, onProgress = () => {}, signal }: CachedQuantizationOptions,
): Promise<void> {
  try {
    await writeWhole(path, (outputPath) => quantize({ model, format, outputPath, onProgress, signal }))
  } catch (error) {
    // Where an open file cannot be replaced, another process's file from the same source is as good.
    const isRefused = error instanceof StartError || signal?.aborted === true
    if (!isRefused && (await isWhole(path))) return
    throw fileError('write', path, error)
  }
}
