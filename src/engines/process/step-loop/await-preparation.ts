/**
 * A request between its prompts' tokens and the queue, while what it needs is made: a grammar of its constraint, a KV cache for its
 * beams. No step waits with it. Used by the step loop.
 */
import { ServiceError, toServiceError } from '../../../core/errors.ts'
import type { Constraint } from '../../../protocol/constraint.ts'
import type { ConstraintCompiler } from '../../../protocol/model-runner.ts'

/** So often the engine shows that it works. */
const BEAT_MS = 1000

export interface PreparationWait {
  /** Called from time to time. */
  readonly onWaiting: () => void
  /** Called in a later turn, with what went wrong. */
  readonly onDone: (error: ServiceError | null) => void
  /** Called in its place where the request is dropped. */
  readonly onDropped: () => void
}

/** Gives the function that drops the request. */
export function awaitPreparation(
  ready: Promise<void>,
  { onWaiting, onDone, onDropped }: PreparationWait,
): () => void {
  const beat = setInterval(onWaiting, BEAT_MS)
  let isDropped = false
  const settle = async (): Promise<void> => {
    const error = await ready.then(
      () => null,
      (cause: unknown) => toServiceError(cause, ''),
    )
    clearInterval(beat)
    if (!isDropped) onDone(error)
  }
  void settle()
  return () => {
    isDropped = true
    clearInterval(beat)
    onDropped()
  }
}

export interface ConstraintWait extends Omit<PreparationWait, 'onDone'> {
  readonly constraint: Constraint
  /** Sequences that keep to it. */
  readonly count: number
  readonly accountId: string
  readonly onCompiled: (matcherIds: readonly number[]) => void
  readonly onRefused: (error: ServiceError) => void
}

export function awaitConstraint(compiler: ConstraintCompiler | undefined, wait: ConstraintWait): () => void {
  const { constraint, count, accountId } = wait
  const { matcherIds, compiled } = compiler?.prepare(constraint, count, accountId) ?? unsupported()
  const dropMatchers = (): void => {
    for (const matcherId of matcherIds) compiler?.drop(matcherId)
  }
  return awaitPreparation(compiled, {
    onWaiting: wait.onWaiting,
    onDone: (error) => {
      if (error === null) return wait.onCompiled(matcherIds)
      dropMatchers()
      wait.onRefused(error)
    },
    onDropped: () => {
      dropMatchers()
      wait.onDropped()
    },
  })
}

function unsupported() {
  const message = 'this model cannot constrain its answers'
  return { matcherIds: [], compiled: Promise.reject(new ServiceError('unsupported_value', { message })) }
}
