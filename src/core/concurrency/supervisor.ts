/**
 * Keeps one thing running that may end by itself, a process or a thread: starts it again at once, then with pauses that
 * grow. Reports when starting fails repeatedly; its owner refuses work meanwhile.
 *
 *   running ──restart()──▶ starting ──`start` resolves──▶ running
 *      │                       └── MAX_FAILED_STARTS in a row: unavailable; the tries go on
 *      └── MAX_DEATHS within DEATHS_WITHIN_MS: given up, unavailable; tried again after a long pause, where that is allowed
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
/** Between tries of what was given up. */
const LONG_PAUSE_MS = 300_000

export interface SupervisorOptions {
  /** Starts it; the signal aborts when the supervisor closes. Rejects when it could not be started. */
  readonly start: (signal: AbortSignal) => Promise<void>
  readonly onFailedStart: (error: unknown) => void
  readonly clock: SleepingClock
  /** @default however often it dies, it is started again */
  readonly giveUp?: GiveUpOptions
}

export interface GiveUpOptions {
  /** How it died too often; it is started again after `pauseMs` where `mayTryAgain` allows it then. */
  readonly onGivenUp: (how: string, pauseMs: number) => void
  readonly mayTryAgain: () => boolean
  /** @default 5 minutes */
  readonly longPauseMs?: number | undefined
}

export class Supervisor {
  readonly #options: SupervisorOptions
  readonly #closing = new AbortController()
  #failedStarts = 0
  /** When it has died, those of the last minute. */
  #deathsMs: readonly number[] = []
  #isGivenUp = false
  /** When it came back after it had been given up. */
  #revivedMs: number | null = null
  #starting: Promise<void> = Promise.resolve()

  constructor(options: SupervisorOptions) {
    this.#options = options
  }

  /** Whether work should be refused rather than kept for the next start. */
  get isUnavailable(): boolean {
    return this.#isGivenUp || this.#failedStarts >= MAX_FAILED_STARTS
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
        if (this.#isGivenUp || this.#failedStarts > 0) await this.#pause(signal)
        await this.#options.start(signal)
        break
      } catch (error) {
        if (signal.aborted) return
        this.#failedStarts++
        this.#options.onFailedStart(error)
      }
    }
    if (this.#isGivenUp) this.#revivedMs = this.#options.clock.nowMs()
    this.#isGivenUp = false
    this.#failedStarts = 0
  }

  async #pause(signal: AbortSignal): Promise<void> {
    const { clock, giveUp } = this.#options
    if (!this.#isGivenUp) {
      return clock.sleep(Math.min(FIRST_PAUSE_MS * 2 ** (this.#failedStarts - 1), MAX_PAUSE_MS), signal)
    }
    do await clock.sleep(giveUp?.longPauseMs ?? LONG_PAUSE_MS, signal)
    while (giveUp?.mayTryAgain() !== true)
  }

  #recordDeath(): void {
    const { clock, giveUp } = this.#options
    if (giveUp === undefined) return
    const nowMs = clock.nowMs()
    this.#deathsMs = [...this.#deathsMs.filter((atMs) => nowMs - atMs < DEATHS_WITHIN_MS), nowMs]
    // One that dies again soon after a long pause is given up at once: every death fails requests.
    const wasJustRevived = this.#revivedMs !== null && nowMs - this.#revivedMs < DEATHS_WITHIN_MS
    if (this.#deathsMs.length < MAX_DEATHS && !wasJustRevived) return
    this.#isGivenUp = true
    const how = wasJustRevived ? 'again after a pause' : `${MAX_DEATHS} times within a minute`
    giveUp.onGivenUp(how, giveUp.longPauseMs ?? LONG_PAUSE_MS)
  }
}
