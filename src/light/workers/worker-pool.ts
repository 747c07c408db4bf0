/**
 * Runs prompts on worker threads, with a bounded queue in front of them. A thread that throws or exits fails the
 * prompts it was running, no others, and is replaced:
 *
 *   not started ──first prompt──▶ serving ──a thread ends──▶ serving (another takes its place)
 *        threads that end before they have begun: pauses that grow; after three in a row prompts are refused
 *   any ──close()──▶ closed
 *
 * Threads begin with the first prompt, so that an application that never generates pays nothing.
 * Invariant: every prompt ends exactly once, with a continuation or an error.
 */
import { ServiceError } from '../../core/errors.ts'
import type { Continuation } from '../model-host.ts'
import type { Outcome } from './worker-messages.ts'
import { type Job, WorkerThread } from './worker-thread.ts'

/** Prompts that a thread runs at once: enough that it never waits for the next message. */
const SEATS = 64
/** Threads that may end in a row before they have begun, until prompts are refused; the tries go on. */
const MAX_FAILED_STARTS = 3
const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 10_000

export interface WorkerPoolOptions {
  readonly workers: number
  /** Prompts that may wait for a thread. */
  readonly maxQueue: number
  /** Told why a thread has ended by itself. */
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
  /** Calls back when nobody waits for the continuation any more; what it gives ends that. */
  readonly onLeave: (callback: () => void) => () => void
}

export class WorkerPool {
  readonly #options: WorkerPoolOptions
  readonly #seats: number
  readonly #threads = new Set<WorkerThread>()
  /** In the order they came. */
  #waiting = new Map<number, Job>()
  readonly #restarts = new Set<NodeJS.Timeout>()
  #nextId = 0
  #hasStarted = false
  #failedStarts = 0
  #isClosed = false

  constructor(options: WorkerPoolOptions) {
    this.#options = options
    this.#seats = options.seats ?? SEATS
  }

  /** @throws ServiceError `queue_full`, `engine_failed`, `engine_unavailable`, `shutting_down`; AbortError. */
  run({ prompt, maxNewTokens, requestId, onLeave }: PromptRun): Promise<Continuation> {
    return new Promise((resolve, reject) => {
      this.#refuseIfUnavailable()
      const id = this.#nextId++
      const settle = (outcome: Outcome): void => {
        forgetClient()
        if (outcome.length === 2) {
          const [, { code, params }] = outcome
          return reject(new ServiceError(code, { requestId, ...params }))
        }
        const [, text, tokenIds, promptTokens, finishReason] = outcome
        resolve({ text, tokenIds, promptTokens, finishReason })
      }
      const fail = (error: Error): void => {
        forgetClient()
        reject(error)
      }
      this.#waiting.set(id, { id, prompt, maxNewTokens, settle, fail })
      const forgetClient = onLeave(() => {
        this.#abort(id)
        reject(new DOMException('The client has left.', 'AbortError'))
      })
      this.#fillSeats()
    })
  }

  /** Ends the threads; prompts that have not ended fail with `shutting_down`. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const restart of this.#restarts) clearTimeout(restart)
    const ended = Array.from(this.#threads, (thread) => thread.close())
    const unfinished = [...this.#takeWaiting(), ...(await Promise.all(ended)).flat()]
    for (const job of unfinished) job.fail(new ServiceError('shutting_down'))
  }

  #refuseIfUnavailable(): void {
    if (this.#isClosed) throw new ServiceError('shutting_down')
    if (this.#failedStarts >= MAX_FAILED_STARTS) throw unavailable()
    const max = this.#options.maxQueue
    const waiting = this.#waiting.size
    if (waiting < max || this.#freest() !== null || !this.#hasStarted) return
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

  /** The thread with the fewest prompts; null when every seat is taken. */
  #freest(): WorkerThread | null {
    let freest: WorkerThread | null = null
    for (const thread of this.#threads) {
      if (thread.load < (freest?.load ?? this.#seats)) freest = thread
    }
    return freest
  }

  #start(): void {
    if (this.#hasStarted) return
    this.#hasStarted = true
    for (let count = 0; count < this.#options.workers; count++) this.#startThread()
  }

  #startThread(): void {
    const thread: WorkerThread = new WorkerThread(
      { seats: this.#seats },
      {
        onOutcomes: () => {
          this.#failedStarts = 0
          this.#fillSeats()
        },
        onEnd: (cause, unfinished) => this.#replace(thread, { cause, unfinished }),
      },
      this.#options.entry,
    )
    this.#threads.add(thread)
  }

  #replace(
    thread: WorkerThread,
    { cause, unfinished }: { readonly cause: Error; readonly unfinished: readonly Job[] },
  ): void {
    this.#threads.delete(thread)
    if (thread.hasBegun) for (const job of unfinished) job.fail(new ServiceError('engine_failed'))
    else this.#recordFailedStart(unfinished)
    this.#options.onWorkerEnd(cause)
    if (this.#isClosed) return
    if (this.#failedStarts >= MAX_FAILED_STARTS)
      for (const job of this.#takeWaiting()) job.fail(unavailable())
    const pauseMs = Math.min(FIRST_PAUSE_MS * 2 ** (this.#failedStarts - 1), MAX_PAUSE_MS)
    const restart = setTimeout(
      () => {
        this.#restarts.delete(restart)
        this.#startThread()
        this.#fillSeats()
      },
      this.#failedStarts === 0 ? 0 : pauseMs,
    )
    this.#restarts.add(restart)
  }

  /** Its prompts are as good as never handed out. */
  #recordFailedStart(unfinished: readonly Job[]): void {
    this.#failedStarts++
    this.#waiting = new Map([...unfinished.map((job) => [job.id, job] as const), ...this.#waiting])
    if (this.#failedStarts < MAX_FAILED_STARTS) return
    for (const job of this.#takeWaiting()) job.fail(unavailable())
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

function unavailable(): ServiceError {
  const message = 'its worker threads end as soon as they begin.'
  return new ServiceError('engine_unavailable', { message }, { retryAfterSeconds: MAX_PAUSE_MS / 1000 })
}
