/** The program of the thread that `tokenizer-thread.ts` starts: slices of long prompts, for some milliseconds a call. */
import os from 'node:os'
import { workerData } from 'node:worker_threads'
import { answerCalls } from '../../../core/concurrency/worker-calls.ts'
import { InvariantError, ServiceError } from '../../../core/errors.ts'
import { unpackPrompt } from '../../tokenizing/packed-prompt.ts'
import { nextSlice, type TokenSlices } from '../../tokenizing/slice-job.ts'
import { attachLlama } from '../ffi/bindings.ts'
import type { TokenizerAnswer, TokenizerRequest, TokenizerThreadData } from './tokenizer-thread.ts'
import { Vocabulary } from './vocabulary.ts'

/** So that another account's turn comes soon, and that most prompts take one call. */
const CALL_MS = 10
/** A prompt of more contexts is not worth counting to its end. */
const COUNTED_CONTEXTS = 2

/** So that the threads that compute a step, which wait for each other, do not wait for this one. */
const PRIORITY = 10

// Of this thread: elsewhere than on Linux it would be that of the process.
if (process.platform === 'linux') os.setPriority(0, PRIORITY)

const data = workerData as TokenizerThreadData
const vocabulary = new Vocabulary(attachLlama(data.gpu), data.vocabulary)
const jobs = new Map<number, TokenSlices>()

answerCalls(
  ({ jobId, act, prompt }: TokenizerRequest): TokenizerAnswer => {
    if (act === 'drop') return end(jobId, { state: 'open' })
    if (prompt !== null) jobs.set(jobId, vocabulary.tokenizeSlices(unpackPrompt(prompt)))
    const slices = jobs.get(jobId)
    if (slices === undefined) throw new InvariantError(`There is no prompt ${jobId} to tokenize.`)
    const startedMs = performance.now()
    do {
      const outcome = nextSlice(slices)
      if (outcome instanceof Int32Array) return end(jobId, { state: 'done', tokenIds: outcome })
      const refusal = typeof outcome === 'number' ? refuseOver(outcome) : outcome
      if (refusal !== null)
        return end(jobId, { state: 'refused', code: refusal.code, params: refusal.params })
    } while (performance.now() - startedMs < CALL_MS)
    return { state: 'open' }
  },
  (answer) => (answer.state === 'done' ? [answer.tokenIds.buffer as ArrayBuffer] : []),
)

function end(jobId: number, answer: TokenizerAnswer): TokenizerAnswer {
  jobs.delete(jobId)
  return answer
}

function refuseOver(tokens: number): ServiceError | null {
  const max = data.maxSeqLen
  if (tokens <= COUNTED_CONTEXTS * max) return null
  return new ServiceError('context_length_exceeded', { given: `at least ${tokens}`, max })
}
