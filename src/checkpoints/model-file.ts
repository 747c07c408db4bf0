/**
 * From the options of the command line to the GGUF file that an engine serves. `checkModelFiles` looks at headers
 * only and comes before the port opens; `resolveModelFile` may convert, which takes as long as copying the model.
 */
import { cachedConversion } from './cache/conversion-cache.ts'
import { planConversion, type TensorType } from './conversion/conversion-plan.ts'
import type { convertCheckpoint } from './conversion/convert.ts'
import { convertInWorker } from './conversion/conversion-thread.ts'
import { type GgufModel, openGgufModel } from './gguf/gguf-file.ts'
import { metadataOverrides, type MetadataOverride } from './gguf/gguf-overrides.ts'
import { readJsonObject } from './json-file.ts'
import { findModelSource, type GgufSource, type ModelOptions, type ModelSource } from './model-source.ts'

export interface ResolveOptions extends ModelOptions {
  readonly dataDir: string
  /** What the matrices of a converted checkpoint are stored as. @default 'source' */
  readonly tensorType?: TensorType
  /** Told the share that is written, 0 to 1, when there is something to convert. */
  readonly onProgress?: (fraction: number) => void
  readonly signal?: AbortSignal
  /** How to convert. @default in a worker thread */
  readonly convert?: typeof convertCheckpoint
}

export interface ResolvedModel {
  /** The model to serve; its `path` is what llama.cpp is given. */
  readonly model: GgufModel
  /** Metadata that `--model-config` replaces in a GGUF given as it is; the engine passes them to llama.cpp. */
  readonly overrides: readonly MetadataOverride[]
  /** True when it was converted now; false for a GGUF given and for a conversion found in the cache. */
  readonly isNewConversion: boolean
}

/**
 * Checks that the files can be served: they exist, are whole by their headers, of a supported architecture and with
 * a tokenizer. Reads no weights.
 * @throws StartError with one sentence saying what is wrong.
 */
export async function checkModelFiles(options: ModelOptions): Promise<ModelSource> {
  const source = await findModelSource(options)
  if (source.kind === 'gguf') await openWithOverrides(source)
  else await planConversion(source, 'source')
  return source
}

/** @throws StartError with one sentence saying what is wrong. */
export async function resolveModelFile(options: ResolveOptions): Promise<ResolvedModel> {
  const source = await findModelSource(options)
  if (source.kind === 'gguf') return { ...(await openWithOverrides(source)), isNewConversion: false }
  const { path, isNew } = await cachedConversion({
    ...options,
    source,
    tensorType: options.tensorType ?? 'source',
    convert: options.convert ?? convertInWorker,
  })
  return { model: await openGgufModel(path), overrides: [], isNewConversion: isNew }
}

async function openWithOverrides({
  path,
  configPath,
}: GgufSource): Promise<Pick<ResolvedModel, 'model' | 'overrides'>> {
  const model = await openGgufModel(path)
  return {
    model,
    overrides: configPath === null ? [] : metadataOverrides(await readJsonObject(configPath), model),
  }
}
