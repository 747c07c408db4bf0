/**
 * Knocks of `--port-knock`. An address that connects to every knock port in order, the last within the window that the first
 * began, is open for a while; any other knock sets it back. The listeners determine the address and close the
 * connections that it may not open.
 *
 *   unknown ──first port──▶ knocking ──next port──▶ … ──last port──▶ open ──time──▶ unknown
 *                              └──any other port, or too late──▶ unknown; if that was the first port, knocking
 *
 * Memory is bounded. Of the knocking addresses the one that has been silent longest is forgotten first, but no knock
 * makes an open address be forgotten.
 */
import type { Clock } from '../../core/clock.ts'
import { InvariantError } from '../../core/errors.ts'
import type { KnockOutcome, Knocks } from '../../core/shared-state.ts'
import { dropOldest } from './bans.ts'

export interface KnockSequence {
  /** In their order; each one once. */
  readonly ports: readonly number[]
  readonly windowMs: number
  readonly openMs: number
}

/** Without `--port-knock` no port is a knock port, and nothing opens. */
export const NO_SEQUENCE: KnockSequence = { ports: [], windowMs: 0, openMs: 0 }

interface Attempt {
  /** Right knocks so far. */
  knocks: number
  readonly startedMs: number
}

export const MAX_KNOCKING = 10_000
export const MAX_OPEN = 100_000

export class MemoryKnocks implements Knocks {
  readonly #sequence: KnockSequence
  readonly #clock: Clock
  /** In order of the latest knock. */
  readonly #knocking = new Map<string, Attempt>()
  /** When each address closes, in ascending order. */
  readonly #openUntilMs = new Map<string, number>()

  constructor(sequence: KnockSequence, clock: Clock) {
    this.#sequence = sequence
    this.#clock = clock
  }

  /** Addresses that are remembered. */
  get idCount(): number {
    return this.#knocking.size + this.#openUntilMs.size
  }

  isOpen(addressKey: string): boolean {
    const untilMs = this.#openUntilMs.get(addressKey)
    return untilMs !== undefined && this.#clock.nowMs() < untilMs
  }

  knock(addressKey: string, port: number): KnockOutcome {
    const nowMs = this.#clock.nowMs()
    const attempt = this.#nextAttempt(addressKey, { port, nowMs })
    this.#knocking.delete(addressKey)
    if (attempt === null) return 'knocking'
    if (attempt.knocks === this.#sequence.ports.length) return this.#open(addressKey, nowMs)
    this.#knocking.set(addressKey, attempt)
    dropOldest(this.#knocking, MAX_KNOCKING)
    return 'knocking'
  }

  /** @throws InvariantError when a bound, an attempt or the order of openings is wrong. */
  checkIntegrity(): void {
    if (this.#knocking.size > MAX_KNOCKING || this.#openUntilMs.size > MAX_OPEN) {
      throw new InvariantError('the remembered addresses are bounded')
    }
    for (const { knocks } of this.#knocking.values()) {
      if (knocks < 1 || knocks >= this.#sequence.ports.length)
        throw new InvariantError('an attempt is under way')
    }
    const ends = [...this.#openUntilMs.values()]
    if (ends.some((end, index) => end < (ends[index - 1] ?? 0))) {
      throw new InvariantError('openings are in the order in which they end')
    }
  }

  /** The address's attempt with this knock; null when it must start again. */
  #nextAttempt(addressKey: string, { port, nowMs }: { port: number; nowMs: number }): Attempt | null {
    const attempt = this.#knocking.get(addressKey)
    if (attempt !== undefined && nowMs - attempt.startedMs <= this.#sequence.windowMs) {
      if (port === this.#sequence.ports[attempt.knocks]) return { ...attempt, knocks: attempt.knocks + 1 }
    }
    return port === this.#sequence.ports[0] ? { knocks: 1, startedMs: nowMs } : null
  }

  #open(addressKey: string, nowMs: number): KnockOutcome {
    // Deleted first, so that it is inserted at the end: it closes last.
    this.#openUntilMs.delete(addressKey)
    for (const [key, untilMs] of this.#openUntilMs) {
      if (nowMs < untilMs) break
      this.#openUntilMs.delete(key)
    }
    if (this.#openUntilMs.size >= MAX_OPEN) return 'full'
    this.#openUntilMs.set(addressKey, nowMs + this.#sequence.openMs)
    return 'opened'
  }
}
