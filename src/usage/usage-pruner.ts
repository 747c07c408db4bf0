/**
 * Removes usage that is older than it is to be kept, at start and every hour: whole UTC days, so that rows and sums
 * stay in step, and in slices with a turn of the event loop between two, so that requests are recorded meanwhile.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../core/clock.ts'
import { SECONDS_PER_DAY } from '../storage/usage-database.ts'
import type { UsageRepository } from '../storage/usage-repository.ts'
import type { Log } from '../telemetry/log.ts'

export interface Timer {
  stop(): void
}

export type StartTimer = (onTime: () => void, intervalMs: number) => Timer

export interface UsagePrunerOptions {
  readonly repository: UsageRepository
  readonly clock: Clock
  readonly log: Log
  /** At least this many days are kept; the day in which they begin is kept whole. */
  readonly retentionDays: number
  /** @default Node's own timer, which keeps no process alive */
  readonly startTimer?: StartTimer
  /** @default 1000 */
  readonly maxSliceRows?: number
}

const INTERVAL_MS = 3_600_000

/** Takes about as long as a few requests. */
const MAX_SLICE_ROWS = 1000

export class UsagePruner {
  readonly #options: UsagePrunerOptions
  readonly #timer: Timer
  /** Null while nothing is being removed. */
  #pruning: Promise<void> | null = null
  #isClosed = false

  /** Begins at once. */
  constructor(options: UsagePrunerOptions) {
    this.#options = options
    this.#timer = (options.startTimer ?? startSystemTimer)(() => this.#start(), INTERVAL_MS)
    this.#start()
  }

  /** Stops between two slices and waits until then. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer.stop()
    await this.#pruning
  }

  #start(): void {
    this.#pruning ??= this.#prune().finally(() => {
      this.#pruning = null
    })
  }

  /** Never rejects: what could not be removed now is tried again in an hour. */
  async #prune(): Promise<void> {
    const { repository, log } = this.#options
    const before = this.#keptFromUnixSeconds()
    try {
      await this.#inSlices((maxCount) => repository.deleteRowsBefore(before, maxCount))
      await this.#inSlices((maxCount) => repository.deleteTotalsBefore(before, maxCount))
    } catch (error) {
      log.error({ err: error }, 'old usage could not be removed')
    }
  }

  async #inSlices(deleteSlice: (maxCount: number) => Promise<number>): Promise<void> {
    const maxCount = this.#options.maxSliceRows ?? MAX_SLICE_ROWS
    for (let count = maxCount; count === maxCount && !this.#isClosed;) {
      count = await deleteSlice(maxCount)
      await nextTurn()
    }
  }

  #keptFromUnixSeconds(): number {
    const { clock, retentionDays } = this.#options
    const day = Math.floor(clock.unixSeconds() / SECONDS_PER_DAY) - retentionDays
    return day * SECONDS_PER_DAY
  }
}

const startSystemTimer: StartTimer = (onTime, intervalMs) => {
  const interval = setInterval(onTime, intervalMs).unref()
  return { stop: () => clearInterval(interval) }
}
