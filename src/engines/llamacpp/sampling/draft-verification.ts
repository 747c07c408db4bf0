/**
 * Decides how much of a draft stands. A draft is one guess for each place, so the general rule of speculative sampling
 * (Leviathan et al. 2023) comes down to this: sample each token as if there were no draft, and keep the guesses as long as
 * they are what was sampled. Every token then comes from the model's own distribution, by one draw of the sequence's own
 * random numbers, so that the text is the one that it would have been.
 */
import type { SlotRun } from '../../../protocol/model-runner.ts'

export interface VerifiedDraft<Token extends number | null = number | null> {
  /** Guesses that stand, from the first on. */
  readonly accepted: number
  /** What stands after them; null where the text ends without a token. */
  readonly tokenId: Token
}

/** @param sample draws the token after the first `index` guesses; called in order, never beyond the first wrong one */
export function verifyDraft<Token extends number | null>(
  { tokenIds, draftTokens = 0 }: Pick<SlotRun, 'tokenIds' | 'draftTokens'>,
  sample: (index: number) => Token,
): VerifiedDraft<Token> {
  const certain = tokenIds.length - draftTokens
  let accepted = 0
  let tokenId = sample(0)
  while (accepted < draftTokens && tokenIds[certain + accepted] === tokenId) {
    accepted++
    tokenId = sample(accepted)
  }
  return { accepted, tokenId }
}
