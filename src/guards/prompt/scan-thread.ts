/**
 * Scans long prompts in a thread of its own, so that the event loop stays free. One order at a time, a bounded line
 * behind it. A thread that dies fails its order, and the next order starts another.
 */
import { Worker } from 'node:worker_threads'
import { abortReason } from '../../core/abort.ts'
import { InvariantError, ServiceError } from '../../core/errors.ts'
import type { PromptRule } from './rules.ts'

/** What the thread is given. */
export interface ScanOrder {
  readonly texts: readonly string[]
  readonly isChat: boolean
  readonly specialTexts: readonly string[]
}

/** What it answers: for each text the rule it breaks, if any. */
export type ScanAnswer = readonly (PromptRule | null)[]

interface Job {
  readonly order: ScanOrder
  readonly signal: AbortSignal
  readonly resolve: (answer: ScanAnswer) => void
  readonly reject: (error: unknown) => void
}

export interface ScanThreadOptions {
  readonly maxWaiting: number
  /** @default the worker beside this file */
  readonly workerUrl?: URL
}

/** A long prompt takes a fraction of a second. */
const RETRY_SECONDS = 1

export class ScanThread {
  readonly #maxWaiting: number
  readonly #workerUrl: URL
  readonly #waiting: Job[] = []
  #worker: Worker | null = null
  #running: Job | null = null
  #isClosed = false

  constructor({ maxWaiting, workerUrl }: ScanThreadOptions) {
    this.#maxWaiting = maxWaiting
    this.#workerUrl = workerUrl ?? new URL(workerFile(import.meta.url), import.meta.url)
  }

  /** @throws ServiceError `prompt_check_queue_full`; the signal's reason; InvariantError when the thread dies. */
  async scan(order: ScanOrder, signal: AbortSignal): Promise<ScanAnswer> {
    signal.throwIfAborted()
    if (this.#waiting.length >= this.#maxWaiting) throw queueError(this.#maxWaiting)
    let onAbort = (): void => {}
    try {
      return await new Promise<ScanAnswer>((resolve, reject) => {
        const job = { order, signal, resolve, reject }
        onAbort = () => this.#abort(job)
        signal.addEventListener('abort', onAbort, { once: true })
        this.#waiting.push(job)
        this.#next()
      })
    } finally {
      // The signal may outlive the prompt by a whole connection.
      signal.removeEventListener('abort', onAbort)
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    for (const job of this.#waiting.splice(0)) job.reject(new ServiceError('shutting_down'))
    await this.#worker?.terminate()
  }

  /** The thread finishes what it has begun, which nobody reads then; what waits is not begun. */
  #abort(job: Job): void {
    const index = this.#waiting.indexOf(job)
    if (index >= 0) this.#waiting.splice(index, 1)
    job.reject(abortReason(job.signal))
  }

  #next(): void {
    if (this.#running !== null || this.#isClosed) return
    const job = this.#waiting.shift()
    if (job === undefined) return
    this.#running = job
    this.#worker ??= this.#start()
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(job.order)
  }

  #start(): Worker {
    const worker = new Worker(this.#workerUrl)
    // An idle thread keeps no process alive.
    worker.unref()
    let cause: unknown = null
    worker.on('message', (answer: ScanAnswer) => {
      const job = this.#running
      this.#running = null
      job?.resolve(answer)
      this.#next()
    })
    worker.on('error', (error) => {
      cause = error
    })
    worker.once('exit', () => {
      const job = this.#running
      this.#worker = null
      this.#running = null
      job?.reject(new InvariantError('The thread that scans prompts ended', { cause }))
      this.#next()
    })
    return worker
  }
}

function queueError(max: number): ServiceError {
  return new ServiceError(
    'prompt_check_queue_full',
    { max, seconds: RETRY_SECONDS },
    { retryAfterSeconds: RETRY_SECONDS },
  )
}

/** The thread runs the same kind of file as this one: built JavaScript, or the source where Node strips types. */
function workerFile(ownUrl: string): string {
  return ownUrl.endsWith('.ts') ? './scan-worker.ts' : './scan-worker.js'
}
