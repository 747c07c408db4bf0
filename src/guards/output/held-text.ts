/**
 * The text of one sequence that is held back, and its token ids, which are released together with the text: with the
 * tokenizer's vocabulary the ids are as good as the text.
 */
interface HeldTokens {
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
  /** Offset of the first character held. */
  #start = 0
  #tokens: HeldTokens[] = []

  get isEmpty(): boolean {
    return this.#text === '' && this.#tokens.length === 0
  }

  add(text: string, tokenIds: readonly number[]): void {
    this.#text += text
    this.#tokens.push({ end: this.#start + this.#text.length, tokenIds })
  }

  /** Counts text that was sent without being held. */
  skip(text: string): void {
    this.#start += text.length
  }

  /** Removes and gives what stands before `offset`; Infinity releases everything. */
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
