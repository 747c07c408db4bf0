/**
 * From the options of the command line to the GGUF file that an engine serves. `checkModelFiles` looks at headers
 * only and comes before the port opens; `resolveModelFile` may convert, which takes as long as copying the model.
 */
import { cachedConversion } from './conversion-cache.ts'
import { planConversion, type TensorType } from './conversion-plan.ts'
import type { convertCheckpoint } from './convert.ts'
import { convertInWorker } from './convert-in-worker.ts'
import { type GgufModel, openGgufModel } from './gguf-file.ts'
import { findModelSource, type ModelOptions, type ModelSource } from './model-source.ts'

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
  if (source.kind === 'gguf') await openGgufModel(source.path)
  else await planConversion(source, 'source')
  return source
}

/** @throws StartError with one sentence saying what is wrong. */
export async function resolveModelFile(options: ResolveOptions): Promise<ResolvedModel> {
  const source = await findModelSource(options)
  if (source.kind === 'gguf') return { model: await openGgufModel(source.path), isNewConversion: false }
  const { path, isNew } = await cachedConversion({
    ...options,
    source,
    tensorType: options.tensorType ?? 'source',
    convert: options.convert ?? convertInWorker,
  })
  return { model: await openGgufModel(path), isNewConversion: isNew }
}
