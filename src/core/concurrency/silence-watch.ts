/**
 * Detects that no message has come for too long. Time is counted in rounds of a timer, so that a machine that slept,
 * or a process that stood still, is not taken for the other side's silence: a round that comes late begins anew.
 */
import type { Clock } from '../clock.ts'

const ROUNDS = 4

export interface SilenceWatchOptions {
  readonly silenceMs: number
  readonly clock: Clock
  /** Called once; the watch has stopped then. */
  readonly onSilence: () => void
}

export class SilenceWatch {
  readonly #options: SilenceWatchOptions
  readonly #roundMs: number
  #timer: NodeJS.Timeout | null = null
  #startMs = 0
  #silentRounds = 0

  constructor(options: SilenceWatchOptions) {
    this.#options = options
    this.#roundMs = options.silenceMs / ROUNDS
  }

  /** No effect while it runs. */
  start(): void {
    if (this.#timer !== null) return
    this.#silentRounds = 0
    this.#startMs = this.#options.clock.nowMs()
    this.#timer = setTimeout(() => this.#endRound(), this.#roundMs)
  }

  /** A message has come: the time counts from now. */
  restart(): void {
    this.#silentRounds = 0
    this.#nextRound()
  }

  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #endRound(): void {
    const isLate = this.#options.clock.nowMs() - this.#startMs >= 2 * this.#roundMs
    this.#silentRounds = isLate ? 0 : this.#silentRounds + 1
    if (this.#silentRounds < ROUNDS) return this.#nextRound()
    this.stop()
    this.#options.onSilence()
  }

  #nextRound(): void {
    this.#startMs = this.#options.clock.nowMs()
    this.#timer?.refresh()
  }
}
