/**
 * The waiting sequences of one account and the tokens it has been charged with: the request's `priority` decides, then
 * arrival; what has waited for 30 s goes before the account's own newer requests, whatever their priority. Owned by a
 * tier queue.
 */
import type { Sequence } from '../sequence.ts'

/** Bounds how long an account's own requests of a higher priority can overtake one of its others. */
const AGEING_MS = 30_000

/** Sequences of one priority, in the order of their arrival. */
interface Line {
  readonly priority: number
  sequences: Set<Sequence>
}

export class AccountQueue {
  readonly accountId: string
  /** Virtual time of its next start: the tokens it has been charged with, relative to the other accounts of its tier. */
  virtualTime = 0
  /** Breaks ties: the account that got this virtual time first. */
  turn = 0
  /** Sequences that have been started and not settled. */
  unsettled = 0
  size = 0
  /** The highest priority first. Most accounts use one. */
  #lines: Line[] = []

  constructor(accountId: string) {
    this.accountId = accountId
  }

  *[Symbol.iterator](): Iterator<Sequence> {
    for (const { sequences } of this.#lines) yield* sequences
  }

  add(sequence: Sequence, priority: number): void {
    let line = this.#lines.find((other) => other.priority === priority)
    if (line === undefined) {
      line = { priority, sequences: new Set() }
      this.#lines.push(line)
      this.#lines.sort((a, b) => b.priority - a.priority)
    }
    line.sequences.add(sequence)
    // One that has lost its slot came before those that wait.
    if (sequence.preemptions > 0) line.sequences = new Set([...line.sequences].sort(byArrival))
    this.size++
  }

  /** False when it does not wait here. */
  remove(sequence: Sequence, priority: number): boolean {
    const line = this.#lines.find((other) => other.priority === priority)
    if (line === undefined || !line.sequences.delete(sequence)) return false
    this.size--
    if (line.sequences.size === 0) this.#lines = this.#lines.filter((other) => other !== line)
    return true
  }

  /** The account's next sequence, without those in `except`. */
  peek(nowMs: number, except: ReadonlySet<Sequence>): Sequence | null {
    let next: Sequence | null = null
    let oldest: Sequence | null = null
    for (const { sequences } of this.#lines) {
      const head = firstOf(sequences, except)
      if (head === null) continue
      next ??= head
      if (oldest === null || head.arrivalOrder < oldest.arrivalOrder) oldest = head
    }
    return oldest !== null && nowMs - oldest.arrivalMs >= AGEING_MS ? oldest : next
  }
}

function byArrival(a: Sequence, b: Sequence): number {
  return a.arrivalOrder - b.arrivalOrder
}

function firstOf(sequences: ReadonlySet<Sequence>, except: ReadonlySet<Sequence>): Sequence | null {
  for (const sequence of sequences) if (!except.has(sequence)) return sequence
  return null
}
