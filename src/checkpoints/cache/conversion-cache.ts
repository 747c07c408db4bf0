/** Converted checkpoints in the artifact cache. What converts is passed in. */
import { createHash } from 'node:crypto'
import type { HfFiles } from '../checkpoint-files.ts'
import type { TensorType } from '../conversion/conversion-plan.ts'
import type { convertCheckpoint } from '../conversion/convert.ts'
import { badFile } from '../file-errors.ts'
import { isFile } from '../json-file.ts'
import { weightFiles } from '../safetensors/safetensors-file.ts'
import { cachedArtifact } from './artifact-cache.ts'
import type { ContentHashes } from './content-hash.ts'

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
  const { source, dataDir, convert, signal, ...rest } = options
  const { weightsPath, configPath, tokenizerPath } = source
  const { path } = await cachedArtifact({
    dataDir,
    keyOf: (hashes) => conversionKey(options, hashes),
    manifest: { from: [weightsPath, configPath, tokenizerPath], as: options.tensorType },
    make: async (outputPath, isUnchanged) => {
      await convert({ ...rest, source, outputPath, ...(signal !== undefined && { signal }) })
      if (await isUnchanged()) return
      throw badFile(weightsPath, 'or a file beside it changed while it was converted')
    },
    signal,
  })
  return path
}

async function conversionKey(
  { source, tensorType, signal }: CacheOptions,
  hashes: ContentHashes,
): Promise<string> {
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
