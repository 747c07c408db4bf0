/**
 * Runs prompts on worker threads behind a bounded queue. A thread that throws or exits fails only the prompts it was
 * running, and its supervisor starts another; prompts are refused while all supervisors are unavailable. Threads start
 * with the first prompt, so that an application that never generates pays nothing.
 * Invariant: every prompt ends exactly once, with a continuation or an error.
 */
import { withAbort } from '../../core/concurrency/abort.ts'
import { systemClock } from '../../core/clock.ts'
import { RETRY_AFTER_SECONDS, Supervisor } from '../../core/concurrency/supervisor.ts'
import { ServiceError } from '../../core/errors.ts'
import { requireOwnFile } from '../../core/own-file.ts'
import { withResolvers } from '../../core/concurrency/with-resolvers.ts'
import type { Continuation } from '../../generation/generate-answer.ts'
import { GENERATION_WORKER, type Job, type Outcome, WorkerThread } from './worker-thread.ts'

/** Prompts that a thread runs at once: enough that it never waits for the next message. */
const SEATS = 64

export interface WorkerPoolOptions {
  readonly workers: number
  /** Prompts that may wait for a thread. */
  readonly maxQueue: number
  /** Called with the reason when a thread has exited unexpectedly. */
  readonly onWorkerEnd: (cause: Error) => void
  /** @default 64 */
  readonly seats?: number
  /** The threads' own program. @default the passthrough model */
  readonly entry?: URL | undefined
}

export interface PromptRun {
  readonly prompt: string
  readonly maxNewTokens: number
  readonly requestId: string
  /** Calls back when the client has left; the returned function removes the callback. */
  readonly onLeave: (callback: () => void) => () => void
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #seats: number
  readonly #threads = new Set<WorkerThread>()
  /** One for each thread; none before the first prompt. */
  #supervisors: readonly Supervisor[] = []
  /** In the order they came. */
  #waiting = new Map<number, Job>()
  #nextId = 0
  #isClosed = false

  /** @throws StartError where the threads' program is missing */
  constructor(options: WorkerPoolOptions) {
    requireOwnFile(options.entry ?? GENERATION_WORKER)
    this.#options = options
    this.#seats = options.seats ?? SEATS
  }

  /** @throws ServiceError `queue_full`, `engine_failed`, `engine_unavailable`, `shutting_down`; AbortError. */
  async run({ prompt, maxNewTokens, requestId, onLeave }: PromptRun): Promise<Continuation> {
    this.#refuseIfUnavailable()
    const id = this.#nextId++
    const { promise, resolve: settle, reject: fail } = withResolvers<Outcome>()
    this.#waiting.set(id, { id, prompt, maxNewTokens, settle, fail })
    const forgetClient = onLeave(() => {
      this.#abort(id)
      fail(new DOMException('The client has left.', 'AbortError'))
    })
    this.#fillSeats()
    try {
      return toContinuation(await promise, requestId)
    } finally {
      forgetClient()
    }
  }

  /** Ends the threads; prompts that have not ended fail with `shutting_down`. */
  async close(): Promise<void> {
    this.#isClosed = true
    const supervised = this.#supervisors.map((supervisor) => supervisor.close())
    const ended = Array.from(this.#threads, (thread) => thread.close())
    const unfinished = [...this.#takeWaiting(), ...(await Promise.all(ended)).flat()]
    for (const job of unfinished) job.fail(new ServiceError('shutting_down'))
    await Promise.all(supervised)
  }

  #refuseIfUnavailable(): void {
    if (this.#isClosed) throw new ServiceError('shutting_down')
    if (this.#isUnavailable) throw unavailable()
    const max = this.#options.maxQueue
    const waiting = this.#waiting.size
    if (waiting < max || this.#freest() !== null || this.#supervisors.length === 0) return
    throw new ServiceError('queue_full', { waiting, max, given: 1 }, { retryAfterSeconds: 1 })
  }

  #fillSeats(): void {
    this.#start()
    for (const [id, job] of this.#waiting) {
      const thread = this.#freest()
      if (thread === null) return
      this.#waiting.delete(id)
      thread.run(job)
    }
  }

  /** The thread with the fewest prompts; null when all are full. */
  #freest(): WorkerThread | null {
    let freest: WorkerThread | null = null
    for (const thread of this.#threads) {
      if (thread.load < (freest?.load ?? this.#seats)) freest = thread
    }
    return freest
  }

  #start(): void {
    if (this.#supervisors.length > 0) return
    this.#supervisors = Array.from({ length: this.#options.workers }, () => this.#createSupervisor())
    for (const supervisor of this.#supervisors) supervisor.begin()
  }

  get #isUnavailable(): boolean {
    return this.#supervisors.length > 0 && this.#supervisors.every(({ isUnavailable }) => isUnavailable)
  }

  #createSupervisor(): Supervisor {
    const supervisor: Supervisor = new Supervisor({
      clock: systemClock,
      start: (signal) => withAbort(this.#startThread(supervisor), signal),
      onFailedStart: (cause) => {
        this.#options.onWorkerEnd(cause instanceof Error ? cause : new Error(String(cause)))
        if (this.#isUnavailable) for (const job of this.#takeWaiting()) job.fail(unavailable())
      },
    })
    return supervisor
  }

  /** Resolves when the thread's program runs; rejects when the thread ends before. */
  #startThread(supervisor: Supervisor): Promise<void> {
    return new Promise((resolve, reject) => {
      const thread: WorkerThread = new WorkerThread(
        { seats: this.#seats },
        {
          onOutcomes: () => {
            resolve()
            this.#fillSeats()
          },
          onEnd: (cause, unfinished) => {
            this.#threads.delete(thread)
            if (!thread.hasBegun) {
              // Its prompts never ran: they wait for the next thread.
              this.#waiting = new Map([...unfinished.map((job) => [job.id, job] as const), ...this.#waiting])
              return reject(cause)
            }
            for (const job of unfinished) job.fail(new ServiceError('engine_failed'))
            this.#options.onWorkerEnd(cause)
            supervisor.restart()
          },
        },
        this.#options.entry,
      )
      this.#threads.add(thread)
      this.#fillSeats()
    })
  }

  #abort(id: number): void {
    this.#waiting.delete(id)
    for (const thread of this.#threads) thread.abort(id)
    this.#fillSeats()
  }

  #takeWaiting(): readonly Job[] {
    const jobs = [...this.#waiting.values()]
    this.#waiting.clear()
    return jobs
  }
}

/** @throws ServiceError when the prompt could not run. */
function toContinuation(outcome: Outcome, requestId: string): Continuation {
  if (outcome.length === 2) throw new ServiceError(outcome[1].code, { requestId, ...outcome[1].params })
  const [, text, tokenIds, promptTokens, finishReason] = outcome
  return { text, tokenIds, promptTokens, finishReason }
}

function unavailable(): ServiceError {
  const message = 'its worker threads end as soon as they begin.'
  return new ServiceError('engine_unavailable', { message }, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}
