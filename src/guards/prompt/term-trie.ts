/** Finds the terms that begin at an index of a normalized text: one walk, no longer than the longest term. */
import { SPACE, type NormalizedText } from './normalized-text.ts'
import type { Term } from './terms.ts'

/** No index begins more terms than this. */
const MAX_FOUND = 64

/** The terms found at one index. Reused by the next lookup, so that no word allocates. */
export class FoundTerms {
  count = 0
  readonly concepts = new Int32Array(MAX_FOUND)
  /** Indexes behind their last units. */
  readonly ends = new Int32Array(MAX_FOUND)
  /** Spaces in them. */
  readonly spaces = new Int32Array(MAX_FOUND)

  addAll(concepts: readonly number[], end: number, spaces: number): void {
    for (const concept of concepts) {
      if (this.count === MAX_FOUND) return
      this.concepts[this.count] = concept
      this.ends[this.count] = end
      this.spaces[this.count++] = spaces
    }
  }
}

interface Ends {
  readonly whole: number[]
  readonly stems: number[]
}

export class TermTrie {
  /** Of all nodes but the roots, in an open hash table: keys are `node << 16 | unit`. */
  readonly #keys: Int32Array
  readonly #values: Int32Array
  readonly #mask: number
  readonly #roots = new Int32Array(0x1_0000)
  readonly #ends: (Ends | null)[] = [null]

  constructor(terms: readonly Term[]) {
    const unitCount = terms.reduce((total, { text }) => total + text.length, 0)
    // Rarely more than half full, so that a missing key needs few probes.
    const size = 2 ** Math.ceil(Math.log2(2 * unitCount))
    this.#keys = new Int32Array(size)
    this.#values = new Int32Array(size)
    this.#mask = size - 1
    for (const { text, isStem, concept } of terms) {
      const ends = this.#insert(text)
      const concepts = isStem ? ends.stems : ends.whole
      if (!concepts.includes(concept)) concepts.push(concept)
    }
  }

  /** Stores the terms that begin at `start` in `found`. Returns the number of units read. */
  find(text: NormalizedText, start: number, found: FoundTerms): number {
    const { units, length } = text
    found.count = 0
    let node = this.#roots[units[start] ?? 0] ?? 0
    let spaces = 0
    let end = start + 1
    while (node !== 0) {
      const ends = this.#ends[node] ?? null
      if (ends !== null) {
        if (ends.stems.length > 0) found.addAll(ends.stems, end, spaces)
        if (ends.whole.length > 0 && endsWord(text, end)) found.addAll(ends.whole, end, spaces)
      }
      if (end >= length) break
      const unit = units[end++] ?? 0
      if (unit === SPACE) spaces++
      node = this.#values[this.#slotOf(node, unit)] ?? 0
    }
    return end - start
  }

  #insert(text: string): Ends {
    let node = this.#roots[text.charCodeAt(0)] ?? 0
    if (node === 0) node = this.#roots[text.charCodeAt(0)] = this.#ends.push(null) - 1
    for (let i = 1; i < text.length; i++) {
      const unit = text.charCodeAt(i)
      const slot = this.#slotOf(node, unit)
      if (this.#values[slot] === 0) {
        this.#keys[slot] = (node << 16) | unit
        this.#values[slot] = this.#ends.push(null) - 1
      }
      node = this.#values[slot] ?? 0
    }
    return (this.#ends[node] ??= { whole: [], stems: [] })
  }

  /** The table's slot of the key, or the free one for it. */
  #slotOf(node: number, unit: number): number {
    const key = (node << 16) | unit
    let slot = (Math.imul(key, 0x9e3779b1) >>> 8) & this.#mask
    while (this.#values[slot] !== 0 && this.#keys[slot] !== key) slot = (slot + 1) & this.#mask
    return slot
  }
}

/** Scripts that put no spaces between words: a term may begin and end anywhere. */
export function isUnspaced(unit: number): boolean {
  return (unit >= 0x2e80 && unit < 0xa000) || (unit >= 0xf900 && unit < 0xfb00)
}

function endsWord({ units, length, isSpelled }: NormalizedText, end: number): boolean {
  if (end >= length || isSpelled) return true
  const next = units[end] ?? 0
  return next <= SPACE || isUnspaced(next) || isUnspaced(units[end - 1] ?? 0)
}
