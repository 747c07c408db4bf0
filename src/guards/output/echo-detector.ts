/**
 * Detects a system prompt that is repeated at length. Only letters and digits are compared, so that other spacing, case or
 * formatting hides nothing: the last 24 of the text, as a rolling hash (Karp and Rabin, 1987), against the hashes of every
 * 24 in a row of the system prompt. Linear in both, whatever they hold.
 */
import type { Detector } from './output-filter.ts'

/** Letters and digits that are compared at once, and sent before the text is held. */
const GRAM = 24

/** Shorter stretches are ordinary words: a greeting, a name, a sentence that the model was asked to say. */
const MIN_STRETCH = 120

/** A longer one is never an ordinary answer, however long the system prompt is. */
const MAX_STRETCH = 400

const BASE = 0x01000193

/** BASE ** (GRAM - 1), in the arithmetic of 32 bits. */
const OUTGOING = power(BASE, GRAM - 1)

/** The system messages of one chat, as hashes; null when they are too short to be distinguished from ordinary words. */
export class ConfidentialText {
  readonly grams: ReadonlySet<number>
  /** Letters and digits in a row that are too many. */
  readonly maxStretch: number

  private constructor(grams: ReadonlySet<number>, maxStretch: number) {
    this.grams = grams
    this.maxStretch = maxStretch
  }

  static of(texts: readonly string[]): ConfidentialText | null {
    const grams = new Set<number>()
    let length = 0
    for (const text of texts) {
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

/** A letter or digit in lower case; beyond ASCII every unit but spaces, punctuation and halves of pairs. */
function comparedUnit(unit: number): number {
  if (unit < 0x80) {
    if ((unit >= 0x61 && unit <= 0x7a) || (unit >= 0x30 && unit <= 0x39)) return unit
    return unit >= 0x41 && unit <= 0x5a ? unit + 0x20 : NOT_COMPARED
  }
  const character = String.fromCharCode(unit)
  return NO_WORD.test(character) ? NOT_COMPARED : character.toLowerCase().charCodeAt(0)
}

const NO_WORD = /[\s\p{P}\p{S}\p{C}]/u

function power(base: number, exponent: number): number {
  let result = 1
  for (let i = 0; i < exponent; i++) result = Math.imul(result, base)
  return result
}
