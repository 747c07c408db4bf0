/**
 * The converted models in `<data folder>/models`, each named by a hash over the content of everything it was made
 * from. A conversion is written to a temporary name and renamed, so that a file under its final name is whole, and
 * two processes that convert the same thing at once both end well.
 */
import { createHash } from 'node:crypto'
import { mkdir, readdir, rename, stat, statfs, unlink } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { ContentHashes } from './content-hash.ts'
import { type ConversionPlan, planConversion, type TensorType } from './conversion-plan.ts'
import type { convertCheckpoint } from './convert.ts'
import { fileError, isMissing } from './file-errors.ts'
import { readGgufFile } from './gguf-file.ts'
import { isFile } from './json-file.ts'
import { recordMaking } from './made-files.ts'
import type { HfSource } from './model-source.ts'

/** Part of every name: raised whenever the converter writes something else for the same input. */
const CONVERTER_VERSION = 2
const STALE_MS = 24 * 3600 * 1000
/** Left free on the disk beside the file itself. */
const SPARE_BYTES = 16 * 2 ** 20

export interface CacheOptions {
  readonly source: HfSource
  readonly tensorType: TensorType
  readonly dataDir: string
  readonly convert: typeof convertCheckpoint
  readonly onProgress?: (fraction: number) => void
  readonly signal?: AbortSignal
}

export interface CachedConversion {
  readonly path: string
  /** False when it was found in the cache. */
  readonly isNew: boolean
}

/** The GGUF file of a checkpoint: from the cache, or converted now. */
export async function cachedConversion(options: CacheOptions): Promise<CachedConversion> {
  const { weightsPath, configPath, tokenizerPath } = options.source
  const found = await findOrConvert(options)
  await recordMaking(found.path, { from: [weightsPath, configPath, tokenizerPath], as: options.tensorType })
  return found
}

async function findOrConvert(options: CacheOptions): Promise<CachedConversion> {
  const { source, tensorType, dataDir } = options
  const plan = await planConversion(source, tensorType)
  const folder = join(dataDir, 'models')
  const hashes = await ContentHashes.open(folder)
  const path = join(folder, `${await conversionKey(options, plan, hashes)}.gguf`)
  if (await isWhole(path)) {
    await hashes.save()
    return { path, isNew: false }
  }
  await prepareFolder(folder)
  await hashes.save()
  const { bavail, bsize } = await statfs(folder)
  checkRoom({ folder, neededBytes: plan.layout.fileSizeBytes, freeBytes: bavail * bsize })
  await convertInto(path, options)
  return { path, isNew: true }
}

async function conversionKey(
  options: CacheOptions,
  plan: ConversionPlan,
  hashes: ContentHashes,
): Promise<string> {
  const { source, tensorType, signal } = options
  const key = createHash('sha256').update(`sluice ${CONVERTER_VERSION} ${tensorType}`)
  const smallFiles = [source.configPath, source.tokenizerPath]
  const optionalFiles = [
    source.tokenizerConfigPath,
    source.generationConfigPath,
    source.chatTemplatePath,
    source.sentencePiecePath,
  ]
  for (const path of [...smallFiles, ...plan.weightPaths]) key.update(`\n${await hashes.hash(path, signal)}`)
  for (const path of optionalFiles)
    key.update(`\n${(await isFile(path)) ? await hashes.hash(path, signal) : 'none'}`)
  return key.digest('hex')
}

/** A file under its final name was whole once; a disk may still have lost its end. */
export async function isWhole(path: string): Promise<boolean> {
  if (!(await isFile(path))) return false
  try {
    await readGgufFile(path)
    return true
  } catch (error) {
    if (error instanceof StartError) return false
    throw error
  }
}

async function convertInto(path: string, options: CacheOptions): Promise<void> {
  const temporaryPath = `${path}.${newId()}.tmp`
  try {
    const { source, tensorType, convert, onProgress, signal } = options
    await convert({
      source,
      tensorType,
      outputPath: temporaryPath,
      ...(onProgress === undefined ? {} : { onProgress }),
      ...(signal === undefined ? {} : { signal }),
    })
    await rename(temporaryPath, path)
  } catch (error) {
    await unlink(temporaryPath).catch(() => {})
    // Where an open file cannot be replaced, another process's conversion of the same input is as good.
    const isRefused = error instanceof StartError || options.signal?.aborted === true
    if (!isRefused && (await isWhole(path))) return
    throw fileError('write', path, error)
  }
}

/** Makes the folder, and removes what killed conversions left behind. */
export async function prepareFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
    for (const name of await readdir(folder)) {
      if (name.endsWith('.tmp')) await removeStale(join(folder, name))
    }
  } catch (error) {
    throw fileError('prepare the folder', folder, error)
  }
}

async function removeStale(path: string): Promise<void> {
  try {
    const { mtimeMs } = await stat(path)
    if (Date.now() - mtimeMs > STALE_MS) await unlink(path)
  } catch (error) {
    // Another process renamed or removed it in between.
    if (!isMissing(error)) throw error
  }
}

interface Room {
  /** How the sentence begins. @default 'Converting' */
  readonly work?: string
  readonly folder: string
  readonly neededBytes: number
  readonly freeBytes: number
}

/** @throws StartError when the disk has no room for the new file. */
export function checkRoom({ work = 'Converting', folder, neededBytes, freeBytes }: Room): void {
  if (neededBytes + SPARE_BYTES <= freeBytes) return
  throw new StartError(
    `${work} the model needs ${neededBytes} bytes in ${folder} and ${SPARE_BYTES} to spare, but only ${freeBytes} are free.`,
    1,
  )
}
