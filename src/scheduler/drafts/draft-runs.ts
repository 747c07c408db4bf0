/**
 * Speculative decoding in a plan: where one sequence decodes and nothing else runs, its run carries guesses of what comes
 * next, and the step computes them all together. Pure; the drafter decides how many tokens to propose.
 */
import { Drafter } from './drafter.ts'
import type { Sequence } from '../sequence.ts'
import type { PlannedRun } from '../slots/slot-runs.ts'

export interface DraftOptions {
  /** Most tokens of a draft; 0 makes none. */
  readonly maxDraftTokens: number
  readonly maxSeqLen: number | null
  /** Tokens that the KV cache has room for beside those that must be computed. */
  readonly freeTokens: () => number
  /** Tokens in the KV cache of the sequence's slot. */
  readonly computedTokenIds: (sequence: Sequence) => readonly number[]
}

/**
 * Adds a draft to a plan that has room for it. A step of many sequences has none: it is bound by arithmetic already, and
 * runs of unequal length would be computed one after the other.
 */
export function addDraft(planned: readonly PlannedRun[], options: DraftOptions): readonly PlannedRun[] {
  const [only] = planned
  if (options.maxDraftTokens === 0 || only === undefined || planned.length > 1) return planned
  const { sequence } = only
  const { lastTokenId, newTokens } = sequence
  // What may follow a guess is known only once its grammar has seen it.
  if (lastTokenId === null || sequence.matcherId !== null) return planned
  sequence.drafter ??= new Drafter()
  const draft = sequence.drafter.draft({
    computedTokenIds: options.computedTokenIds(sequence),
    lastTokenId,
    newTokens,
    maxTokens: Math.min(options.maxDraftTokens, options.freeTokens(), roomOf(sequence, options.maxSeqLen)),
  })
  if (draft.length === 0) return planned
  const tokenIds = new Int32Array(1 + draft.length)
  tokenIds[0] = lastTokenId
  tokenIds.set(draft, 1)
  return [{ sequence, run: { ...only.run, tokenIds, draftTokens: draft.length } }]
}

/** What is left of a computed run when its rejected guesses are dropped, and the accepted ones among them. Counts them. */
export function settleDraft(
  { sequence, run: { tokenIds, draftTokens = 0 }, isByModel = false }: PlannedRun,
  accepted = 0,
): { readonly computed: ArrayLike<number>; readonly accepted: readonly number[] } {
  if (draftTokens === 0) return { computed: tokenIds, accepted: [] }
  if (!isByModel) sequence.drafter?.observe({ drafted: draftTokens, accepted }, sequence.newTokens)
  sequence.draftedTokens += draftTokens
  sequence.acceptedTokens += accepted
  const all = Array.from(tokenIds)
  const certain = all.length - draftTokens
  return { computed: all.slice(0, certain + accepted), accepted: all.slice(certain, certain + accepted) }
}

/** Tokens that may be guessed, so that with the one after them the text is not too long. */
function roomOf({ totalTokens, newTokens, maxNewTokens }: Sequence, maxSeqLen: number | null): number {
  const left = maxNewTokens - newTokens
  return (maxSeqLen === null ? left : Math.min(left, maxSeqLen - totalTokens)) - 1
}
