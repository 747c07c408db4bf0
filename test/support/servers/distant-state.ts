/** A shared state as another process would answer it: later, in the order of the questions, and with copies of data. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SharedState } from '../../../src/core/shared-state.ts'

export function distantState(state: SharedState): SharedState {
  return {
    requests: distantPart(state.requests),
    addresses: distantPart(state.addresses),
    logins: distantPart(state.logins),
    bans: distantPart(state.bans),
    knocks: distantPart(state.knocks),
  }
}

type Method = (...parameters: readonly unknown[]) => unknown

/** @throws DataCloneError for what is not data. */
export function distantPart<Part extends object>(part: Part): Part {
  return new Proxy(part, {
    get:
      (target, name) =>
      async (...parameters: readonly unknown[]) => {
        const sent = structuredClone(parameters)
        await nextTurn()
        const answer: unknown = await Reflect.apply(Reflect.get(target, name) as Method, target, sent)
        await nextTurn()
        return structuredClone(answer)
      },
  })
}
