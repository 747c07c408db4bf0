/** The models that a server starts with: named by the configuration, downloaded, and validated by their headers. */
import { type CheckpointOutline, outlineCheckpoint } from '../checkpoints/checkpoint-outline.ts'
import { checkpointName } from '../checkpoints/hub/hub-reference.ts'
import { localCheckpoint } from '../checkpoints/hub/local-checkpoint.ts'
import type { PullProgress } from '../checkpoints/hub/pull-model.ts'
import type { ServerConfig } from '../config/server-config.ts'
import { StartError } from '../core/errors.ts'
import { type ModelSource, toModelSource } from '../protocol/model-source.ts'

export interface StartModel {
  readonly id: string
  readonly source: ModelSource
}

export interface OutlinedModel extends StartModel {
  readonly outline: CheckpointOutline
}

export interface DownloadHooks {
  /** Called while a checkpoint is downloaded, before the server listens. */
  readonly onDownloadProgress?: (progress: PullProgress) => void
  /** Called with human-readable messages about the download. */
  readonly onNotice?: (sentence: string) => void
  /** Aborts the download. */
  readonly signal?: AbortSignal
}

/** The checkpoint, which is the default model, then those of the list; downloaded where they are not local. */
export async function localModels(
  config: ServerConfig,
  { onDownloadProgress, onNotice, signal }: DownloadHooks,
): Promise<readonly StartModel[]> {
  const local: StartModel[] = []
  for (const { id, source } of modelsOf(config)) {
    const options = { onProgress: onDownloadProgress, onNotice, signal }
    local.push({ id, source: { ...source, checkpoint: await localCheckpoint(source.checkpoint, options) } })
  }
  return local
}

function modelsOf(config: ServerConfig): readonly StartModel[] {
  const { checkpoint, modelConfig, tokenizer, quantization, toolFormat } = config
  const listed = config.models.map(({ id, ...source }) => ({ id, source: toModelSource(source) }))
  if (checkpoint === null) return listed
  const id = config.modelId ?? checkpointName(checkpoint)
  if (listed.some((model) => model.id === id)) {
    throw new StartError(`models must not name the id '${id}', which is that of the checkpoint.`, 2)
  }
  return [
    { id, source: toModelSource({ checkpoint, modelConfig, tokenizer, quantization, toolFormat }) },
    ...listed,
  ]
}

/** @throws StartError for the first model that cannot be served. */
export async function outlineAll(
  models: readonly StartModel[],
  { maxSeqLen, models: listed }: ServerConfig,
): Promise<readonly OutlinedModel[]> {
  const outlined: OutlinedModel[] = []
  for (const { id, source } of models) {
    try {
      outlined.push({ id, source, outline: await outlineCheckpoint(source, { maxSeqLen }) })
    } catch (error) {
      const isListed = listed.some((model) => model.id === id)
      if (!isListed || !(error instanceof StartError)) throw error
      throw new StartError(`models: '${id}' cannot be served: ${error.message}`, error.exitCode)
    }
  }
  return outlined
}
