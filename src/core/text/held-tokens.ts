/**
 * What is known of the tokens of a text, held until the text is sent. Text is held back where it may become a stop string or
 * a hit of a guard, and cut where it does; a token's log probability must neither come before its text nor instead of it.
 * Called by the scheduler, the output guard and the reading of answers, once for each text; offsets count UTF-16 units from its beginning.
 * Invariant: the bytes of all released tokens are the bytes of the sent text, to which `finish` may add the rest of a token
 * that was cut, and from which the tokens are missing that `clean` changed.
 */
import { Utf8Decoder } from './utf8-decoder.ts'

interface HeldToken<Token> {
  readonly token: Token
  /** Where its text begins: before a character that it only continues. */
  readonly start: number
  /** Its text is sent with the text before this offset: behind the character that it only begins. */
  readonly end: number
}

export class HeldTokens<Token extends { readonly bytes: ArrayLike<number> }> {
  readonly #clean: (text: string) => string
  readonly #decoder = new Utf8Decoder()
  /** Of the text of all tokens. */
  #length = 0
  #held: HeldToken<Token>[] = []

  /** @param clean takes characters out of the text; a token that it takes any from is never released */
  constructor(clean: (text: string) => string = (text) => text) {
    this.#clean = clean
  }

  get isEmpty(): boolean {
    return this.#held.length === 0
  }

  /** Takes the next token of the text. */
  add(token: Token): void {
    const text = this.#decoder.push(Uint8Array.from(token.bytes))
    const clean = this.#clean(text)
    const start = this.#length
    this.#length += clean.length
    // With a character goes also the token that began it.
    if (clean !== text) this.#held = this.#held.filter(({ end }) => end <= start)
    else this.#held.push({ token, start, end: this.#length + (this.#decoder.isIncomplete ? 1 : 0) })
  }

  /** Those whose text is sent whole once it is sent up to `offset`; each once. */
  release(offset: number): Token[] {
    return this.#take(({ end }) => end <= offset)
  }

  /** The same where the text ends at `offset`: also a token that only begins before it. The others are forgotten. */
  finish(offset: number): Token[] {
    const last = this.#take(({ start, end }) => end <= offset || start < offset)
    this.#held = []
    return last
  }

  /** Where text is sent in parts, and what lies between them never: those with any text in this part, and none before it. */
  releasePart(from: number, to: number): Token[] {
    this.#take(({ end }) => end <= from)
    return this.#take(({ start }) => start < to)
  }

  #take(isSent: (held: HeldToken<Token>) => boolean): Token[] {
    const next = this.#held.findIndex((held) => !isSent(held))
    return this.#held.splice(0, next === -1 ? this.#held.length : next).map(({ token }) => token)
  }
}
