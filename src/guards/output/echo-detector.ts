/**
 * Detects a system prompt that is repeated at length. Only letters and digits are compared, so that other spacing, case or
 * formatting hides nothing: the last 24 of the text, as a rolling hash (Karp and Rabin, 1987), against the hashes of every
 * 24 in a row of the beginning of the system prompt. Linear in both, whatever they hold; the beginning is bounded, because
 * it is hashed on the event loop.
 */
import { randomBytes } from 'node:crypto'
import type { Detector } from './output-filter.ts'

/** Letters and digits that are compared at once, and sent before the text is held. */
const GRAM = 24

/** Shorter stretches are ordinary words: a greeting, a name, a sentence that the model was asked to say. */
const MIN_STRETCH = 120

/** A longer one is never an ordinary answer, however long the system prompt is. */
const MAX_STRETCH = 400

/** Characters of the system messages that are watched for, about 10,000 words: hashed in a few milliseconds. */
const MAX_WATCHED = 65_536

const BASE = 0x01000193

/** BASE ** (GRAM - 1), in the arithmetic of 32 bits. */
const OUTGOING = power(BASE, GRAM - 1)

/** The system messages of one chat, as hashes; null when they are too short to be distinguished from ordinary words. */
export class ConfidentialText {
  readonly grams: Pick<HashSet, 'has'>
  /** Letters and digits in a row that are too many. */
  readonly maxStretch: number

  private constructor(grams: HashSet, maxStretch: number) {
    this.grams = grams
    this.maxStretch = maxStretch
  }

  static of(texts: readonly string[]): ConfidentialText | null {
    const watched = takeStart(texts)
    const characters = watched.reduce((sum, text) => sum + text.length, 0)
    if (characters < MIN_STRETCH) return null
    const grams = new HashSet(characters)
    let length = 0
    for (const text of watched) {
      const roller = new Roller()
      for (let i = 0; i < text.length; i++) {
        const unit = comparedUnit(text.charCodeAt(i))
        if (unit === NOT_COMPARED) continue
        length++
        if (roller.roll(unit)) grams.add(roller.hash)
      }
    }
    if (length < MIN_STRETCH) return null
    return new ConfidentialText(grams, Math.min(Math.max(Math.floor(length / 2), MIN_STRETCH), MAX_STRETCH))
  }
}

function takeStart(texts: readonly string[]): string[] {
  const watched: string[] = []
  let left = MAX_WATCHED
  for (const text of texts) {
    if (left === 0) break
    watched.push(text.slice(0, left))
    left -= Math.min(text.length, left)
  }
  return watched
}

/** Odd and random, so that no text can be made whose hashes all fall into one place of the table. */
const SPREAD = randomBytes(4).readInt32LE() | 1

/** 32-bit hashes in a table with open addressing: a tenth of what a `Set` costs. */
class HashSet {
  readonly #table: Int32Array
  readonly #shift: number

  /** @param capacity hashes that are added at most */
  constructor(capacity: number) {
    const bits = Math.ceil(Math.log2(capacity)) + 1
    this.#table = new Int32Array(2 ** bits)
    this.#shift = 32 - bits
  }

  add(hash: number): void {
    const stored = storedHash(hash)
    this.#table[this.#find(stored)] = stored
  }

  has(hash: number): boolean {
    const stored = storedHash(hash)
    return this.#table[this.#find(stored)] === stored
  }

  /** Where the hash stands or would stand: half of the table stays free. */
  #find(stored: number): number {
    const table = this.#table
    let at = Math.imul(stored, SPREAD) >>> this.#shift
    while (table[at] !== 0 && table[at] !== stored) at = (at + 1) % table.length
    return at
  }
}

/** 0 marks a free place. */
function storedHash(hash: number): number {
  return hash === 0 ? 1 : hash
}

export class EchoDetector implements Detector {
  readonly rule = 'system-prompt'
  readonly #confidential: ConfidentialText
  readonly #roller = new Roller()
  #seen = 0
  /** Letters and digits in a row that the system prompt holds too; 0 outside of such a stretch. */
  #stretch = 0
  holdFrom = Infinity

  constructor(confidential: ConfidentialText) {
    this.#confidential = confidential
  }

  see(text: string): boolean {
    for (let i = 0; i < text.length; i++, this.#seen++) {
      const unit = comparedUnit(text.charCodeAt(i))
      if (unit !== NOT_COMPARED && this.#follow(unit)) return true
    }
    return false
  }

  #follow(unit: number): boolean {
    const isKnown = this.#roller.roll(unit) && this.#confidential.grams.has(this.#roller.hash)
    if (!isKnown) {
      this.#stretch = 0
      this.holdFrom = Infinity
      return false
    }
    if (this.#stretch === 0) {
      this.#stretch = GRAM
      this.holdFrom = this.#seen
    } else {
      this.#stretch++
    }
    return this.#stretch >= this.#confidential.maxStretch
  }
}

/** The hash of the last `GRAM` units. */
class Roller {
  readonly #window = new Uint16Array(GRAM)
  #count = 0
  hash = 0

  /** False until there are enough units. */
  roll(unit: number): boolean {
    const at = this.#count++ % GRAM
    const outgoing = this.#window[at] ?? 0
    this.#window[at] = unit
    this.hash = (Math.imul(this.hash - Math.imul(outgoing, OUTGOING), BASE) + unit) | 0
    return this.#count >= GRAM
  }
}

const NOT_COMPARED = 0

/** What each UTF-16 unit is compared as, plus one; 0 until it is looked up for the first time. */
const COMPARED_UNITS = new Uint32Array(0x1_0000)

/** A letter or digit in lower case; beyond ASCII every unit but spaces, punctuation, what is invisible and halves of pairs. */
function comparedUnit(unit: number): number {
  const known = COMPARED_UNITS[unit] ?? 0
  if (known > 0) return known - 1
  const compared = findComparedUnit(unit)
  COMPARED_UNITS[unit] = compared + 1
  return compared
}

function findComparedUnit(unit: number): number {
  if (unit < 0x80) {
    if ((unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39)) return unit
    return unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : NOT_COMPARED
  }
  const character = String.fromCharCode(unit)
  return NO_WORD.test(character) ? NOT_COMPARED : character.toLowerCase().charCodeAt(0)
}

/** What nobody sees is no letter either, whatever Unicode says of it. */
const NO_WORD = /[\s\p{P}\p{S}\p{C}\p{Default_Ignorable_Code_Point}]/u

function power(base: number, exponent: number): number {
  let result = 1
  for (let i = 0; i < exponent; i++) result = Math.imul(result, base)
  return result
}
