/**
 * Text of one sequence that waits, and the tokens it was made of: ids leave with the text, because a list of ids is as
 * good as the text to whoever has the vocabulary.
 */
interface WaitingTokens {
  /** Offset of the sequence's text at which the text of these tokens ends. */
  readonly end: number
  readonly tokenIds: readonly number[]
}

export interface ReleasedText {
  readonly text: string
  readonly tokenIds: readonly number[]
}

export class HeldText {
  #text = ''
  /** Offset of the first character that waits. */
  #start = 0
  #tokens: WaitingTokens[] = []

  get isEmpty(): boolean {
    return this.#text === '' && this.#tokens.length === 0
  }

  add(text: string, tokenIds: readonly number[]): void {
    this.#text += text
    this.#tokens.push({ end: this.#start + this.#text.length, tokenIds })
  }

  /** Text that was sent without waiting. */
  skip(text: string): void {
    this.#start += text.length
  }

  /** Takes out what stands before `offset`; Infinity takes all. */
  release(offset: number): ReleasedText {
    const count = Math.max(0, Math.min(this.#text.length, offset - this.#start))
    const text = this.#text.slice(0, count)
    this.#text = this.#text.slice(count)
    this.#start += count
    const next = this.#tokens.findIndex(({ end }) => end > this.#start)
    const ready = this.#tokens.splice(0, next === -1 ? this.#tokens.length : next)
    return { text, tokenIds: ready.flatMap(({ tokenIds }) => tokenIds) }
  }
}
