/**
 * The drafts of one sequence: proposes its next tokens and adapts to how many are accepted. Owned by the sequence, called by
 * the running batch. Costs nothing while it is not asked, and catches up when it is.
 */
import { AcceptanceWatch } from './acceptance-watch.ts'
import { NgramProposer } from './ngram-proposer.ts'

/** Where a sequence stands when it is asked for a draft. */
export interface DraftPoint {
  /** Prompt and text so far, but for the last token. */
  readonly computedTokenIds: readonly number[]
  readonly lastTokenId: number
  readonly newTokens: number
  /** Tokens there is room for. */
  readonly maxTokens: number
}

const NOTHING = new Int32Array(0)

export class Drafter {
  readonly #proposer = new NgramProposer()
  readonly #watch = new AcceptanceWatch()

  draft({ computedTokenIds, lastTokenId, newTokens, maxTokens }: DraftPoint): Int32Array {
    const tokens = Math.min(this.#watch.draftTokens(newTokens), maxTokens)
    if (tokens <= 0) return NOTHING
    const proposer = this.#proposer
    for (let i = proposer.length; i < computedTokenIds.length; i++) {
      proposer.append(computedTokenIds[i] as number)
    }
    if (proposer.length === computedTokenIds.length) proposer.append(lastTokenId)
    return proposer.propose(tokens)
  }

  /** Records the outcome of a draft. @param newTokens when the draft was planned */
  observe(outcome: { readonly drafted: number; readonly accepted: number }, newTokens: number): void {
    this.#watch.observe(outcome, newTokens)
  }
}
