/**
 * Room in a KV cache that all slots share: which sequence may start, what is cut for it, and who loses its slot when those
 * that run need more than there is. Where each slot has room of its own there is always room. Owned by the running batch.
 *
 * A sequence starts when all it has to compute finds room beside what those that run have to compute still, and a little
 * to grow for each, so that nothing is preempted at once. The one preempted is the latest of the lowest tier, so the
 * oldest of the highest never is: it ends, and each of the others becomes the oldest some day.
 * Invariant: what runs finds room for what it computes in a step.
 */
import { InvariantError } from '../../core/errors.ts'
import type { SlotCut } from '../../protocol/model-runner.ts'
import type { Sequence } from '../sequence.ts'
import type { SlotChoice, SlotTable } from './slot-table.ts'

/** Tokens that each sequence finds room for when another one starts. */
const GROWTH_TOKENS = 32

export interface SharedRoomOptions {
  readonly slots: SlotTable
  /** Tokens of the cache; null where each slot has its own. */
  readonly sharedTokens: number | null
  /** Whether the tiers of sequences count. */
  readonly hasTiers: boolean
}

/** A start that finds room once these cuts are made. */
export interface FittingStart {
  readonly choice: SlotChoice
  readonly cuts: readonly SlotCut[]
}

export class SharedRoom {
  readonly #options: SharedRoomOptions

  constructor(options: SharedRoomOptions) {
    this.#options = options
  }

  /** Makes room for what runs to go on. @param preempt takes the slot of a sequence and removes it from `running` */
  grow(running: () => readonly Sequence[], preempt: (sequence: Sequence) => void): SlotCut[] {
    const { slots } = this.#options
    const cuts: SlotCut[] = []
    while (slots.freeTokens < countMissing(running())) {
      const cut = slots.cutIdle()
      if (cut === null) preempt(this.#victim(running()))
      else cuts.push(cut)
    }
    return cuts
  }

  /** Null where a sequence must wait for others to end. */
  admit(sequence: Sequence, choice: SlotChoice, running: readonly Sequence[]): FittingStart | null {
    const { slots, sharedTokens } = this.#options
    if (sharedTokens === null) return { choice, cuts: [] }
    const { length } = sequence.prefillTokenIds
    const others = running.length === 0 ? 0 : countMissing(running) + countGrowth([...running, sequence])
    const options = [choice, slots.withoutCache(choice)]
    const fitting = options.find((option) => slots.leastCells(option, length) + others <= sharedTokens)
    if (fitting === undefined) return null
    const cuts: SlotCut[] = []
    while (slots.freeTokens < slots.cellsToStart(fitting, length) + others) {
      const cut = slots.cutIdle(fitting)
      if (cut === null) throw new InvariantError('a start that fits finds no room')
      cuts.push(cut)
    }
    return { choice: fitting, cuts }
  }

  /** Tokens that may be guessed beside what runs. */
  draftTokens(running: readonly Sequence[]): number {
    return this.#options.slots.freeTokens - countMissing(running)
  }

  #victim(running: readonly Sequence[]): Sequence {
    const { hasTiers } = this.#options
    const isBefore = (a: Sequence, b: Sequence): boolean => {
      const tiers = hasTiers ? a.place.priorityClass - b.place.priorityClass : 0
      return tiers === 0 ? a.arrivalOrder > b.arrivalOrder : tiers < 0
    }
    const [first, ...others] = running
    if (first === undefined || others.length === 0)
      throw new InvariantError('a sequence that runs alone finds no room')
    return others.reduce((victim, other) => (isBefore(other, victim) ? other : victim), first)
  }
}

function countMissing(sequences: readonly Sequence[]): number {
  return sequences.reduce((sum, { missingTokens }) => sum + missingTokens, 0)
}

function countGrowth(sequences: readonly Sequence[]): number {
  return sequences.reduce(
    (sum, { maxNewTokens, newTokens }) => sum + Math.min(GROWTH_TOKENS, maxNewTokens - newTokens),
    0,
  )
}
