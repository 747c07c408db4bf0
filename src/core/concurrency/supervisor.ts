/**
 * Keeps a process or a thread running: restarts it at once when it exits, then after pauses that grow. Reports when
 * starting fails repeatedly; the owner refuses work meanwhile.
 *
 *   running ──restart()──▶ starting ──`start` resolves──▶ running
 *      │                       └── MAX_FAILED_STARTS in a row: unavailable; the tries go on
 *      └── MAX_DEATHS within a minute, or one within a minute of a long pause: suspended, unavailable; a try after
 *          each long pause, which doubles until it has lived for a minute
 *   any ──close()──▶ closed
 */
import type { SleepingClock } from '../clock.ts'

const FIRST_PAUSE_MS = 100
const MAX_PAUSE_MS = 10_000
/** `Retry-After` of refused work: another try has begun by then. */
export const RETRY_AFTER_SECONDS = MAX_PAUSE_MS / 1000
const MAX_FAILED_STARTS = 3
const MAX_DEATHS = 3
const DEATHS_WITHIN_MS = 60_000
/** Between tries while it is suspended: each one that dies fails the requests it had. */
const FIRST_LONG_PAUSE_MS = 10_000
const MAX_LONG_PAUSE_MS = 300_000

export interface SupervisorOptions {
  /** Starts it; the signal aborts when the supervisor closes. Rejects when it could not be started. */
  readonly start: (signal: AbortSignal) => Promise<void>
  readonly onFailedStart: (error: unknown) => void
  readonly clock: SleepingClock
  /** It died too often; the next try comes after `pauseMs`. @default however often it dies, it is started again at once */
  readonly onSuspended?: (how: string, pauseMs: number) => void
}

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #closing = new AbortController()
  #failedStarts = 0
  /** When it has died, those of the last minute. */
  #deathsMs: readonly number[] = []
  #isSuspended = false
  /** Long pauses since it last lived for a minute. */
  #longPauses = 0
  /** When it came back from a long pause. */
  #revivedMs: number | null = null
  #nextTryMs = 0
  #starting: Promise<void> = Promise.resolve()

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Whether work should be refused rather than kept for the next start. */
  get isUnavailable(): boolean {
    return this.#isSuspended || this.#failedStarts >= MAX_FAILED_STARTS
  }

  /** Until the next try; 0 while it is being started. Null where it is not suspended. */
  get suspendedSeconds(): number | null {
    if (!this.#isSuspended) return null
    return Math.max(0, Math.ceil((this.#nextTryMs - this.#options.clock.nowMs()) / 1000))
  }

  /** For refused work. */
  get retryAfterSeconds(): number {
    return Math.max(1, this.suspendedSeconds ?? RETRY_AFTER_SECONDS)
  }

  /** Starts it for the first time, until it runs. */
  begin(): void {
    this.#starting = this.#startUntilRunning()
  }

  /** It has died: starts it again, until it runs. */
  restart(): void {
    if (this.#closing.signal.aborted) return
    this.#recordDeath()
    this.begin()
  }

  /** Ends the tries; resolves when the last one has ended. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#starting
  }

  async #startUntilRunning(): Promise<void> {
    const { signal } = this.#closing
    for (;;) {
      try {
        // Without a pause the first try is made before this returns.
        if (this.#isSuspended || this.#failedStarts > 0) await this.#pause(signal)
        await this.#options.start(signal)
        break
      } catch (error) {
        if (signal.aborted) return
        this.#failedStarts++
        this.#options.onFailedStart(error)
      }
    }
    if (this.#isSuspended) this.#revivedMs = this.#options.clock.nowMs()
    this.#isSuspended = false
    this.#failedStarts = 0
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock } = this.#options
    const pauseMs = this.#isSuspended
      ? longPauseMs(this.#longPauses++)
      : Math.min(FIRST_PAUSE_MS * 2 ** (this.#failedStarts - 1), MAX_PAUSE_MS)
    this.#nextTryMs = clock.nowMs() + pauseMs
    await clock.sleep(pauseMs, signal)
  }

  #recordDeath(): void {
    const { clock, onSuspended } = this.#options
    if (onSuspended === undefined) return
    const nowMs = clock.nowMs()
    this.#deathsMs = [...this.#deathsMs.filter((atMs) => nowMs - atMs < DEATHS_WITHIN_MS), nowMs]
    const wasJustRevived = this.#revivedMs !== null && nowMs - this.#revivedMs < DEATHS_WITHIN_MS
    if (!wasJustRevived) this.#longPauses = 0
    if (this.#deathsMs.length < MAX_DEATHS && !wasJustRevived) return
    this.#isSuspended = true
    const how = wasJustRevived ? 'again after a pause' : `${MAX_DEATHS} times within a minute`
    const pauseMs = longPauseMs(this.#longPauses)
    this.#nextTryMs = nowMs + pauseMs
    onSuspended(how, pauseMs)
  }
}

function longPauseMs(pauses: number): number {
  return Math.min(FIRST_LONG_PAUSE_MS * 2 ** pauses, MAX_LONG_PAUSE_MS)
}
