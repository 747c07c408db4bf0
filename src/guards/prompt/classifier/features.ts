/**
 * Extracts the features of a text for the attack classifier: words, their pieces and neighbours, and the concepts of `concepts.txt` with
 * what follows them. A feature is a bucket of a hash; what stands in quotation marks hashes differently, because people quote
 * the attacks that they write about. Nothing looks back further than a fixed number of words, so the time is linear in the
 * text. Used by `attack-classifier.ts` and by the program that trains its weights (`tools/prompt-guard`).
 */
import { NormalizedText, normalizeTerm, SENTENCE_END, SPACE } from '../normalized-text.ts'
import { FoundTerms, isUnspaced, TermTrie } from '../term-trie.ts'
import { readSections, type Term } from '../terms.ts'
import { findQuotations } from './quotations.ts'

const BUCKET_BITS = 22
export const BUCKETS = 2 ** BUCKET_BITS

/** A window is two blocks, and each block but the ends is in two windows. Counted in half words. */
const BLOCK_LENGTH = 40
/** Concepts further apart than this, in half words, are no pair. */
const MAX_GAP = 14
const NEAR_GAP = 4
/** A longer run of letters is encoded data, which is judged after it has been decoded. */
const MAX_WORD_LENGTH = 24
const STEM_LENGTH = 5
const PIECE_LENGTH = 4
/** Stems before a word that are paired with it; single characters count where no spaces are written. */
const STEM_PAIRS = 4
const CHARACTER_PAIRS = 5
const MAX_RECENT = 24
/** Longer buffers are released after a text. */
const MAX_KEPT_LENGTH = 1 << 20

/** The kind of a feature is part of its hash. */
const KIND = {
  word: 1,
  neighbours: 2,
  firstWord: 3,
  piece: 4,
  stems: 5,
  concept: 6,
  firstConcept: 7,
  pair: 8,
  nearPair: 9,
} as const

/** Scripts in which an ending or a particle may follow a term directly. */
const HAS_NO_WORD_END = /^[\u0600-\u06ff\u0900-\u097f\u2e80-\u9fff\uac00-\ud7af]/

const SECTIONS = readSections('classifier/concepts.txt')
const CONCEPT_NAMES = [...new Set(SECTIONS.map(({ name }) => name))]
export const CONCEPT_COUNT = CONCEPT_NAMES.length
const TRIE = new TermTrie(readConceptTerms())

export interface FeatureWindow {
  /** The first `count` are distinct buckets. Reused: read it, do not keep it. */
  readonly buckets: Uint32Array
  readonly count: number
  /** By concept: whether the window holds it, quoted or not. Reused as well. */
  readonly concepts: Uint8Array
}

/** Holds the buffers of one text at a time. */
export class FeatureReader {
  readonly #text = new NormalizedText()
  readonly #found = new FoundTerms()
  /** Features and concepts of the block before and of the current one. */
  #before = new Block()
  #current = new Block()
  #blockCount = 0
  #onWindow: (window: FeatureWindow) => void = () => {}
  readonly #window = new WindowMerger()
  /** Half words so far. */
  #place = 0
  #quoted = 0
  #isSentenceStart = true
  #lastWord = 0
  #stems: number[] = []
  #recent: { concept: number; place: number }[] = []

  /** Calls back for each window, in order; once for a short text. Returns the number of steps taken. */
  read(text: string, onWindow: (window: FeatureWindow) => void): number {
    this.#begin(text, onWindow)
    const { units, offsets, length } = this.#text
    const quotations = findQuotations(text)
    let next = 0
    let steps = text.length
    for (let i = 0; i < length;) {
      const unit = units[i] ?? 0
      if (unit <= SPACE) {
        if (unit === SENTENCE_END) this.#endSentence()
        i++
        continue
      }
      const offset = offsets[i] ?? 0
      while (next + 1 < quotations.length && offset > (quotations[next + 1] ?? 0)) next += 2
      this.#quoted = offset > (quotations[next] ?? Infinity) ? 1 : 0
      if (this.#place >= BLOCK_LENGTH * this.#blockCount) this.#endBlock()
      const end = this.#wordEnd(i)
      const isCharacter = isUnspaced(unit)
      if (isCharacter) this.#addCharacter(i)
      else this.#addWord(i, end)
      steps += this.#addConcepts(i) + end - i
      this.#isSentenceStart = false
      this.#place += isCharacter ? 1 : 2
      i = end
    }
    this.#finish()
    return steps
  }

  #begin(text: string, onWindow: (window: FeatureWindow) => void): void {
    this.#text.normalize(text)
    this.#onWindow = onWindow
    this.#before.clear()
    this.#current.clear()
    this.#blockCount = 1
    this.#place = 0
    this.#stems = []
    this.#recent = []
    this.#endSentence()
  }

