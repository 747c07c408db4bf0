/**
 * The checkpoint of a draft model, which guesses the tokens of another: downloaded, outlined and converted as that one's, and
 * served as it is. Whether its vocabulary is the same is seen when the engine opens both.
 */
import { StartError } from '../core/errors.ts'
import type { ModelOutline } from '../protocol/model-info.ts'
import type { LocalModelSource } from '../protocol/model-source.ts'
import { DAMAGED_FILE } from './cache/artifact-cache.ts'
import { type CheckpointOutline, outlineCheckpoint } from './checkpoint-outline.ts'
import { checkpointName } from './hub/hub-reference.ts'
import { type LoggedPullOptions, localCheckpointLogged } from './hub/local-checkpoint.ts'
import { type ResolvedModel, resolveModelFile } from './model-file.ts'

/** Nothing stands beside it, and nothing is quantized. */
const AS_IT_IS = { modelConfig: null, tokenizer: null } as const

export interface ResolvedDraft extends ResolvedModel {
  /** As it was named: a folder or file without its ending, a repository of the Hub. */
  readonly name: string
}

export interface DraftCheckpoint {
  readonly name: string
  /** On this machine. */
  readonly checkpoint: string
  readonly outline: CheckpointOutline
}

/** Null where the source names none. @throws StartError with one sentence saying what is wrong. */
export async function findDraft(
  { draftCheckpoint }: Pick<LocalModelSource, 'draftCheckpoint'>,
  options: Omit<LoggedPullOptions, 'onProgress'>,
): Promise<DraftCheckpoint | null> {
  if (draftCheckpoint === null) return null
  const checkpoint = await localCheckpointLogged(draftCheckpoint, { ...options, onProgress: () => {} })
  return {
    name: draftName(draftCheckpoint),
    checkpoint,
    outline: await outlineDraft(checkpoint, options.signal),
  }
}

/** Of a repository that lies in the Hub's cache its own name, which is not that of the folder. */
function draftName(checkpoint: string): string {
  const inCache = /models--[^/]+--(?<name>[^/]+)\/snapshots\/[^/]+$/.exec(checkpoint)
  return inCache?.groups?.['name'] ?? checkpointName(checkpoint)
}

/** @throws StartError where it cannot draft. */
export async function outlineDraft(checkpoint: string, signal?: AbortSignal): Promise<CheckpointOutline> {
  return checkDrafts(
    checkpoint,
    await outlineCheckpoint({ ...AS_IT_IS, checkpoint }, { maxSeqLen: null, signal }),
  )
}

/** The outline where it can draft. @throws StartError where it cannot. */
export function checkDrafts(checkpoint: string, outline: CheckpointOutline): CheckpointOutline {
  if (outline.embedding === undefined) return outline
  throw new StartError(`'${checkpoint}' cannot be a draft model: it generates no text.`)
}

/** @throws StartError where a model that makes vectors has a draft model. */
export function checkDrafted(
  { checkpoint, draftCheckpoint }: Pick<LocalModelSource, 'checkpoint' | 'draftCheckpoint'>,
  { embedding }: Pick<ModelOutline, 'embedding'>,
): void {
  if (draftCheckpoint === null || embedding === undefined) return
  throw new StartError(`'${checkpoint}' generates no text, so that nothing can be drafted for it.`)
}

/** Converts it where that is needed. @throws StartError with one sentence saying what is wrong. */
export async function resolveDraft(
  { name, checkpoint }: DraftCheckpoint,
  { dataDir, log, modelId, signal }: Omit<LoggedPullOptions, 'onProgress'> & { readonly dataDir: string },
): Promise<ResolvedDraft> {
  const resolved = await resolveModelFile({
    ...AS_IT_IS,
    checkpoint,
    dataDir,
    onDamaged: (file) => log.warn({ model: modelId, file }, DAMAGED_FILE),
    signal,
  })
  return { ...resolved, name }
}
