/**
 * Scans long prompts in a thread of its own, so that the event loop stays free: one order at a time, with a bounded queue. A
 * thread that dies fails its order, and the next order starts another.
 */
import { withAbort } from '../../core/abort.ts'
import { Semaphore } from '../../core/concurrency/semaphore.ts'
import { WorkerCalls } from '../../core/concurrency/worker-calls.ts'
import { workerEntry } from '../../core/concurrency/worker-channel.ts'
import { ServiceError } from '../../core/errors.ts'
import type { PromptRule } from './rules.ts'

/** What the thread is given. */
export interface ScanOrder {
  readonly texts: readonly string[]
  readonly isChat: boolean
  readonly specialTexts: readonly string[]
}

/** What it answers: for each text the rule it breaks, if any. */
export type ScanAnswer = readonly (PromptRule | null)[]

export interface ScanThreadOptions {
  readonly maxWaiting: number
  /** @default the worker beside this file */
  readonly workerUrl?: URL
}

/** A long prompt takes a fraction of a second. */
const RETRY_SECONDS = 1

export class ScanThread {
  readonly #calls: WorkerCalls<ScanOrder, ScanAnswer>
  readonly #semaphore: Semaphore
  #isClosed = false

  constructor({ maxWaiting, workerUrl }: ScanThreadOptions) {
    this.#calls = new WorkerCalls({
      entry: workerUrl ?? workerEntry(import.meta.url, 'scan-worker'),
      name: 'The thread that scans prompts',
      // An idle thread keeps no process alive.
      keepsAlive: false,
    })
    this.#semaphore = new Semaphore({ permits: 1, maxWaiting, refusal: () => queueError(maxWaiting) })
  }

  /**
   * An order that is aborted before its turn is not begun; one that runs is finished, and its answer ignored.
   * @throws ServiceError `prompt_check_queue_full`; the signal's reason; InvariantError when the thread dies.
   */
  scan(order: ScanOrder, signal: AbortSignal): Promise<ScanAnswer> {
    return withAbort(
      this.#semaphore.run(() => this.#run(order), signal),
      signal,
    )
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#calls.close()
  }

  async #run(order: ScanOrder): Promise<ScanAnswer> {
    if (this.#isClosed) throw new ServiceError('shutting_down')
    return await this.#calls.call(order)
  }
}

function queueError(max: number): ServiceError {
  const params = { max, seconds: RETRY_SECONDS }
  return new ServiceError('prompt_check_queue_full', params, { retryAfterSeconds: RETRY_SECONDS })
}
