/**
 * What comes of an engine's refusal of a constraint, before anything runs: another try with a looser one, since schemas of tools
 * that need not be kept to exactly are no reason to refuse a chat, or an error that names the body's field. Called by
 * `generation.ts`.
 */
import { ServiceError } from '../core/errors.ts'
import type { Constraint } from '../protocol/constraint.ts'
import type { RelaxedTools } from '../models/chat/tool-constraint.ts'
import type { Engine, EngineRequest } from '../protocol/engine.ts'
import type { AnswerEvent } from '../protocol/engine-events.ts'

interface RelaxedRun {
  readonly relax: (relaxed: RelaxedTools) => Constraint | null
  readonly signal: AbortSignal
}

/** More are relaxed together with all others: each takes a compilation to be found. */
const MAX_FOUND = 8

/** Relaxes the tools that the engine names, one after the other, or all where it names none, and generates with what it takes. */
export async function* generateRelaxed(
  engine: Pick<Engine, 'generate'>,
  request: EngineRequest,
  { relax, signal }: RelaxedRun,
): AsyncGenerator<readonly AnswerEvent[]> {
  const found = new Set<string>()
  let relaxed: RelaxedTools | null = null
  for (;;) {
    const constraint = relaxed === null ? request.options.constraint : (relax(relaxed) ?? undefined)
    const options = { ...request.options, ...(constraint && { constraint }) }
    try {
      return yield* engine.generate({ ...request, options }, signal)
    } catch (error) {
      // An engine refuses a constraint before anything runs.
      if (!isConstraintRefusal(error) || relaxed === 'all') throw error
      const { part } = error.params
      const isNew = typeof part === 'string' && found.size < MAX_FOUND && !found.has(part)
      relaxed = isNew ? found.add(part) : 'all'
    }
  }
}

/** Names the field in the engine's refusal of its constraint: the engine knows no field names but those in the constraint. */
export async function* withConstraintField<Event>(
  events: AsyncIterable<Event>,
  field: string,
): AsyncGenerator<Event> {
  try {
    yield* events
  } catch (error) {
    if (!isConstraintRefusal(error)) throw error
    const { part = field, ...params } = error.params
    throw new ServiceError(error.code, { ...params, field: part }, { param: String(part) })
  }
}

/** Whether an engine cannot keep to a constraint. */
function isConstraintRefusal(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.status === 400 && error.code.startsWith('constraint_')
}
