/** A scripted engine that tells when requests start and when their clients have left, so that tests need not guess. */
import type { EngineRequest } from '../../../src/protocol/engine.ts'
import { type Script, ScriptedEngine, untilAborted } from './scripted-engine.ts'

export function createObservedEngine(script: Script) {
  const started = createCounter()
  const aborted = createCounter()
  const engine = new ScriptedEngine((request: EngineRequest, signal: AbortSignal) => {
    signal.addEventListener('abort', () => aborted.add(), { once: true })
    started.add()
    return script(request, signal)
  })
  return { engine, started, aborted }
}

/** A count that can be waited for. */
export function createCounter() {
  let count = 0
  let waiting: { target: number; resolve: () => void } | null = null
  const check = () => {
    if (waiting !== null && count >= waiting.target) waiting.resolve()
  }
  return {
    get count() {
      return count
    },
    add: () => {
      count++
      check()
    },
    reaches: (target: number) =>
      new Promise<void>((resolve) => {
        waiting = { target, resolve }
        check()
      }),
  }
}

/** Never gets a place: nothing of it is ever computed. */
export async function* queueForever(_request: EngineRequest, signal: AbortSignal) {
  yield* []
  await untilAborted(signal)
}
