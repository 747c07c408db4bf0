/** A checkpoint as a path: what is named on the Hub is pulled first, with the environment of this process. */
import { isHubReference } from '../hub/hub-reference.ts'
import type { PullOptions } from '../hub/pull-model.ts'

/** @throws StartError with one sentence saying what is wrong. */
export async function localCheckpoint(
  checkpoint: string,
  options: Omit<PullOptions, 'env'>,
): Promise<string> {
  if (!isHubReference(checkpoint)) return checkpoint
  // Loaded for those who need it: the Hub's library is larger than all the rest.
  const { pullModel } = await import('../hub/pull-model.ts')
  return await pullModel(checkpoint, { env: process.env, ...options })
}
