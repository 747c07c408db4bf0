/**
 * Finds the GGUF file that an engine serves for a checkpoint on this machine: the checkpoint itself, or its conversion in
 * the artifact cache. Converting takes as long as copying the model; `checkpoint-outline.ts` checks the same files by
 * their headers alone.
 */
import type { MetadataOverride } from '../protocol/runner-options.ts'
import { metadataOverrides } from './architectures/gguf-overrides.ts'
import { cachedArtifact } from './cache/artifact-cache.ts'
import { type CheckpointPaths, findCheckpointFiles, type HfFiles } from './checkpoint-files.ts'
import type { LeftOutTensors, TensorType } from './conversion/conversion-plan.ts'
import { convertInWorker } from './conversion/conversion-thread.ts'
import type { convertCheckpoint } from './conversion/convert.ts'
import { type GgufModel, openGgufModel } from './gguf/gguf-file.ts'
import { isFile, readJsonObject } from './files/json-file.ts'
import { weightFiles } from './safetensors/safetensors-file.ts'

/** Part of every key: raised whenever the converter writes something else for the same input. */
const CONVERTER_VERSION = 6

export interface ResolveOptions extends CheckpointPaths {
  readonly dataDir: string
  /** What the matrices of a converted checkpoint are stored as. @default 'source' */
  readonly tensorType?: TensorType
  /** Share that is written, 0 to 1; not called when nothing is converted. */
  readonly onProgress?: (fraction: number) => void
  /** False where a conversion is to be quantized, so that only `quantizeModel` opens it. @default true */
  readonly isOpened?: boolean
  /** Called when the cache holds a damaged conversion of it. */
  readonly onDamaged?: (path: string) => void
  /** Called when a part of it is not converted. */
  readonly onLeftOut?: (leftOut: LeftOutTensors) => void
  readonly signal?: AbortSignal
  /** How to convert. @default in a worker thread */
  readonly convert?: typeof convertCheckpoint
}

export interface ResolvedModel {
  /** The model to serve; its `path` is what llama.cpp opens. */
  readonly model: GgufModel
  /** Metadata that `--model-config` replaces in a GGUF checkpoint; the engine passes them to llama.cpp. */
  readonly overrides: readonly MetadataOverride[]
}

/** @throws StartError with one sentence saying what is wrong. */
export async function resolveModelFile(options: ResolveOptions): Promise<ResolvedModel> {
  const files = await findCheckpointFiles(options)
  if (files.kind === 'hugging-face') {
    return { model: await openGgufModel(await cachedConversion(files, options)), overrides: [] }
  }
  const { path, configPath } = files
  const model = await openGgufModel(path)
  const overrides = configPath === null ? [] : metadataOverrides(await readJsonObject(configPath), model)
  return { model, overrides }
}

/** Resolves with the path of the GGUF file, converted if it is not in the cache. */
async function cachedConversion(source: HfFiles, options: ResolveOptions): Promise<string> {
  const { weightsPath, configPath, tokenizerPath } = source
  const {
    dataDir,
    tensorType = 'source',
    onProgress,
    isOpened,
    onDamaged,
    onLeftOut,
    signal,
    convert = convertInWorker,
  } = options
  const { path } = await cachedArtifact({
    dataDir,
    recipe: `sluice ${CONVERTER_VERSION} ${tensorType}`,
    sources: () => sourcesOf(source),
    manifest: { from: [weightsPath, configPath, tokenizerPath], as: tensorType },
    make: (outputPath) => convert({ source, tensorType, outputPath, onProgress, onLeftOut, signal }),
    isOpened,
    onDamaged,
    signal,
  })
  return path
}

/** Every file that is read; null for an optional one that does not exist. */
async function sourcesOf(files: HfFiles): Promise<readonly (string | null)[]> {
  const optionalPaths = [
    files.tokenizerConfigPath,
    files.generationConfigPath,
    files.modelCardPath,
    files.chatTemplatePath,
    files.processorTemplatePath,
    files.sentencePiecePath,
    files.poolingConfigPath,
  ]
  return [
    files.configPath,
    files.tokenizerPath,
    ...(await weightFiles(files.weightsPath)),
    ...(await Promise.all(optionalPaths.map(async (path) => ((await isFile(path)) ? path : null)))),
    // Nothing in the place of a missing one: most checkpoints have none, and keep the key that they have without it.
    ...((await isFile(files.modulesPath)) ? [files.modulesPath] : []),
  ]
}
