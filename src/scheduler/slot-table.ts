/**
 * The slots of the engine's context and the tokens in each one's KV cache. A finished sequence's cache stays until its
 * slot is needed; a new prompt takes the free slot, or copies the slot, that already holds the most of it.
 * Pure bookkeeping: the runner does to the KV cache what the plan made from it says.
 */
import type { Sequence } from './sequence.ts'
import { TILE_TOKENS } from './slot-runs.ts'

/** Shorter common prefixes choose no slot and are not copied: a copy costs as much as computing them. */
export const MIN_SHARED_TOKENS = 64

/** Behind a prefix of this length a whole tile takes less time than `MOST_OF_A_TILE` single tokens. */
const LONG_PREFIX_TOKENS = 768
const MOST_OF_A_TILE = 48

export interface Slot {
  readonly slotId: number
  sequence: Sequence | null
  /** Tokens in the KV cache, from position 0. */
  cachedTokenIds: number[]
  lastUsedOrder: number
}

export interface SlotChoice {
  readonly slot: Slot
  /** Prompt tokens that need not be computed. */
  readonly cachedTokens: number
  /** Slot to copy them from; null when they are the slot's own. */
  readonly copyFrom: Slot | null
}

export interface SlotTableOptions {
  readonly slots: number
  /** Whether a slot's KV cache can be cut at any token; otherwise nothing is remembered of it. */
  readonly canReusePrefixes: boolean
  readonly canCopySlots: boolean
}

export class SlotTable {
  readonly slots: readonly Slot[]
  readonly #options: SlotTableOptions
  #useOrder = 0

  constructor(options: SlotTableOptions) {
    this.#options = options
    this.slots = Array.from({ length: options.slots }, (_, slotId) => ({
      slotId,
      sequence: null,
      cachedTokenIds: [],
      lastUsedOrder: 0,
    }))
  }

  get free(): number {
    return this.slots.reduce((count, slot) => count + (slot.sequence === null ? 1 : 0), 0)
  }

  /** Assigns a slot to a sequence. Keeps only the shared prefix of the slot's cache. */
  take({ slot, cachedTokens, copyFrom }: SlotChoice, sequence: Sequence): void {
    slot.cachedTokenIds = (copyFrom ?? slot).cachedTokenIds.slice(0, cachedTokens)
    slot.sequence = sequence
  }

  /** The slot's KV cache has grown by these tokens. */
  recordComputed(slot: Slot, tokenIds: ArrayLike<number>): void {
    if (!this.#options.canReusePrefixes) return
    for (let i = 0; i < tokenIds.length; i++) slot.cachedTokenIds.push(tokenIds[i] ?? 0)
  }

  /** The slot's sequence has ended; its cache stays. */
  release(slot: Slot): void {
    slot.sequence = null
    slot.lastUsedOrder = ++this.#useOrder
  }

  /** The best slot for a sequence; null when no slot is free. */
  choose(sequence: Sequence): SlotChoice | null {
    // A seeded sequence is repeatable only in the same slot, so cached prefixes must not choose it.
    if (sequence.needsFixedChunks) return this.#lowestFree()
    const spare = this.#spareSlot()
    if (spare === null) return null
    const source = this.#options.canReusePrefixes ? this.#longestShared(sequence.promptTokenIds) : null
    if (source === null) {
      return {
        slot: spare,
        cachedTokens: keptTokens(sequence, sharedPrefix(sequence.promptTokenIds, spare.cachedTokenIds)),
        copyFrom: null,
      }
    }
    const { slot, sharedTokens } = source
    const cachedTokens = keptTokens(sequence, sharedTokens)
    // Taking a slot drops what it holds beyond the shared part: not worth it for the smaller half of a long cache.
    const isWorthTaking = slot === spare || sharedTokens * 2 >= slot.cachedTokenIds.length
    if (slot.sequence === null && (isWorthTaking || !this.#options.canCopySlots)) {
      return { slot, cachedTokens, copyFrom: null }
    }
    return { slot: spare, cachedTokens, copyFrom: slot }
  }

  #lowestFree(): SlotChoice | null {
    const slot = this.slots.find(({ sequence }) => sequence === null)
    return slot === undefined ? null : { slot, cachedTokens: 0, copyFrom: null }
  }

  #longestShared(promptTokenIds: Int32Array): { slot: Slot; sharedTokens: number } | null {
    let best: { slot: Slot; sharedTokens: number } | null = null
    for (const slot of this.slots) {
      if (slot.sequence !== null && !this.#options.canCopySlots) continue
      const sharedTokens = sharedPrefix(promptTokenIds, slot.cachedTokenIds)
      const isBetter =
        best === null ||
        sharedTokens > best.sharedTokens ||
        // Equal parts: a free slot needs no copy.
        (sharedTokens === best.sharedTokens && slot.sequence === null && best.slot.sequence !== null)
      if (sharedTokens >= MIN_SHARED_TOKENS && isBetter) best = { slot, sharedTokens }
    }
    return best
  }

  /**
   * The free slot whose cache is given up: of the half that was used least recently the one with the most running
   * neighbours, because llama.cpp computes sequences of neighbouring slots together and all others apart.
   */
  #spareSlot(): Slot | null {
    const free = this.slots.filter(({ sequence }) => sequence === null)
    free.sort((a, b) => a.lastUsedOrder - b.lastUsedOrder)
    const older = free.slice(0, Math.ceil(free.length / 2))
    older.sort((a, b) => this.#runningNeighbours(b) - this.#runningNeighbours(a))
    return older[0] ?? null
  }

  #runningNeighbours({ slotId }: Slot): number {
    const isRunning = (id: number): number => (this.slots[id]?.sequence == null ? 0 : 1)
    return isRunning(slotId - 1) + isRunning(slotId + 1)
  }
}

/** Tokens of a shared prefix that are reused; its end is computed again where that makes a whole tile. */
function keptTokens({ promptTokens }: Sequence, sharedTokens: number): number {
  const missing = promptTokens - sharedTokens
  const isMostOfATile = missing >= MOST_OF_A_TILE && missing < TILE_TOKENS
  return isMostOfATile && sharedTokens >= LONG_PREFIX_TOKENS ? promptTokens - TILE_TOKENS : sharedTokens
}

/** Length of the common prefix of a prompt with other tokens, less one when it is the whole prompt: its last token must run to give logits. */
export function sharedPrefix(promptTokenIds: Int32Array, otherTokenIds: ArrayLike<number>): number {
  const max = Math.min(promptTokenIds.length - 1, otherTokenIds.length)
  let shared = 0
  while (shared < max && promptTokenIds[shared] === otherTokenIds[shared]) shared++
  return shared
}
