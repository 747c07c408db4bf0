/**
 * Prepares the file of an adapter that an engine loads: downloads it from the Hub, converts it where PEFT has saved it, and checks
 * that it fits its base model. Loads nothing.
 */
import type { LogWriter } from '../../core/log-writer.ts'
import { cachedArtifact, DAMAGED_FILE } from '../cache/artifact-cache.ts'
import { badFile, quoted } from '../files/file-errors.ts'
import { requireFinite } from '../gguf/gguf-tensor-data.ts'
import { localCheckpointLogged } from '../hub/local-checkpoint.ts'
import { findAdapterFiles, type PeftFiles } from './adapter-files.ts'
import { type AdapterModel, type BaseModel, openAdapterModel } from './adapter-model.ts'
import { type AdapterConversion, recipeOf } from './convert-adapter.ts'
import { LORA_ARCHITECTURES } from './lora-modules.ts'

/** Part of every key: raised whenever something else is written for the same input. */
const CONVERTER_VERSION = 1

export interface AdapterWork {
  readonly modelId: string
  /** A path, or `hf:org/repo[:file.gguf]`. */
  readonly adapter: string
  readonly base: BaseModel
  readonly dataDir: string
  readonly log: LogWriter
  readonly onProgress: (fraction: number) => void
  readonly signal: AbortSignal
  /** `convertAdapter`, in a thread of its own where others are served by this one. */
  readonly convert: (conversion: AdapterConversion, signal: AbortSignal) => Promise<void>
}

/** @throws StartError with one sentence saying what is wrong */
export async function prepareAdapter(work: AdapterWork): Promise<AdapterModel> {
  const { modelId, base, log, signal, onProgress } = work
  const path = await localCheckpointLogged(work.adapter, {
    modelId,
    log,
    signal,
    onProgress,
    isAdapter: true,
  })
  const files = await findAdapterFiles(path)
  if (files.kind === 'gguf') {
    const model = await openAdapterModel(files.path, base)
    // An engine whose numbers are none stops, with all that runs on the base model.
    await requireFinite(files.path, signal)
    return model
  }
  return await openAdapterModel(await converted(files, work), base, files.weightsPath)
}

async function converted(
  files: PeftFiles,
  { base, dataDir, log, modelId, signal, convert }: AdapterWork,
): Promise<string> {
  const { configPath, weightsPath } = files
  if (!LORA_ARCHITECTURES.has(base.architecture)) {
    const known = [...LORA_ARCHITECTURES.keys()].join(', ')
    throw badFile(
      weightsPath,
      `is for a model of the architecture ${quoted(base.architecture)}; adapters of PEFT are converted for ${known}, others need a GGUF file`,
    )
  }
  const { path } = await cachedArtifact({
    dataDir,
    recipe: `sluice adapter ${CONVERTER_VERSION} ${recipeOf(base)}`,
    sources: async () => [configPath, weightsPath],
    manifest: { from: [configPath, weightsPath], as: `adapter ${recipeOf(base)}` },
    make: (outputPath) => convert({ files, base, outputPath }, signal),
    onDamaged: (file) => log.warn({ model: modelId, file }, DAMAGED_FILE),
    signal,
  })
  return path
}
