/**
 * From a checkpoint on this machine to the GGUF file that an engine serves. May convert it, which takes as long as
 * copying the model; `checkpoint-outline.ts` checks the same files by their headers alone.
 */
import { cachedConversion } from './cache/conversion-cache.ts'
import type { TensorType } from './conversion/conversion-plan.ts'
import type { convertCheckpoint } from './conversion/convert.ts'
import { convertInWorker } from './conversion/conversion-thread.ts'
import { type GgufModel, openGgufModel } from './gguf/gguf-file.ts'
import { metadataOverrides } from './architectures/gguf-overrides.ts'
import type { MetadataOverride } from '../protocol/runner-options.ts'
import { readJsonObject } from './json-file.ts'
import { findCheckpointFiles, type GgufFiles, type CheckpointPaths } from './checkpoint-files.ts'

export interface ResolveOptions extends CheckpointPaths {
  readonly dataDir: string
  /** What the matrices of a converted checkpoint are stored as. @default 'source' */
  readonly tensorType?: TensorType
  /** Share that is written, 0 to 1; not called when nothing is converted. */
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
}

/** @throws StartError with one sentence saying what is wrong. */
export async function resolveModelFile(options: ResolveOptions): Promise<ResolvedModel> {
  const source = await findCheckpointFiles(options)
  if (source.kind === 'gguf') return await openWithOverrides(source)
  const path = await cachedConversion({
    ...options,
    source,
    tensorType: options.tensorType ?? 'source',
    convert: options.convert ?? convertInWorker,
  })
  return { model: await openGgufModel(path), overrides: [] }
}

async function openWithOverrides({ path, configPath }: GgufFiles): Promise<ResolvedModel> {
  const model = await openGgufModel(path)
  const overrides = configPath === null ? [] : metadataOverrides(await readJsonObject(configPath), model)
  return { model, overrides }
}
