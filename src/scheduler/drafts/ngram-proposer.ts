/**
 * Guesses how a text goes on from the text itself: what followed the last time that its newest tokens stood in it. Texts
 * that quote, list or repeat go on as they did before. Known as prompt lookup decoding (Saxena 2023).
 * One table of hash chains over all n-grams, as in deflate: a token costs the same to append however long the text is.
 */

/**
 * Tokens that must be the same. Shorter matches are found more often and mislead more often (docs/scheduling.md has the
 * measurements).
 */
export const NGRAM_TOKENS = 12

const FIRST_CAPACITY = 1024
const NOTHING = new Int32Array(0)

export class NgramProposer {
  #tokenIds = new Int32Array(FIRST_CAPACITY)
  /** By hash, where the latest n-gram with it ends; 0 is none. */
  #latest = new Int32Array(FIRST_CAPACITY * 2)
  /** By the end of an n-gram, where the one before it with the same hash ends. */
  #previous = new Int32Array(FIRST_CAPACITY + 1)
  #length = 0

  get length(): number {
    return this.#length
  }

  append(tokenId: number): void {
    if (this.#length === this.#tokenIds.length) this.#grow()
    this.#tokenIds[this.#length++] = tokenId
    if (this.#length >= NGRAM_TOKENS) this.#link(this.#length)
  }

  /** Up to `max` tokens that may come next: none, or as many as were asked for. */
  propose(max: number): Int32Array {
    const tokenIds = this.#tokenIds
    const length = this.#length
    const start = length < NGRAM_TOKENS || max < 1 ? 0 : this.#findEarlier()
    if (start === 0) return NOTHING
    const draft = new Int32Array(max)
    for (let i = 0; i < max; i++) {
      const from = start + i
      // Beyond the end of the text it is the draft itself that repeats.
      draft[i] = (from < length ? tokenIds[from] : draft[from - length]) as number
    }
    return draft
  }

  /** Where the latest earlier occurrence of the newest n-gram ends; 0 when there is none. */
  #findEarlier(): number {
    let end = this.#previous[this.#length] as number
    while (end > 0 && !this.#isNewest(end)) end = this.#previous[end] as number
    return end
  }

  #isNewest(end: number): boolean {
    const tokenIds = this.#tokenIds
    for (let back = 1; back <= NGRAM_TOKENS; back++) {
      if (tokenIds[end - back] !== tokenIds[this.#length - back]) return false
    }
    return true
  }

  #link(end: number): void {
    const hash = this.#hash(end)
    this.#previous[end] = this.#latest[hash] as number
    this.#latest[hash] = end
  }

  #hash(end: number): number {
    let hash = 0
    for (let i = end - NGRAM_TOKENS; i < end; i++) {
      hash = Math.imul(hash ^ (this.#tokenIds[i] as number), 0x9e37_79b1)
      hash ^= hash >>> 15
    }
    return hash & (this.#latest.length - 1)
  }

  #grow(): void {
    const capacity = this.#tokenIds.length * 2
    const tokenIds = new Int32Array(capacity)
    tokenIds.set(this.#tokenIds)
    this.#tokenIds = tokenIds
    this.#latest = new Int32Array(capacity * 2)
    this.#previous = new Int32Array(capacity + 1)
    for (let end = NGRAM_TOKENS; end <= this.#length; end++) this.#link(end)
  }
}
