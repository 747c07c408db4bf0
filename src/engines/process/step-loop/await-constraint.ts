/**
 * A request between its prompts' tokens and the queue: it waits until its constraint has been compiled, and no step waits with
 * it. Used by the step loop.
 */
import { ServiceError, toServiceError } from '../../../core/errors.ts'
import type { Constraint } from '../../../protocol/constraint.ts'
import type { ConstraintCompiler } from '../../../protocol/model-runner.ts'

/** So often the engine shows that it works. */
const BEAT_MS = 1000

export interface ConstraintWait {
  readonly constraint: Constraint
  /** Sequences that keep to it. */
  readonly count: number
  /** Called from time to time. */
  readonly onWaiting: () => void
  readonly onCompiled: (matcherIds: readonly number[]) => void
  readonly onRefused: (error: ServiceError) => void
  readonly onDropped: () => void
}

/** One of the last three is called, in a later turn. Gives the function that drops the request. */
export function awaitConstraint(compiler: ConstraintCompiler | undefined, wait: ConstraintWait): () => void {
  const { matcherIds, compiled } = compiler?.prepare(wait.constraint, wait.count) ?? unsupported()
  const beat = setInterval(wait.onWaiting, BEAT_MS)
  let isDropped = false
  const drop = (): void => {
    clearInterval(beat)
    for (const matcherId of matcherIds) compiler?.drop(matcherId)
  }
  const settle = async (): Promise<void> => {
    try {
      await compiled
    } catch (error) {
      if (isDropped) return
      drop()
      return wait.onRefused(toServiceError(error, ''))
    }
    clearInterval(beat)
    if (!isDropped) wait.onCompiled(matcherIds)
  }
  void settle()
  return () => {
    isDropped = true
    drop()
    wait.onDropped()
  }
}

function unsupported() {
  const message = 'this model cannot constrain its answers'
  return { matcherIds: [], compiled: Promise.reject(new ServiceError('unsupported_value', { message })) }
}
