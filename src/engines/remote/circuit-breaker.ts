/**
 * Keeps requests off an endpoint that fails: open after some failures in a row, for a pause that grows; then half open, for one
 * request, whose outcome closes or opens it again. A probe that is answered shows only that the endpoint is there, so it ends what
 * probes and connections had found, and not what requests had. Pure bookkeeping, owned by an endpoint.
 *
 *   closed ──FAILURES_TO_OPEN in a row──▶ open ──pause over, `pass`──▶ half open ──success──▶ closed
 *                                          ▲                              └──failure──┘ (a pause twice as long)
 */
import type { Clock } from '../../core/clock.ts'

const FAILURES_TO_OPEN = 3
const FIRST_PAUSE_MS = 1000
const MAX_PAUSE_MS = 30_000

export class CircuitBreaker {
  readonly #clock: Clock
  #failures = 0
  #pauseMs = FIRST_PAUSE_MS
  /** Null while it is closed. */
  #retryAtMs: number | null = null
  #isTrying = false
  /** Whether the endpoint was away at each of the failures. */
  #isAbsence = true

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get isClosed(): boolean {
    return this.#retryAtMs === null
  }

  /** Whether a request could pass now. */
  get mayPass(): boolean {
    return this.#retryAtMs === null || (!this.#isTrying && this.#clock.nowMs() >= this.#retryAtMs)
  }

  /** Takes the one try of a breaker that is half open; its outcome must be recorded. */
  pass(): void {
    if (this.#retryAtMs !== null) this.#isTrying = true
  }

  recordSuccess(): void {
    this.#failures = 0
    this.#retryAtMs = null
    this.#isTrying = false
    this.#isAbsence = true
    this.#pauseMs = FIRST_PAUSE_MS
  }

  /** A probe was answered. @param isBack whether the one before was not: the pause is over then */
  recordPresence({ isBack }: { readonly isBack: boolean }): void {
    if (this.#isAbsence) this.recordSuccess()
    else if (isBack && this.#retryAtMs !== null) this.#retryAtMs = this.#clock.nowMs()
  }

  /** @param isAway whether there was no connection, or it was a probe's; otherwise a request had been sent */
  recordFailure({ isAway }: { readonly isAway: boolean }): void {
    this.#failures++
    this.#isAbsence &&= isAway
    this.#isTrying = false
    if (this.#retryAtMs === null && this.#failures < FAILURES_TO_OPEN) return
    if (this.#retryAtMs !== null) this.#pauseMs = Math.min(2 * this.#pauseMs, MAX_PAUSE_MS)
    this.#retryAtMs = this.#clock.nowMs() + this.#pauseMs
  }

  /** The try was ended by its caller, which says nothing about the endpoint. */
  cancel(): void {
    this.#isTrying = false
  }
}
