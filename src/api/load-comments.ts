/**
 * Tells the reader of a stream, in comments, that its request waits for a model that is being loaded, its own or one in its
 * place. The first comment opens the answer, so it waits a second: what a load of less than that ends in is still answered with
 * its status (decision 0002).
 */
import type { Models } from '../models/registry.ts'
import { type StartSilenceTimer, startSystemSilenceTimer } from './silence-timer.ts'

export const LOAD_COMMENT_MS = 1000

export interface LoadCommentsDeps {
  readonly registry: Pick<Models, 'get' | 'awaitsLoad'>
  /** @default Node's own timers */
  readonly startSilenceTimer?: StartSilenceTimer
}

interface LoadReader {
  /** The model that it waits for now; null is the default model. */
  readonly awaitedId: () => string | null
  readonly write: (comment: string) => void
}

/** Runs what waits for a model. */
export async function commentOnLoad<Result>(
  { registry, startSilenceTimer = startSystemSilenceTimer }: LoadCommentsDeps,
  { awaitedId, write }: LoadReader,
  work: () => Promise<Result>,
): Promise<Result> {
  const timer = startSilenceTimer(() => {
    const modelId = awaitedId()
    if (registry.awaitsLoad(modelId))
      write(`loading model ${Math.floor(registry.get(modelId).loadFraction * 100)} %`)
    // What answers in the place of a model that fails later may be loaded then.
    timer.refresh()
  }, LOAD_COMMENT_MS)
  try {
    return await work()
  } finally {
    timer.stop()
  }
}
