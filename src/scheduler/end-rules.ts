/** Which token ends a text: the rules of its request, applied to the end tokens of the model. Called for each token. */
import type { EndRules } from '../protocol/engine.ts'

/** A token and its place in the text, the first being 1. */
interface PlacedToken {
  readonly tokenId: number
  readonly place: number
}

export function endsText(
  rules: EndRules | null,
  { tokenId, place }: PlacedToken,
  isEndOfGeneration: (tokenId: number) => boolean,
): boolean {
  if (rules === null) return isEndOfGeneration(tokenId)
  if (!mayEnd(rules, place)) return false
  return rules.stopTokenIds.includes(tokenId) || (!rules.ignoresEndTokens && isEndOfGeneration(tokenId))
}

/** Whether a text may end with the token at that place, or with a stop string in it. */
export function mayEnd(rules: EndRules | null, place: number): boolean {
  return rules === null || place > rules.minTokens
}
