/**
 * Measures whether the drafts of one sequence save time. A draft that is accepted grows the next one; when too few are, drafting
 * pauses, for longer each time. It goes by counts alone and never by the clock, so that a request repeats itself.
 */

const FIRST_DRAFT_TOKENS = 5
/** A guess makes a step longer by 0.4 to 0.7 of what a token takes, by model and threads (docs/scheduling.md). */
const MIN_RATE = 0.6
/** What is expected before anything is known: one draft that misses altogether is enough to pause. */
const EXPECTED_RATE = 0.7
const NEWEST_WEIGHT = 0.3
const FIRST_PAUSE_TOKENS = 16
const MAX_PAUSE_TOKENS = 512

export class AcceptanceWatch {
  /** Share of drafted tokens that were accepted, the newest drafts weighing most. */
  #rate = EXPECTED_RATE
  #draftTokens = FIRST_DRAFT_TOKENS
  #pauseTokens = FIRST_PAUSE_TOKENS
  /** How many tokens the sequence must have made before the next draft. */
  #resumesAt = 0

  /** How long a draft may be now; 0 while drafting pauses. @param newTokens that the sequence has made */
  draftTokens(newTokens: number): number {
    return newTokens < this.#resumesAt ? 0 : this.#draftTokens
  }

  /** Records the outcome of a draft. @param newTokens when the draft was planned */
  observe({ drafted, accepted }: { drafted: number; accepted: number }, newTokens: number): void {
    this.#rate += NEWEST_WEIGHT * (accepted / drafted - this.#rate)
    if (this.#rate < MIN_RATE) {
      this.#resumesAt = newTokens + accepted + 1 + this.#pauseTokens
      this.#pauseTokens = Math.min(this.#pauseTokens * 2, MAX_PAUSE_TOKENS)
      this.#rate = EXPECTED_RATE
      this.#draftTokens = FIRST_DRAFT_TOKENS
    } else if (accepted === drafted) {
      this.#draftTokens = 2 * drafted
      this.#pauseTokens = FIRST_PAUSE_TOKENS
    } else this.#draftTokens = Math.max(FIRST_DRAFT_TOKENS, accepted + 1)
  }
}
