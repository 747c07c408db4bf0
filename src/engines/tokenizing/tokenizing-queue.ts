/**
 * Long prompts on their way to the scheduler: tokenized a slice at a time, in turn for each account, so that neither the step
 * loop nor the prompts of others wait for one. Used by the prompt tokenizer, in the loop's thread; where a slice is computed is
 * its choice. What has been dropped is looked at between two slices.
 * Invariant: one slice is computed at a time; each task gets exactly one of `onDone`, `onDropped` and `onFailed`.
 */
import { ServiceError, toServiceError } from '../../core/errors.ts'
import type { LongPrompt, TokenizingJob } from '../../protocol/model-runner.ts'

const MIB = 1024 * 1024
/** Two of the largest bodies; a key of the free tier brings one at a time. */
const MAX_ACCOUNT_BYTES = 16 * MIB
const MAX_BYTES = 64 * MIB
const RETRY_SECONDS = 1

/** A prompt's tokens, or why it has none. */
export type Tokenized = Int32Array | ServiceError

export interface TokenizingTask {
  readonly accountId: string
  readonly bytes: number
  readonly prompts: readonly LongPrompt[]
  /** Gets one outcome for each prompt. */
  readonly onDone: (outcomes: readonly Tokenized[]) => void
  /** Nothing of the task is computed any more. */
  readonly onDropped: () => void
  /** The queue was closed before its end. */
  readonly onFailed: (error: ServiceError) => void
}

export interface TokenizingQueueOptions {
  readonly begin: (prompt: LongPrompt) => TokenizingJob
  readonly onSlice: () => void
  /** No more slices can be computed. */
  readonly onBroken: (cause: unknown) => void
}

interface Entry {
  readonly task: TokenizingTask
  readonly outcomes: Tokenized[]
  job: TokenizingJob | null
  isDropped: boolean
}

/** The tasks of one account, in order of arrival. */
interface Line {
  readonly entries: Entry[]
  bytes: number
}

export class TokenizingQueue {
  readonly #options: TokenizingQueueOptions
  /** By account; the one whose turn is next comes first. */
  readonly #lines = new Map<string, Line>()
  #bytes = 0
  #running: Entry | null = null
  #isClosed = false

  constructor(options: TokenizingQueueOptions) {
    this.#options = options
  }

  /** Returns the function that drops the task, which does nothing once the task has ended. @throws ServiceError `tokenizing_queue_full` */
  add(task: TokenizingTask): () => void {
    const { accountId, bytes } = task
    const line = this.#lines.get(accountId) ?? { entries: [], bytes: 0 }
    refuseOver(MAX_ACCOUNT_BYTES, { waiting: line.bytes, given: bytes, whose: 'of one account' })
    refuseOver(MAX_BYTES, { waiting: this.#bytes, given: bytes, whose: 'in all' })
    const entry: Entry = { task, outcomes: [], job: null, isDropped: false }
    this.#lines.set(accountId, line)
    line.entries.push(entry)
    this.#count(line, bytes)
    if (this.#running === null) void this.#run()
    return () => this.#drop(entry)
  }

  /** Fails all tasks. */
  close(error: ServiceError): void {
    this.#isClosed = true
    const open = [...this.#lines.values()].flatMap(({ entries }) => entries)
    this.#lines.clear()
    for (const { task } of open) task.onFailed(error)
  }

  async #run(): Promise<void> {
    try {
      for (;;) {
        const [line] = this.#lines.values()
        const entry = line?.entries[0]
        if (entry === undefined || this.#isClosed) return
        this.#running = entry
        await this.#advance(entry)
        this.#running = null
        if (this.#isClosed) return
        this.#settle(entry)
        this.#options.onSlice()
      }
    } catch (error) {
      this.#options.onBroken(error)
    } finally {
      this.#running = null
    }
  }

  /** Computes one slice. */
  async #advance(entry: Entry): Promise<void> {
    const prompt = entry.task.prompts[entry.outcomes.length]
    if (prompt === undefined) return
    entry.job ??= this.#options.begin(prompt)
    const outcome = await entry.job.advance()
    if (outcome === null) return
    entry.outcomes.push(outcome instanceof Int32Array ? outcome : toServiceError(outcome, ''))
    entry.job = null
  }

  /** After its slice: it ends, or its account goes to the end of the line. */
  #settle(entry: Entry): void {
    const { task, outcomes } = entry
    if (entry.isDropped) {
      entry.job?.drop()
      this.#remove(entry)
      task.onDropped()
    } else if (outcomes.length === task.prompts.length) {
      this.#remove(entry)
      task.onDone(outcomes)
    }
    const line = this.#lines.get(task.accountId)
    if (line === undefined) return
    this.#lines.delete(task.accountId)
    this.#lines.set(task.accountId, line)
  }

  #drop(entry: Entry): void {
    if (entry.isDropped) return
    entry.isDropped = true
    // The slice that is being computed cannot be stopped.
    if (entry === this.#running || !this.#remove(entry)) return
    entry.job?.drop()
    entry.task.onDropped()
  }

  /** Returns whether it was there. */
  #remove(entry: Entry): boolean {
    const { accountId, bytes } = entry.task
    const line = this.#lines.get(accountId)
    const index = line?.entries.indexOf(entry) ?? -1
    if (line === undefined || index < 0) return false
    line.entries.splice(index, 1)
    this.#count(line, -bytes)
    if (line.entries.length === 0) this.#lines.delete(accountId)
    return true
  }

  #count(line: Line, bytes: number): void {
    line.bytes += bytes
    this.#bytes += bytes
  }
}

interface Fill {
  readonly waiting: number
  readonly given: number
  readonly whose: string
}

function refuseOver(max: number, { waiting, given, whose }: Fill): void {
  if (waiting + given <= max) return
  const options = { retryAfterSeconds: RETRY_SECONDS }
  throw new ServiceError('tokenizing_queue_full', { max, waiting, given, whose }, options)
}
