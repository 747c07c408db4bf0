/**
 * What the draft model's KV cache holds of each slot. It follows the slots by itself: what a slot was given by a copy or from
 * host memory the draft model computes. Pure bookkeeping, owned by the model drafts.
 * Invariant: of a running sequence it holds a beginning of its text.
 */
import type { Sequence } from '../sequence.ts'
import { MIN_SHARED_TOKENS } from '../slots/shared-prefix.ts'

interface HeldText {
  readonly tokenIds: number[]
  /** Whose text it is; null before the first. */
  sequence: Sequence | null
}

export class DraftCache {
  readonly #slots = new Map<number, HeldText>()
  readonly #isShared: boolean

  /** @param isShared whether a text may go on from what another account's left */
  constructor(isShared: boolean) {
    this.#isShared = isShared
  }

  /** What it holds of a running sequence's text. */
  heldTokenIds(slotId: number, sequence: Sequence): readonly number[] {
    return this.#textOf(slotId, sequence).tokenIds
  }

  /** The same where it was asked for before; null otherwise. */
  findTokenIds(slotId: number, sequence: Sequence): readonly number[] | null {
    const held = this.#slots.get(slotId)
    return held?.sequence === sequence ? held.tokenIds : null
  }

  /** The tokens from `position` on have been computed. */
  record(slotId: number, position: number, tokenIds: readonly number[]): void {
    const held = this.#slots.get(slotId)
    if (held === undefined) return
    held.tokenIds.length = position
    for (const tokenId of tokenIds) held.tokenIds.push(tokenId)
  }

  #textOf(slotId: number, sequence: Sequence): HeldText {
    const held = this.#slots.get(slotId) ?? { tokenIds: [], sequence: null }
    this.#slots.set(slotId, held)
    if (held.sequence !== sequence) {
      held.tokenIds.length = this.#openTokens(sequence, held)
      held.sequence = sequence
    }
    return held
  }

  /** Of another account whole blocks, as of the slots: how long a step takes tells how much was found. */
  #openTokens(sequence: Sequence, held: HeldText): number {
    const tokens = sharedTokens(held.tokenIds, sequence)
    if (held.sequence?.place.accountId === sequence.place.accountId) return tokens
    return this.#isShared ? tokens - (tokens % MIN_SHARED_TOKENS) : 0
  }
}

function sharedTokens(heldTokenIds: readonly number[], { promptTokenIds }: Sequence): number {
  const most = Math.min(heldTokenIds.length, promptTokenIds.length)
  let shared = 0
  while (shared < most && heldTokenIds[shared] === promptTokenIds[shared]) shared++
  return shared
}
