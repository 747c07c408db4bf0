/** Time as a dependency, so that tests control it. */
import { withAbort } from './concurrency/abort.ts'

/** Durations come from `nowMs` (monotonic), dates from `unixSeconds` (wall clock). */
export interface Clock {
  /** Milliseconds from an arbitrary start; never goes backwards. */
  nowMs(): number
  /** Wall-clock time as Unix seconds with fractions. */
  unixSeconds(): number
}

/** A clock with timers. */
export interface SleepingClock extends Clock {
  /** Resolves after this many milliseconds, or after 24 days where they are more. @throws the signal's AbortError when it aborts first. */
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** Node makes a longer timer one of a millisecond. */
const LONGEST_TIMER_MS = 2 ** 31 - 1

export const systemClock: SleepingClock = {
  nowMs: () => performance.now(),
  unixSeconds: () => Date.now() / 1000,
  // Without `node:timers/promises`, which would slow down the import of `sluice/light`.
  sleep: (ms, signal) => {
    let timer: NodeJS.Timeout | undefined
    const woken = new Promise<void>((wake) => {
      timer = setTimeout(wake, Math.min(ms, LONGEST_TIMER_MS))
    })
    return withAbort(woken, signal).finally(() => clearTimeout(timer))
  },
}

/** A clock that moves only when it is advanced. */
export class VirtualClock implements SleepingClock {
  #nowMs = 0
  readonly #sleepers = new Set<{ readonly dueMs: number; readonly wake: () => void }>()
  readonly #startUnixSeconds: number

  constructor(startUnixSeconds = 1_700_000_000) {
    this.#startUnixSeconds = startUnixSeconds
  }

  nowMs(): number {
    return this.#nowMs
  }

  unixSeconds(): number {
    return this.#startUnixSeconds + this.#nowMs / 1000
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    const woken = new Promise<void>((wake) => {
      this.#sleepers.add({ dueMs: this.#nowMs + ms, wake })
    })
    return withAbort(woken, signal)
  }

  advance(ms: number): void {
    this.#nowMs += ms
    for (const sleeper of this.#sleepers) {
      if (sleeper.dueMs > this.#nowMs) continue
      this.#sleepers.delete(sleeper)
      sleeper.wake()
    }
  }
}
