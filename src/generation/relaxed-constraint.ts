/**
 * Runs a request whose constraint may be replaced by a looser one: schemas of tools that need not be kept to exactly are no reason to
 * refuse a chat. Called by `generation.ts` for chats with tools.
 */
import { ServiceError } from '../core/errors.ts'
import type { Constraint } from '../protocol/constraint.ts'
import type { Engine, EngineEvent, EngineRequest } from '../protocol/engine.ts'

interface RelaxedRun {
  readonly relaxed: Constraint
  readonly signal: AbortSignal
}

export async function* generateRelaxed(
  engine: Pick<Engine, 'generate'>,
  request: EngineRequest,
  { relaxed, signal }: RelaxedRun,
): AsyncGenerator<readonly EngineEvent[]> {
  try {
    yield* engine.generate(request, signal)
  } catch (error) {
    // An engine refuses a constraint before anything runs.
    if (!isConstraintRefusal(error)) throw error
    yield* engine.generate({ ...request, options: { ...request.options, constraint: relaxed } }, signal)
  }
}

/** Whether an engine cannot keep to a constraint. */
export function isConstraintRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 400 && error.code.startsWith('constraint_')
}
