/**
 * Tokenizes long prompts in a thread of its own, with the vocabulary of the loaded model: llama.cpp's tokenizers only read
 * it. The thread starts with the first long prompt. The tokenizing queue of the step loop is its caller.
 */
import { systemClock } from '../../../core/clock.ts'
import { WorkerCalls } from '../../../core/concurrency/worker-calls.ts'
import { workerEntry } from '../../../core/concurrency/worker-channel.ts'
import { type ErrorCode, InvariantError, ServiceError } from '../../../core/errors.ts'
import { withResolvers } from '../../../core/concurrency/with-resolvers.ts'
import type { LongPrompt, PackedPrompt, TokenizingJob } from '../../../protocol/model-runner.ts'
import type { RunnerOptions } from '../../../protocol/runner-options.ts'
import { SilenceWatch } from '../../../core/concurrency/silence-watch.ts'
import { packPrompt } from '../../tokenizing/packed-prompt.ts'
import type { VocabularyData } from './vocabulary.ts'

/** A slice takes milliseconds: one that takes so long has no end. */
const HANG_MS = 60_000

export interface TokenizerThreadData {
  readonly gpu: RunnerOptions['gpu']
  readonly vocabulary: VocabularyData
  /** Of the context. */
  readonly maxSeqLen: number
}

/** The first one for a job brings its prompt. */
export interface TokenizerRequest {
  readonly jobId: number
  readonly act: 'advance' | 'drop'
  readonly prompt: PackedPrompt | null
}

export type TokenizerAnswer =
  | { readonly state: 'open' }
  | { readonly state: 'done'; readonly tokenIds: Int32Array }
  | {
      readonly state: 'refused'
      readonly code: ErrorCode
      readonly params: ServiceError['params']
    }

export class TokenizerThread {
  readonly #calls: WorkerCalls<TokenizerRequest, TokenizerAnswer>
  #nextId = 0

  constructor(data: TokenizerThreadData) {
    this.#calls = new WorkerCalls({
      entry: workerEntry(import.meta.url, 'tokenizer-worker'),
      name: 'The thread that tokenizes long prompts',
      workerData: data,
      keepsAlive: false,
    })
  }

  begin(prompt: LongPrompt): TokenizingJob {
    const jobId = this.#nextId++
    let isBegun = false
    return {
      advance: async () => {
        const first = isBegun ? null : packPrompt(prompt)
        isBegun = true
        return await this.#advance({ jobId, act: 'advance', prompt: first })
      },
      drop: () => {
        // Without an answer: it fails only where the thread ends.
        if (isBegun) this.#calls.call({ jobId, act: 'drop', prompt: null }).catch(() => {})
      },
    }
  }

  async close(): Promise<void> {
    await this.#calls.close()
  }

  /** @throws InvariantError when the thread ends or hangs */
  async #advance(request: TokenizerRequest): Promise<Int32Array | ServiceError | null> {
    const hang = withResolvers<never>()
    const watch = new SilenceWatch({
      silenceMs: HANG_MS,
      clock: systemClock,
      onSilence: () => hang.reject(new InvariantError('a slice of a prompt is tokenized without an end')),
    })
    watch.start()
    try {
      const transfer = request.prompt === null ? [] : [request.prompt.text.buffer as ArrayBuffer]
      const answer = await Promise.race([this.#calls.call(request, { transfer }), hang.promise])
      switch (answer.state) {
        case 'open':
          return null
        case 'done':
          return answer.tokenIds
        case 'refused':
          return new ServiceError(answer.code, answer.params)
      }
    } finally {
      watch.stop()
    }
  }
}
