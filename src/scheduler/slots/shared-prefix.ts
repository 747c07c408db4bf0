/** What token lists have in common at their beginning, and how much of that a prompt takes over from what is cached. Pure. */
import type { Sequence } from '../sequence.ts'
import type { CachedPrefix } from './host-cache.ts'
import { TILE_TOKENS } from './slot-runs.ts'

/** Shorter common prefixes choose no slot and are not copied: a copy costs as much as computing them. */
export const MIN_SHARED_TOKENS = 64

/** Behind a prefix of this length a whole tile takes less time than `MOST_OF_A_TILE` single tokens. */
const LONG_PREFIX_TOKENS = 768
const MOST_OF_A_TILE = 48

/** What a prompt shares with a slot or an entry. */
export interface Shared<Holder extends CachedPrefix> {
  readonly holder: Holder
  readonly tokens: number
}

/** Tokens of a shared prefix that are reused; its end is computed again where that makes a whole tile. */
export function keptTokens(
  { prefillTokenIds: { length } }: Sequence,
  { holder, tokens }: Shared<CachedPrefix>,
): number {
  const missing = length - tokens
  const isMostOfATile = missing >= MOST_OF_A_TILE && missing < TILE_TOKENS
  const beforeTile = length - TILE_TOKENS
  return isMostOfATile && tokens >= LONG_PREFIX_TOKENS && beforeTile >= holder.leastCut ? beforeTile : tokens
}

/** Length of the common prefix of a prompt with other tokens, less one when it is the whole prompt: its last token must run to give logits. */
export function sharedPrefix(promptTokenIds: Int32Array, otherTokenIds: ArrayLike<number>): number {
  const max = Math.min(promptTokenIds.length - 1, otherTokenIds.length)
  let shared = 0
  while (shared < max && promptTokenIds[shared] === otherTokenIds[shared]) shared++
  return shared
}

export function isPrefixOf(tokenIds: ArrayLike<number>, others: ArrayLike<number>): boolean {
  if (tokenIds.length > others.length) return false
  // From the end: what belongs to different conversations seldom differs at the beginning.
  for (let i = tokenIds.length - 1; i >= 0; i--) if (tokenIds[i] !== others[i]) return false
  return true
}
