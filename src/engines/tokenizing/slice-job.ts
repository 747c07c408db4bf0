/** Tokenizes a long prompt in the caller's own thread: a slice in each turn of the event loop. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../../core/errors.ts'
import type { TokenizingJob } from '../../protocol/model-runner.ts'

/** Ends when the prompt has been tokenized; each step is one slice, and gives the number of tokens so far. */
export type TokenSlices = Generator<number, Int32Array, undefined>

export function createSliceJob(slices: TokenSlices): TokenizingJob {
  return {
    async advance() {
      await nextTurn()
      const outcome = nextSlice(slices)
      return typeof outcome === 'number' ? null : outcome
    },
    drop: () => {},
  }
}

/** The number of tokens so far while there are more slices. */
export function nextSlice(slices: TokenSlices): Int32Array | ServiceError | number {
  try {
    return slices.next().value
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
}
