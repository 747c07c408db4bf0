/** The path of a checkpoint: a Hub reference is pulled first, with the environment variables of this process; the bundled model has a name. */
import type { LogWriter } from '../../core/log-writer.ts'
import { bundledOr } from '../bundled-model.ts'
import { isHubReference } from './hub-reference.ts'
import type { PullOptions, PullProgress } from './pull-model.ts'

/** @throws StartError with one sentence saying what is wrong. */
export async function localCheckpoint(
  checkpoint: string,
  options: Omit<PullOptions, 'env'>,
): Promise<string> {
  if (!isHubReference(checkpoint)) return options.isAdapter === true ? checkpoint : bundledOr(checkpoint)
  // Loaded on demand: the Hub's library is larger than the rest of the program.
  const { pullModel } = await import('./pull-model.ts')
  return await pullModel(checkpoint, { env: process.env, ...options })
}

/** A line in the log each time this much more has arrived. */
const LOG_STEP = 0.25

export interface LoggedPullOptions {
  readonly modelId: string
  readonly log: LogWriter
  readonly signal: AbortSignal
  /** Share that has arrived, 0 to 1, never less than before; not called when there is nothing to download. */
  readonly onProgress: (fraction: number) => void
  /** As those of `PullOptions`. */
  readonly isAdapter?: boolean
  readonly checksConfig?: boolean
}

/** For a running server: the download's progress goes to the log. */
export function localCheckpointLogged(checkpoint: string, options: LoggedPullOptions): Promise<string> {
  const { modelId: model, log, signal, onProgress, isAdapter, checksConfig } = options
  let arrived = 0
  let logged: number | null = null
  const onDownload = ({ repo, bytes, totalBytes }: PullProgress): void => {
    // The bytes go down when another process abandons its download.
    arrived = Math.max(arrived, totalBytes === 0 ? 1 : bytes / totalBytes)
    onProgress(arrived)
    const isDue = logged === null || arrived - logged >= LOG_STEP || (arrived === 1 && logged < 1)
    if (!isDue) return
    logged = arrived
    log.info({ model, repo, percent: Math.floor(arrived * 100), totalBytes }, 'downloading')
  }
  const onNotice = (sentence: string): void => log.info({ model }, sentence)
  return localCheckpoint(checkpoint, { signal, onProgress: onDownload, onNotice, isAdapter, checksConfig })
}
