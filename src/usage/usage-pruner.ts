/**
 * Removes usage older than the retention, at start and every hour: whole UTC days, so that rows and sums agree, and in
 * slices with a turn of the event loop between two, so that requests are recorded meanwhile. The days of the current month
 * stay: monthly budgets count them.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../core/clock.ts'
import { SECONDS_PER_DAY } from '../storage/usage-database.ts'
import type { UsageStore } from '../storage/usage-store.ts'
import type { Log } from '../telemetry/log.ts'

export interface Timer {
  stop(): void
}

/** Calls `onTime`, which never rejects, every `intervalMs`. */
export type StartTimer = (onTime: () => Promise<void>, intervalMs: number) => Timer

export interface UsagePrunerOptions {
  readonly store: Pick<UsageStore, 'deleteBefore'>
  readonly clock: Clock
  readonly log: Log
  /** At least this many days are kept; the day in which they begin is kept whole. */
  readonly retentionDays: number
  /** @default Node's own timer, which keeps no process alive */
  readonly startTimer?: StartTimer
  /** @default 100 */
  readonly maxSliceRows?: number
}

const INTERVAL_MS = 3_600_000

/** Requests wait while a slice is removed: 1 ms when its rows share their buckets, 20 ms when none does. */
const MAX_SLICE_ROWS = 100

export class UsagePruner {
  readonly #options: UsagePrunerOptions
  readonly #timer: Timer
  /** Null while nothing is being removed. */
  #pruning: Promise<void> | null = null
  #isClosed = false

  /** Starts at once. */
  constructor(options: UsagePrunerOptions) {
    this.#options = options
    this.#timer = (options.startTimer ?? startSystemTimer)(() => this.#start(), INTERVAL_MS)
    void this.#start()
  }

  /** Stops between two slices and waits until then. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer.stop()
    await this.#pruning
  }

  #start(): Promise<void> {
    this.#pruning ??= this.#prune().finally(() => {
      this.#pruning = null
    })
    return this.#pruning
  }

  /** Never rejects: what could not be removed now is tried again in an hour. */
  async #prune(): Promise<void> {
    const { store, log } = this.#options
    const maxRows = this.#options.maxSliceRows ?? MAX_SLICE_ROWS
    const keptFrom = this.#keptFromUnixSeconds()
    try {
      for (let count = maxRows; count === maxRows && !this.#isClosed; await nextTurn()) {
        count = await store.deleteBefore(keptFrom, maxRows)
      }
    } catch (error) {
      log.error({ err: error }, 'old usage could not be removed')
    }
  }

  #keptFromUnixSeconds(): number {
    const { clock, retentionDays } = this.#options
    const now = clock.unixSeconds()
    const day = Math.floor(now / SECONDS_PER_DAY) - retentionDays
    return Math.min(day * SECONDS_PER_DAY, startOfMonth(now))
  }
}

/** Of UTC. */
function startOfMonth(unixSeconds: number): number {
  const date = new Date(unixSeconds * 1000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1) / 1000
}

const startSystemTimer: StartTimer = (onTime, intervalMs) => {
  const interval = setInterval(() => void onTime(), intervalMs).unref()
  return { stop: () => clearInterval(interval) }
}
