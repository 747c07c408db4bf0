/** The models that a server starts with: named by the configuration, downloaded, and validated by their headers. */
import type { CheckpointOutline } from '../../checkpoints/checkpoint-outline.ts'
import type { KnownOutlines } from '../../checkpoints/known-outlines.ts'
import { outlineDraft } from '../../checkpoints/draft-checkpoint.ts'
import { checkpointName } from '../../checkpoints/hub/hub-reference.ts'
import { localCheckpoint } from '../../checkpoints/hub/local-checkpoint.ts'
import type { PullProgress } from '../../checkpoints/hub/pull-model.ts'
import type { ConfiguredModel } from '../../config/model-kinds.ts'
import type { ServerConfig } from '../../config/server-config.ts'
import { StartError } from '../../core/errors.ts'
import type { LoadTime } from '../../core/choices/load-time.ts'
import { toSecret, toSource } from '../../models/read-source.ts'
import { type ModelPolicy, OPEN_POLICY, toModelPolicy } from '../../protocol/model-policy.ts'
import {
  type AdapterModelSource,
  type LocalModelSource,
  type RemoteModelSource,
  toLocalSource,
} from '../../protocol/model-source.ts'

interface LocalModel {
  readonly id: string
  readonly policy: ModelPolicy
  readonly source: LocalModelSource
  readonly load: LoadTime
  readonly isPinned: boolean
}

interface RemoteModel {
  readonly id: string
  readonly policy: ModelPolicy
  readonly source: RemoteModelSource
}

interface AdapterModel {
  readonly id: string
  readonly policy: ModelPolicy
  readonly source: AdapterModelSource
}

export type StartModel = LocalModel | RemoteModel | AdapterModel

export type OutlinedModel =
  | (LocalModel & { readonly outline: CheckpointOutline })
  | RemoteModel
  | AdapterModel

export interface DownloadHooks {
  /** Called while a checkpoint is downloaded, before the server listens. */
  readonly onDownloadProgress?: ((progress: PullProgress) => void) | undefined
  /** Called with human-readable messages about the download. */
  readonly onNotice?: ((sentence: string) => void) | undefined
  /** Aborts the download. */
  readonly signal?: AbortSignal | undefined
}

/** The checkpoint, which is the default model, then those of the list, adapters last; downloaded where they are not local. */
export async function localModels(
  config: ServerConfig,
  { onDownloadProgress, onNotice, signal }: DownloadHooks,
): Promise<readonly StartModel[]> {
  const models: StartModel[] = []
  const adaptersLast = modelsOf(config).toSorted((a, b) => Number(isAdapter(a)) - Number(isAdapter(b)))
  for (const model of adaptersLast) {
    const options = { onProgress: onDownloadProgress, onNotice, signal }
    models.push(isLocal(model) ? await downloaded(model, options) : model)
  }
  return models
}

async function downloaded(
  { source, ...model }: LocalModel,
  options: Parameters<typeof localCheckpoint>[1],
): Promise<LocalModel> {
  const { draftCheckpoint: draft } = source
  const checksConfig = source.modelConfig === null
  const checkpoint = await localCheckpoint(source.checkpoint, { ...options, checksConfig })
  const draftCheckpoint = draft === null ? null : await localCheckpoint(draft, options)
  return { ...model, source: { ...source, checkpoint, draftCheckpoint } }
}

function isAdapter(model: StartModel): model is AdapterModel {
  return model.source.kind === 'adapter'
}

function isLocal(model: StartModel): model is LocalModel {
  return model.source.kind === 'local'
}

/** Those of the configuration, nothing of them looked at. @throws StartError where two have one id */
export function modelsOf(config: ServerConfig): readonly StartModel[] {
  const listed = config.models.map(toStartModel)
  const first = firstModel(config)
  if (first === null) return listed
  if (listed.some(({ id }) => id === first.id)) {
    const what = isLocal(first) ? 'checkpoint' : 'upstream'
    throw new StartError(`models must not name the id '${first.id}', which is that of the ${what}.`, 2)
  }
  return [first, ...listed]
}

function firstModel(config: ServerConfig): StartModel | null {
  const { checkpoint, modelConfig, tokenizer, quantization, draftCheckpoint, toolFormat, modelId } = config
  const { upstream: endpoints, upstreamKey, upstreamModel: model } = config
  if (checkpoint !== null) {
    const weights = { checkpoint, modelConfig, tokenizer, quantization, draftCheckpoint }
    const source = toLocalSource({ ...weights, toolFormat })
    const id = modelId ?? checkpointName(checkpoint)
    return { id, source, policy: OPEN_POLICY, load: 'start', isPinned: false }
  }
  if (endpoints.length === 0) return null
  return {
    id: modelId ?? model ?? 'upstream',
    source: { kind: 'openai', endpoints, apiKey: toSecret(upstreamKey), model },
    policy: OPEN_POLICY,
  }
}

function toStartModel(configured: ConfiguredModel): StartModel {
  const { id } = configured
  const policy = toModelPolicy(configured)
  const source = toSource(configured)
  if (source.kind === 'openai') return { id, policy, source }
  if (source.kind === 'adapter') return { id, policy, source }
  const { load = 'start', pinned = false } = configured.engine === undefined ? configured : {}
  return { id, policy, source, load, isPinned: pinned }
}

/** @throws StartError for the first model that cannot be served. */
export async function outlineAll(
  models: readonly StartModel[],
  { models: listed }: ServerConfig,
  outlines: KnownOutlines,
): Promise<readonly OutlinedModel[]> {
  const outlined: OutlinedModel[] = []
  for (const given of models) {
    if (!isLocal(given)) {
      outlined.push(given)
      continue
    }
    const { id, source } = given
    try {
      outlined.push({ ...given, outline: await outlines.read(source) })
      if (source.draftCheckpoint !== null) await outlineDraft(source.draftCheckpoint)
    } catch (error) {
      const isListed = listed.some((model) => model.id === id)
      if (!isListed || !(error instanceof StartError)) throw error
      throw new StartError(`models: '${id}' cannot be served: ${error.message}`, error.exitCode)
    }
  }
  return outlined
}
