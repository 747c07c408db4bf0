/**
 * Scans long prompts in a thread of its own, so that the event loop stays free: one check at a time, with a bounded queue in
 * which accounts take turns. A thread that dies fails its check, and the next check starts another.
 */
import { withAbort } from '../../core/concurrency/abort.ts'
import { FairSemaphore } from '../../core/concurrency/fair-semaphore.ts'
import { WorkerCalls } from '../../core/concurrency/worker-calls.ts'
import { workerEntry } from '../../core/concurrency/worker-channel.ts'
import { ServiceError } from '../../core/errors.ts'
import type { PromptRule } from './rules.ts'

export interface PromptCheck {
  readonly texts: readonly string[]
  /** Whether each text is one turn of a chat and must not contain others. Raw prompts may hold template tokens. */
  readonly isChat: boolean
  /** The model's special tokens. */
  readonly specialTexts: readonly string[]
  /** Whose line it waits in. */
  readonly accountId: string
}

/** The rule that refuses a text; null lets it pass. */
export type PromptVerdict = PromptRule | null

export interface PromptGuardOptions {
  /** Requests with long prompts that may wait. @default 64 */
  readonly maxWaiting?: number
  /** @default the worker beside this file */
  readonly workerUrl?: URL
}

const MAX_WAITING = 64

/** A long prompt takes a fraction of a second. */
const RETRY_SECONDS = 1

export class ScanThread {
  readonly #calls: WorkerCalls<PromptCheck, readonly PromptVerdict[]>
  readonly #semaphore: FairSemaphore
  #isClosed = false

  constructor({ maxWaiting = MAX_WAITING, workerUrl }: PromptGuardOptions) {
    this.#calls = new WorkerCalls({
      entry: workerUrl ?? workerEntry(import.meta.url, 'scan-worker'),
      name: 'The thread that scans prompts',
      // An idle thread keeps no process alive.
      keepsAlive: false,
    })
    this.#semaphore = new FairSemaphore({ maxWaiting, refusal: () => queueError(maxWaiting) })
  }

  /**
   * A check that is aborted in the queue never starts; one that runs is finished, and its answer ignored.
   * @throws ServiceError `prompt_check_queue_full`; the signal's reason; InvariantError when the thread dies.
   */
  scan(check: PromptCheck, signal: AbortSignal): Promise<readonly PromptVerdict[]> {
    return withAbort(
      this.#semaphore.run(check.accountId, () => this.#run(check), signal),
      signal,
    )
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#calls.close()
  }

  async #run(check: PromptCheck): Promise<readonly PromptVerdict[]> {
    if (this.#isClosed) throw new ServiceError('shutting_down')
    return await this.#calls.call(check)
  }
}

function queueError(max: number): ServiceError {
  const params = { max, seconds: RETRY_SECONDS }
  return new ServiceError('prompt_check_queue_full', params, { retryAfterSeconds: RETRY_SECONDS })
}
