/**
 * The waiting sequences and the policy that chooses the next one: `fcfs` by arrival, `fair` accounts in turn, `priority`
 * tiers by their weights, then accounts by the tokens they are charged with, then the request's priority, then arrival.
 * A start charges the tokens that the sequence may use at most, its end credits those it did not use. A choice looks at
 * each tier and at one account in it, never at all that waits. Pure; owned by the running batch and the beam groups.
 */
import type { SchedulePolicy } from '../../core/choices/schedule-policy.ts'
import type { Sequence } from '../sequence.ts'
import { TierQueue } from './tier-queue.ts'

/** What a priority class gets of the tokens, relative to the class below it: enterprise, pro and free as 16 : 4 : 1. */
const WEIGHT_RATIO = 4
/** Where two tiers were charged alike for their weights, the higher one is given so many tokens before the lower one. */
const LOOKAHEAD_TOKENS = 256
const NONE: ReadonlySet<Sequence> = new Set()

/** The weight of a tier among those that wait. */
export function tierWeight(priorityClass: number): number {
  return WEIGHT_RATIO ** priorityClass
}

export interface WaitingQueueOptions {
  readonly policy: SchedulePolicy
  /** Tokens a sequence may reach, prompt included; null is no limit. */
  readonly maxSeqLen: number | null
}

export interface PeekOptions {
  readonly nowMs: number
  /** Sequences that are passed over. */
  readonly except?: ReadonlySet<Sequence>
  /** Whether a sequence of this class may start though no higher tier waits; asked by the policy `priority` alone. */
  readonly mayStart?: (priorityClass: number) => boolean
  /** Passes over this class and those below it, under the policy `priority`. */
  readonly above?: number | null
  /** Only what may start before this one, for which there is no room: of higher tiers and other accounts, under `priority`. */
  readonly before?: Sequence | null
}

type PassOptions = Required<Pick<PeekOptions, 'nowMs' | 'except' | 'mayStart'>>

interface Charge {
  readonly tier: TierQueue
  readonly tokens: number
}

export class WaitingQueue {
  readonly #options: WaitingQueueOptions
  /** The highest class first. The other policies have one. */
  #tiers: TierQueue[] = []
  #lastStart = 0
  /** What each started sequence was charged. */
  readonly #charges = new Map<Sequence, Charge>()
  #size = 0

  constructor(options: WaitingQueueOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#size
  }

  *[Symbol.iterator](): Iterator<Sequence> {
    for (const tier of this.#tiers) yield* tier
  }

  add(sequence: Sequence): void {
    const tier = this.#tierOf(sequence)
    if (tier.size === 0) tier.virtualTime = Math.max(tier.virtualTime, this.#level())
    tier.add(sequence, this.#keyOf(sequence))
    this.#size++
  }

  /** Removes a sequence that has not started. */
  remove(sequence: Sequence): void {
    const tier = this.#tierOf(sequence)
    const before = tier.size
    tier.remove(sequence, this.#keyOf(sequence))
    this.#size -= before - tier.size
  }

  /** The next sequence by the policy; it stays in the queue. */
  peek({ nowMs, except = NONE, mayStart, above = null, before = null }: PeekOptions): Sequence | null {
    const hasTiers = this.#options.policy === 'priority'
    if (before !== null) {
      return hasTiers ? this.#peekBefore(before, { nowMs, except, mayStart: mayStart ?? (() => true) }) : null
    }
    let best: { readonly sequence: Sequence; readonly finish: number } | null = null
    for (const tier of this.#tiers) {
      if (tier.size === 0) continue
      if (hasTiers && above !== null && tier.priorityClass <= above) break
      // Where a higher tier waits too, the weights decide: nothing needs to be kept for it.
      if (hasTiers && best === null && mayStart?.(tier.priorityClass) === false) continue
      const sequence = tier.peek(nowMs, except)
      if (sequence === null) continue
      const finish = tier.virtualTime + LOOKAHEAD_TOKENS / tier.weight
      if (best === null || finish < best.finish) best = { sequence, finish }
    }
    return best?.sequence ?? null
  }

  /**
   * Of the tiers above that have been given less, for their weights, than its own tier will have been with it, and of the accounts of
   * its own tier by the same rule: so they cannot pass it for ever.
   */
  #peekBefore(sequence: Sequence, { nowMs, except, mayStart }: PassOptions): Sequence | null {
    const own = this.#tierOf(sequence)
    const tokens = this.#tokensOf(sequence)
    const turn = own.virtualTime + tokens / own.weight
    for (const tier of this.#tiers) {
      if (tier.priorityClass < own.priorityClass) return null
      if (tier.size === 0 || !mayStart(tier.priorityClass)) continue
      if (tier === own) return tier.peekBefore(this.#keyOf(sequence).accountId, tokens, { nowMs, except })
      const next = tier.virtualTime < turn ? tier.peek(nowMs, except) : null
      if (next !== null) return next
    }
    return null
  }

  /** Removes a sequence that starts, and charges its account and its tier. */
  take(sequence: Sequence): void {
    const tier = this.#tierOf(sequence)
    const tokens = this.#tokensOf(sequence)
    tier.start(sequence, this.#keyOf(sequence), tokens)
    this.#size--
    this.#lastStart = tier.virtualTime
    tier.virtualTime += tokens / tier.weight
    this.#charges.set(sequence, { tier, tokens })
  }

  /** A sequence that was taken has ended, or has lost its slot. */
  settle(sequence: Sequence, usedTokens: number): void {
    const charge = this.#charges.get(sequence)
    if (charge === undefined) return
    this.#charges.delete(sequence)
    const { tier, tokens } = charge
    const unused = this.#options.policy === 'priority' ? tokens - usedTokens : 0
    tier.virtualTime -= unused / tier.weight
    tier.settle(this.#keyOf(sequence), unused)
  }

  /** Where a tier begins that had nothing waiting: an idle tier collects no credit. */
  #level(): number {
    const waiting = this.#tiers.filter(({ size }) => size > 0).map(({ virtualTime }) => virtualTime)
    return Math.min(this.#lastStart, ...waiting)
  }

  #tierOf({ place }: Sequence): TierQueue {
    const priorityClass = this.#options.policy === 'priority' ? place.priorityClass : 0
    const found = this.#tiers.find((tier) => tier.priorityClass === priorityClass)
    if (found !== undefined) return found
    const tier = new TierQueue({ priorityClass, weight: tierWeight(priorityClass) })
    this.#tiers.push(tier)
    this.#tiers.sort((a, b) => b.priorityClass - a.priorityClass)
    return tier
  }

  #keyOf({ place: { accountId, priority } }: Sequence): { accountId: string; priority: number } {
    switch (this.#options.policy) {
      case 'fcfs':
        return { accountId: '', priority: 0 }
      case 'fair':
        return { accountId, priority: 0 }
      case 'priority':
        return { accountId, priority }
    }
  }

  /**
   * What a start is charged: the tokens that it may use at most; one turn where accounts are served in turn. One that was
   * preempted has been charged what it used until then.
   */
  #tokensOf({ promptTokens, maxNewTokens, numBeams, preemptions, settledTokens }: Sequence): number {
    if (this.#options.policy !== 'priority') return preemptions === 0 ? 1 : 0
    const { maxSeqLen } = this.#options
    const newTokens = maxSeqLen === null ? maxNewTokens : Math.min(maxNewTokens, maxSeqLen - promptTokens)
    return promptTokens + numBeams * newTokens - settledTokens
  }
}
