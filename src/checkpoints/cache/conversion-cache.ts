/**
 * The converted models in `<data folder>/models`, each named by a hash over the content of everything it was made
 * from. A conversion is written to a temporary name and renamed, so that a file under its final name is whole, and
 * two processes that convert the same thing at once both end well.
 */
import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '../../core/errors.ts'
import { ContentHashes } from './content-hash.ts'
import type { TensorType } from '../conversion/conversion-plan.ts'
import type { convertCheckpoint } from '../conversion/convert.ts'
import { badFile, fileError } from '../file-errors.ts'
import { readGgufFile } from '../gguf/gguf-file.ts'
import { isFile } from '../json-file.ts'
import { writeManifest } from './artifact-manifest.ts'
import type { HfFiles } from '../checkpoint-files.ts'
import { weightFiles } from '../safetensors/safetensors-file.ts'
import { removeLeftovers, writeWhole } from './whole-file.ts'

/** Part of every name: raised whenever the converter writes something else for the same input. */
const CONVERTER_VERSION = 2

export interface CacheOptions {
  readonly source: HfFiles
  readonly tensorType: TensorType
  readonly dataDir: string
  readonly convert: typeof convertCheckpoint
  readonly onProgress?: (fraction: number) => void
  readonly signal?: AbortSignal
}

/** Resolves with the path of the GGUF file: found in the cache, or converted now. */
export async function cachedConversion(options: CacheOptions): Promise<string> {
  const { weightsPath, configPath, tokenizerPath } = options.source
  const path = await findOrConvert(options)
  await writeManifest(path, { from: [weightsPath, configPath, tokenizerPath], as: options.tensorType })
  return path
}

async function findOrConvert(options: CacheOptions): Promise<string> {
  const folder = join(options.dataDir, 'models')
  const hashes = await ContentHashes.open(folder)
  const key = await conversionKey(options, hashes)
  const path = join(folder, `${key}.gguf`)
  if (!(await isWhole(path))) {
    await prepareFolder(folder)
    await convertInto(path, options, async () => {
      // Known hashes cost nothing; a file that was written since has none.
      if ((await conversionKey(options, hashes)) === key) return
      throw badFile(options.source.weightsPath, 'or a file beside it changed while it was converted')
    })
  }
  await hashes.save()
  return path
}

async function conversionKey(options: CacheOptions, hashes: ContentHashes): Promise<string> {
  const { source, tensorType, signal } = options
  const key = createHash('sha256').update(`sluice ${CONVERTER_VERSION} ${tensorType}`)
  const files = [source.configPath, source.tokenizerPath, ...(await weightFiles(source.weightsPath))]
  const optionalFiles = [
    source.tokenizerConfigPath,
    source.generationConfigPath,
    source.chatTemplatePath,
    source.processorTemplatePath,
    source.sentencePiecePath,
  ]
  for (const path of files) key.update(`\n${await hashes.hash(path, signal)}`)
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

async function convertInto(
  path: string,
  options: CacheOptions,
  checkUnchanged: () => Promise<void>,
): Promise<void> {
  const { source, tensorType, convert, onProgress, signal } = options
  try {
    await writeWhole(path, async (outputPath) => {
      await convert({
        source,
        tensorType,
        outputPath,
        ...(onProgress === undefined ? {} : { onProgress }),
        ...(signal === undefined ? {} : { signal }),
      })
      await checkUnchanged()
    })
  } catch (error) {
    // Where an open file cannot be replaced, another process's conversion of the same input is as good.
    const isRefused = error instanceof StartError || signal?.aborted === true
    if (!isRefused && (await isWhole(path))) return
    throw fileError('write', path, error)
  }
}

/** Makes the folder, and removes what killed conversions left behind. */
export async function prepareFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
    await removeLeftovers(folder)
  } catch (error) {
    throw fileError('prepare the folder', folder, error)
  }
}
