/**
 * The waiting queue and its three policies: `fcfs` by arrival; `priority` by tier class, then priority, then
 * arrival; `fair` accounts round robin. A policy is a pure choice: given the waiting sequences, which one gets
 * the next slot. Queues are short (`--max-queue`, 512), so a choice is one scan.
 */
import type { SchedulePolicy } from '../core/schedule-policy.ts'
import type { Sequence } from './sequence.ts'

/** Waiting this long raises a sequence by one class, so that none starves. */
const AGEING_MS = 5000
const NONE: ReadonlySet<Sequence> = new Set()

export class WaitingQueue {
  readonly #policy: SchedulePolicy
  #sequences: Sequence[] = []
  /** Accounts in the order they were last served, the longest ago first; only accounts that wait. */
  #turns: string[] = []

  constructor(policy: SchedulePolicy) {
    this.#policy = policy
  }

  get size(): number {
    return this.#sequences.length
  }

  [Symbol.iterator](): Iterator<Sequence> {
    return this.#sequences[Symbol.iterator]()
  }

  add(sequence: Sequence): void {
    this.#sequences.push(sequence)
    if (!this.#turns.includes(sequence.place.accountId)) this.#turns.push(sequence.place.accountId)
  }

  remove(sequence: Sequence): void {
    this.#sequences = this.#sequences.filter((other) => other !== sequence)
    this.#forgetIfGone(sequence.place.accountId)
  }

  /** The next sequence by the policy, without those in `except`; it stays in the queue. */
  peek(nowMs: number, except: ReadonlySet<Sequence> = NONE): Sequence | null {
    const ready = except.size === 0 ? this.#sequences : this.#sequences.filter((one) => !except.has(one))
    switch (this.#policy) {
      case 'fcfs':
        return first(ready, byArrival)
      case 'priority':
        return first(ready, (a, b) => byPriority(a, b, nowMs))
      case 'fair': {
        const account = this.#turns.find((turn) => ready.some(({ place }) => place.accountId === turn))
        return first(
          ready.filter(({ place }) => place.accountId === account),
          byArrival,
        )
      }
    }
  }

  /** Removes a sequence that starts, and moves its account to the end. */
  take(sequence: Sequence): void {
    const { accountId } = sequence.place
    this.#sequences.splice(this.#sequences.indexOf(sequence), 1)
    this.#turns = this.#turns.filter((account) => account !== accountId)
    this.#turns.push(accountId)
    this.#forgetIfGone(accountId)
  }

  #forgetIfGone(accountId: string): void {
    if (this.#sequences.some(({ place }) => place.accountId === accountId)) return
    this.#turns = this.#turns.filter((account) => account !== accountId)
  }
}

type Order = (a: Sequence, b: Sequence) => number

const byArrival: Order = (a, b) => a.arrivalOrder - b.arrivalOrder

function byPriority(a: Sequence, b: Sequence, nowMs: number): number {
  return agedClass(b, nowMs) - agedClass(a, nowMs) || b.place.priority - a.place.priority || byArrival(a, b)
}

function agedClass(sequence: Sequence, nowMs: number): number {
  return sequence.place.priorityClass + Math.floor((nowMs - sequence.arrivalMs) / AGEING_MS)
}

function first(sequences: readonly Sequence[], order: Order): Sequence | null {
  let best: Sequence | null = null
  for (const sequence of sequences) if (best === null || order(sequence, best) < 0) best = sequence
  return best
}
