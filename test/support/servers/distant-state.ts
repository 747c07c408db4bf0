/** A shared state as another process would answer it: later, in the order of the questions, and with copies of data. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SharedState } from '../../../src/core/shared-state.ts'

/** `wait` is done before each answer. */
export function distantState(state: SharedState, wait: () => Promise<unknown> = nextTurn): SharedState {
  return {
    requests: distantPart(state.requests, wait),
    attempts: distantPart(state.attempts, wait),
    bans: distantPart(state.bans, wait),
    knocks: distantPart(state.knocks, wait),
  }
}

type Method = (...parameters: readonly unknown[]) => unknown

/** @throws DataCloneError for what is not data. */
export function distantPart<Part extends object>(part: Part, wait: () => Promise<unknown> = nextTurn): Part {
  return new Proxy(part, {
    get:
      (target, name) =>
      async (...parameters: readonly unknown[]) => {
        const sent = structuredClone(parameters)
        await nextTurn()
        const answer: unknown = await Reflect.apply(Reflect.get(target, name) as Method, target, sent)
        await wait()
        return structuredClone(answer)
      },
  })
}
