/**
 * `--port-knock`: who may reach the server. An address that connects to every knock port in order, the last within the
 * window that the first began, is open for a while; any other knock sets it back. This file keeps the books; who is
 * asked for its address, and what happens to a connection, is the listeners' work.
 *
 *   unknown ──first port──▶ knocking ──next port──▶ … ──last port──▶ open ──time──▶ unknown
 *                              └──any other port, or too late──▶ unknown; if that was the first port, knocking
 *
 * Memory is bounded. Of those who knock the one that has been silent longest makes room, but nothing that anybody does
 * takes the place of one who is open.
 */
import type { Clock } from '../../core/clock.ts'
import { InvariantError } from '../../core/errors.ts'

export interface PortKnockOptions {
  /** In their order; each one once. */
  readonly ports: readonly number[]
  readonly windowMs: number
  readonly openMs: number
  readonly clock: Clock
}

/** `full` is a right sequence for which there is no place. */
export type KnockOutcome = 'knocking' | 'opened' | 'full'

interface Attempt {
  /** Knocks that were right. */
  knocks: number
  readonly startedMs: number
}

export const MAX_KNOCKING = 10_000
export const MAX_OPEN = 100_000

export class PortKnock {
  readonly #ports: readonly number[]
  readonly #windowMs: number
  readonly #openMs: number
  readonly #clock: Clock
  /** Those who knocked last are at the end. */
  readonly #knocking = new Map<string, Attempt>()
  /** Until when, the first to end at the front. */
  readonly #openUntilMs = new Map<string, number>()

  constructor({ ports, windowMs, openMs, clock }: PortKnockOptions) {
    this.#ports = ports
    this.#windowMs = windowMs
    this.#openMs = openMs
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

  /** Records a connection to one of the ports. */
  knock(addressKey: string, port: number): KnockOutcome {
    const nowMs = this.#clock.nowMs()
    const attempt = this.#nextAttempt(addressKey, { port, nowMs })
    this.#knocking.delete(addressKey)
    if (attempt === null) return 'knocking'
    if (attempt.knocks === this.#ports.length) return this.#open(addressKey, nowMs)
    this.#knocking.set(addressKey, attempt)
    if (this.#knocking.size > MAX_KNOCKING) dropFirst(this.#knocking)
    return 'knocking'
  }

  /** @throws InvariantError when the books are wrong. */
  checkIntegrity(): void {
    if (this.#knocking.size > MAX_KNOCKING || this.#openUntilMs.size > MAX_OPEN) {
      throw new InvariantError('no more addresses are remembered than there is room for')
    }
    for (const { knocks } of this.#knocking.values()) {
      if (knocks < 1 || knocks >= this.#ports.length) throw new InvariantError('an attempt is under way')
    }
    const ends = [...this.#openUntilMs.values()]
    if (ends.some((end, index) => end < (ends[index - 1] ?? 0))) {
      throw new InvariantError('openings are in the order in which they end')
    }
  }

  /** What an address has come to with this knock; null when it has to begin anew. */
  #nextAttempt(addressKey: string, { port, nowMs }: { port: number; nowMs: number }): Attempt | null {
    const attempt = this.#knocking.get(addressKey)
    if (attempt !== undefined && nowMs - attempt.startedMs <= this.#windowMs) {
      if (port === this.#ports[attempt.knocks]) return { ...attempt, knocks: attempt.knocks + 1 }
    }
    return port === this.#ports[0] ? { knocks: 1, startedMs: nowMs } : null
  }

  #open(addressKey: string, nowMs: number): KnockOutcome {
    // Behind all others again: its end is now the last.
    this.#openUntilMs.delete(addressKey)
    for (const [key, untilMs] of this.#openUntilMs) {
      if (nowMs < untilMs) break
      this.#openUntilMs.delete(key)
    }
    if (this.#openUntilMs.size >= MAX_OPEN) return 'full'
    this.#openUntilMs.set(addressKey, nowMs + this.#openMs)
    return 'opened'
  }
}

function dropFirst(map: Map<string, unknown>): void {
  const [first] = map.keys()
  if (first !== undefined) map.delete(first)
}
