/**
 * Turns the bytes of one sequence's tokens into text that can be shown: whole characters only, nothing of a stop
 * string. Owned by a sequence, called by the scheduler's update.
 */
import { Utf8Decoder } from '../core/text/utf8-decoder.ts'
import { StopMatcher, type MatchResult } from './stop-matcher.ts'

export class TextAssembler {
  #matcher: StopMatcher
  #decoder = new Utf8Decoder()

  /** @param unstoppableAfter once one of these has come, no stop string ends the text */
  constructor(stopStrings: readonly string[], unstoppableAfter?: readonly string[]) {
    this.#matcher = new StopMatcher(stopStrings, unstoppableAfter)
  }

  /** @param mayStop whether a stop string that ends in these bytes counts */
  push(bytes: Uint8Array, mayStop = true): MatchResult {
    return this.#matcher.push(this.#decoder.push(bytes), mayStop)
  }

  /** The text held back for a stop string that never came. An incomplete character is dropped. */
  flush(): string {
    return this.#matcher.flush()
  }

  /** Another one that stands where this one does; what is pushed to either changes only that. */
  fork(): TextAssembler {
    const copy = new TextAssembler([])
    copy.#matcher = this.#matcher.fork()
    copy.#decoder = this.#decoder.fork()
    return copy
  }
}