  #endSentence(): void {
    this.#isSentenceStart = true
    this.#lastWord = 0
  }

  #endBlock(): void {
    if (this.#blockCount > 1) this.#emit()
    const free = this.#before
    this.#before = this.#current
    this.#current = free
    free.clear()
    this.#blockCount++
  }

  #finish(): void {
    this.#emit()
    this.#text.shrink(MAX_KEPT_LENGTH)
  }

  #emit(): void {
    this.#onWindow(this.#window.merge(this.#before, this.#current))
  }

  #wordEnd(start: number): number {
    const { units, length } = this.#text
    if (isUnspaced(units[start] ?? 0)) return start + 1
    let end = start + 1
    while (end < length && (units[end] ?? 0) > SPACE && !isUnspaced(units[end] ?? 0)) end++
    return end
  }

  #addWord(start: number, end: number): void {
    if (end - start > MAX_WORD_LENGTH) return this.#endSentence()
    const word = this.#hashUnits(start, end)
    this.#add(KIND.word, word)
    this.#add(KIND.neighbours, this.#lastWord, word)
    if (this.#isSentenceStart) this.#add(KIND.firstWord, word)
    this.#lastWord = word
    this.#addStem(this.#hashUnits(start, Math.min(end, start + STEM_LENGTH)), STEM_PAIRS)
    if (end - start < PIECE_LENGTH) return
    // A piece at the edge of the word takes in the space beside it.
    for (let i = start - 1; i + PIECE_LENGTH <= end + 1; i++)
      this.#add(KIND.piece, this.#hashUnits(i, i + PIECE_LENGTH))
  }

  #addCharacter(start: number): void {
    const { length } = this.#text
    const pair = this.#hashUnits(start, Math.min(length, start + 2))
    this.#add(KIND.word, pair)
    this.#add(KIND.neighbours, this.#hashUnits(start, Math.min(length, start + 3)))
    this.#addStem(pair, CHARACTER_PAIRS)
  }

  #addStem(stem: number, pairs: number): void {
    for (const earlier of this.#stems) this.#add(KIND.stems, earlier, stem)
    this.#stems.push(stem)
    while (this.#stems.length > pairs) this.#stems.shift()
  }

  #addConcepts(start: number): number {
    const before = this.#text.units[start - 1] ?? SPACE
    const isWordStart = before <= SPACE || isUnspaced(before) || isUnspaced(this.#text.units[start] ?? 0)
    if (!isWordStart) return 0
    const found = this.#found
    const steps = TRIE.find(this.#text, start, found)
    const seen = new Set(found.concepts.subarray(0, found.count))
    for (const concept of seen) this.#addConcept(concept)
    for (const concept of seen) this.#recent.push({ concept, place: this.#place })
    if (this.#recent.length > 2 * MAX_RECENT) this.#recent = this.#recent.slice(-MAX_RECENT)
    return steps
  }

  #addConcept(concept: number): void {
    this.#current.concepts[concept] = 1
    this.#add(KIND.concept, concept)
    if (this.#isSentenceStart) this.#add(KIND.firstConcept, concept)
    for (let i = this.#recent.length - 1; i >= 0; i--) {
      const earlier = this.#recent[i]
      const gap = this.#place - (earlier?.place ?? 0)
      if (earlier === undefined || gap > MAX_GAP) return
      if (earlier.concept === concept || gap === 0) continue
      this.#add(KIND.pair, earlier.concept, concept)
      if (gap <= NEAR_GAP) this.#add(KIND.nearPair, earlier.concept, concept)
    }
  }

  #hashUnits(start: number, end: number): number {
    const { units } = this.#text
    let hash = 0x811c9dc5
    for (let i = start; i < end; i++) hash = Math.imul(hash ^ (units[i] ?? SPACE), 0x01000193)
    return hash
  }

  #add(kind: number, first: number, second = 0): void {
    let hash = Math.imul(first ^ (2 * kind + this.#quoted), 0x9e3779b1)
    hash = Math.imul(hash ^ (hash >>> 15) ^ second, 0x85ebca6b)
    hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
    this.#current.features.push((hash ^ (hash >>> 16)) >>> (32 - BUCKET_BITS))
  }
}

class Block {
  readonly features: number[] = []
  readonly concepts = new Uint8Array(CONCEPT_COUNT)

  clear(): void {
    this.features.length = 0
    this.concepts.fill(0)
  }
}

/** Makes one window of two blocks, with each bucket once. */
class WindowMerger {
  /** Buckets of the window by their lowest bits, each plus one; at least twice as many entries as there are features. */
  #seen = new Uint32Array(4096)
  #buckets = new Uint32Array(2048)
  readonly #concepts = new Uint8Array(CONCEPT_COUNT)

  merge(first: Block, second: Block): FeatureWindow {
    const most = first.features.length + second.features.length
    this.#grow(most)
    this.#seen.fill(0)
    let count = 0
    for (const { features } of [first, second]) {
      for (const bucket of features) if (this.#isNew(bucket)) this.#buckets[count++] = bucket
    }
    for (let i = 0; i < CONCEPT_COUNT; i++) {
      this.#concepts[i] = (first.concepts[i] ?? 0) | (second.concepts[i] ?? 0)
    }
    return { buckets: this.#buckets, count, concepts: this.#concepts }
  }

  #grow(most: number): void {
    let length = this.#buckets.length
    while (length < most) length *= 2
    if (length === this.#buckets.length) return
    this.#buckets = new Uint32Array(length)
    this.#seen = new Uint32Array(2 * length)
  }

  #isNew(bucket: number): boolean {
    const mask = this.#seen.length - 1
    for (let i = bucket & mask; ; i = (i + 1) & mask) {
      const found = this.#seen[i] ?? 0
      if (found === bucket + 1) return false
      if (found !== 0) continue
      this.#seen[i] = bucket + 1
      return true
    }
  }
}

function readConceptTerms(): Term[] {
  return SECTIONS.flatMap(({ name, entries }) =>
    entries.flatMap((entry): Term[] => {
      const text = normalizeTerm(entry.replaceAll('*', ''))
      if (text === '') return []
      const isStem = entry.endsWith('*') || HAS_NO_WORD_END.test(text)
      return [{ text, isStem, concept: CONCEPT_NAMES.indexOf(name) }]
    }),
  )
}
