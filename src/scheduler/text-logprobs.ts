/**
 * The log probabilities of one sequence's tokens, from the step that samples a token to the delta that shows its text. Owned by a
 * sequence that asked for them, called by the running batch beside the text assembler.
 * Invariant: the bytes of all tokens taken begin with the text shown; beyond it they hold the rest of one token at most.
 */
import { HeldTokens } from '../core/text/held-tokens.ts'
import type { ChosenLogprob } from '../protocol/engine-events.ts'
import type { SampledLogprob } from '../protocol/model-runner.ts'

export class TextLogprobs {
  readonly #held = new HeldTokens<ChosenLogprob>()
  #shownLength = 0

  /** Takes a token that the assembler gets too. */
  add(
    { tokenId, sampled }: { readonly tokenId: number; readonly sampled: SampledLogprob },
    tokenBytes: (tokenId: number) => Uint8Array,
  ): void {
    const bytesOf = (id: number): number[] => Array.from(tokenBytes(id))
    this.#held.add({
      tokenId,
      logprob: sampled.logprob,
      bytes: bytesOf(tokenId),
      top: sampled.top.map((token) => ({ ...token, bytes: bytesOf(token.tokenId) })),
    })
  }

  /** Those that go with the text shown next. @param isLast whether nothing follows it */
  take(text: string, isLast: boolean): ChosenLogprob[] {
    this.#shownLength += text.length
    return isLast ? this.#held.finish(this.#shownLength) : this.#held.release(this.#shownLength)
  }
}
