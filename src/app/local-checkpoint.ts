/** A checkpoint as a path: what is named on the Hub is pulled first, with the environment of this process. */
import { isHubReference } from '../checkpoints/hub/hub-reference.ts'
import type { PullOptions, PullProgress } from '../checkpoints/hub/pull-model.ts'
import type { Log } from '../telemetry/log.ts'

/** @throws StartError with one sentence saying what is wrong. */
export async function localCheckpoint(
  checkpoint: string,
  options: Omit<PullOptions, 'env'>,
): Promise<string> {
  if (!isHubReference(checkpoint)) return checkpoint
  // Loaded for those who need it: the Hub's library is larger than all the rest.
  const { pullModel } = await import('../checkpoints/hub/pull-model.ts')
  return await pullModel(checkpoint, { env: process.env, ...options })
}

/** A line in the log each time this much more has arrived. */
const LOG_STEP = 0.25

export interface LoggedPullOptions {
  readonly modelId: string
  readonly log: Log
  readonly signal: AbortSignal
  /** Told the share that has arrived, 0 to 1, never less than before; not called when there is nothing to download. */
  readonly onProgress: (fraction: number) => void
}

/** For a server that runs: nobody watches a bar, so the log says where the download stands. */
export function localCheckpointLogged(checkpoint: string, options: LoggedPullOptions): Promise<string> {
  const { modelId: model, log, signal, onProgress } = options
  let told = 0
  let logged: number | null = null
  const onDownload = ({ repo, bytes, totalBytes }: PullProgress): void => {
    // What another process downloads may have to be begun again.
    told = Math.max(told, totalBytes === 0 ? 1 : bytes / totalBytes)
    onProgress(told)
    const isDue = logged === null || told - logged >= LOG_STEP || (told === 1 && logged < 1)
    if (!isDue) return
    logged = told
    log.info({ model, repo, percent: Math.floor(told * 100), totalBytes }, 'downloading')
  }
  const onNotice = (sentence: string): void => log.info({ model }, sentence)
  return localCheckpoint(checkpoint, { signal, onProgress: onDownload, onNotice })
}
