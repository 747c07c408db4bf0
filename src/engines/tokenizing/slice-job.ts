/** Tokenizes a long prompt in the caller's own thread: a slice in each turn of the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../../core/errors.ts'
import type { TokenizingJob } from '../../protocol/model-runner.ts'

/** Ends when the prompt has been tokenized; each step is one slice. */
export type TokenSlices = Generator<undefined, Int32Array, undefined>

export function createSliceJob(slices: TokenSlices): TokenizingJob {
  return {
    async advance() {
      await nextTurn()
      return nextSlice(slices)
    },
    drop: () => {},
  }
}

/** Null while there are more. */
export function nextSlice(slices: TokenSlices): Int32Array | ServiceError | null {
  try {
    const { done, value } = slices.next()
    return done === true ? value : null
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}
