/**
 * One worker thread and the prompts it runs. Prompts given in one turn of the event loop are sent as one message. When
 * the thread exits unexpectedly, the pool gets its unfinished prompts back.
 */
import { WorkerChannel, workerEntry } from '../../core/concurrency/worker-channel.ts'
import type { FinishReason, SequenceError } from '../../protocol/engine-events.ts'

/** Given to a thread when it starts. */
export interface WorkerOptions {
  /** Prompts that it may run at once. */
  readonly seats: number
}

/** Server → thread. Sampling changes nothing on the passthrough model, so it does not travel. */
export interface WorkMessage {
  readonly prompts: readonly (readonly [id: number, prompt: string, maxNewTokens: number])[]
  readonly aborted: readonly number[]
}

/** In order, without names: copying those to the other thread costs as much as all the rest. */
export type Outcome =
  | readonly [
      id: number,
      text: string,
      tokenIds: readonly number[],
      promptTokens: number,
      finishReason: FinishReason,
    ]
  | readonly [id: number, error: SequenceError]

/** Thread → server: what has ended since the last message; the first one, empty, says that the program runs. */
export type OutcomeMessage = readonly Outcome[]

/** A prompt that has not ended. */
export interface Job {
  readonly id: number
  readonly prompt: string
  readonly maxNewTokens: number
  readonly settle: (outcome: Outcome) => void
  readonly fail: (error: Error) => void
}

export interface WorkerThreadHooks {
  /** Prompts have ended, so the thread can take more. */
  readonly onOutcomes: () => void
  /** Called when the thread has exited unexpectedly, with its unfinished jobs. */
  readonly onEnd: (cause: Error, unfinished: readonly Job[]) => void
}

/** The passthrough model. */
export const GENERATION_WORKER = workerEntry(import.meta.url, 'generation-worker')

export class WorkerThread {
  readonly #channel: WorkerChannel<WorkMessage, OutcomeMessage>
  readonly #hooks: WorkerThreadHooks
  /**
   * In the order they came. No map: with entries that come and go it leaves tables behind that keep each other, and all
   * that the requests hang on, from the quick collection of garbage.
   */
  readonly #jobs: Job[] = []
  #prompts: WorkMessage['prompts'][number][] = []
  #aborted: number[] = []
  #isFlushing = false
  #hasBegun = false

  constructor(options: WorkerOptions, hooks: WorkerThreadHooks, entry = GENERATION_WORKER) {
    this.#hooks = hooks
    this.#channel = new WorkerChannel({
      entry,
      name: 'A worker thread of the light server',
      workerData: options,
      onMessage: (outcomes) => this.#receive(outcomes),
      onEnd: (cause) => hooks.onEnd(cause, this.#takeJobs()),
    })
  }

  /** Prompts that it runs. */
  get load(): number {
    return this.#jobs.length
  }

  /** Whether its program has started. */
  get hasBegun(): boolean {
    return this.#hasBegun
  }

  run(job: Job): void {
    this.#jobs.push(job)
    this.#prompts.push([job.id, job.prompt, job.maxNewTokens])
    this.#flushThisTurn()
  }

  /** Frees its capacity at once; a later outcome is dropped. */
  abort(id: number): void {
    if (this.#takeJob(id) === undefined) return
    this.#aborted.push(id)
    this.#flushThisTurn()
  }

  /** Terminates the thread; returns its unfinished jobs. */
  async close(): Promise<readonly Job[]> {
    const unfinished = this.#takeJobs()
    await this.#channel.close()
    return unfinished
  }

  #flushThisTurn(): void {
    if (this.#isFlushing) return
    this.#isFlushing = true
    setImmediate(() => {
      this.#isFlushing = false
      // Those that were aborted before they went out never do.
      const aborted = this.#aborted
      const prompts =
        aborted.length === 0 ? this.#prompts : this.#prompts.filter(([id]) => !aborted.includes(id))
      const message: WorkMessage = { prompts, aborted }
      this.#prompts = []
      this.#aborted = []
      this.#channel.post(message)
    })
  }

  #receive(outcomes: OutcomeMessage): void {
    this.#hasBegun = true
    for (const outcome of outcomes) {
      this.#takeJob(outcome[0])?.settle(outcome)
    }
    this.#hooks.onOutcomes()
  }

  /** Undefined when it has ended or was never there. There are few, and it is usually the first. */
  #takeJob(id: number): Job | undefined {
    const index = this.#jobs.findIndex((job) => job.id === id)
    return index < 0 ? undefined : this.#jobs.splice(index, 1)[0]
  }

  #takeJobs(): readonly Job[] {
    return this.#jobs.splice(0)
  }
}
