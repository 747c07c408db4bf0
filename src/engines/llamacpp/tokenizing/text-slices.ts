/**
 * Cuts a text into slices that llama.cpp tokenizes one by one to the very tokens of the whole, so that no native call takes
 * long: within one call, llama.cpp looks for every special text in the rest of the text once for each that it has found,
 * which takes seconds for a quarter of a megabyte. A slice ends where no token can lie across: in front of a special text
 * that none can overlap, or between a letter and a space where no token holds that pair. Where a vocabulary allows neither,
 * the slice is the text.
 */
import { SpecialTexts } from '../../../checkpoints/tokenizers/special-texts.ts'

/** Of plain text tokenized in about a millisecond. */
const SLICE_LENGTH = 8192
/** Special texts of one slice. */
const MAX_SPECIAL_TEXTS = 32
const SPACE = 0x20

/** Where a vocabulary lets a text be cut. */
export interface SliceRules {
  /** In front of each of these. */
  readonly beforeTexts: readonly string[]
  /** Between a letter of ASCII and a space in front of another one. */
  readonly beforeSpaces: boolean
}

export const NO_SLICES: SliceRules = { beforeTexts: [], beforeSpaces: false }

/** Those of the added texts that no other one can overlap: none holds their first character, except at its beginning. */
export function cuttableTexts(addedTexts: readonly string[]): readonly string[] {
  const inside = new Set(addedTexts.flatMap((text) => text.slice(1).split('')))
  return addedTexts.filter((text) => text !== '' && !inside.has(text.charAt(0)))
}

export class TextSlicer {
  readonly #texts: SpecialTexts
  readonly #cutsBeforeSpaces: boolean

  constructor({ beforeTexts, beforeSpaces }: SliceRules) {
    this.#texts = new SpecialTexts(beforeTexts)
    this.#cutsBeforeSpaces = beforeSpaces
  }

  /** The slices of a text, in order. */
  *slices(text: string): Generator<string> {
    let start = 0
    let specialTexts = 0
    for (let i = 0; i < text.length;) {
      const length = this.#texts.lengthAt(text, i)
      const isFull = i - start >= SLICE_LENGTH || specialTexts >= MAX_SPECIAL_TEXTS
      if (isFull && i > start && (length > 0 || (this.#cutsBeforeSpaces && isBetweenWords(text, i)))) {
        yield text.slice(start, i)
        start = i
        specialTexts = 0
      }
      if (length > 0) specialTexts++
      i += Math.max(length, 1)
    }
    yield text.slice(start)
  }
}

function isBetweenWords(text: string, index: number): boolean {
  return (
    text.charCodeAt(index) === SPACE &&
    isLetter(text.charCodeAt(index - 1)) &&
    isLetter(text.charCodeAt(index + 1))
  )
}

/** Of ASCII. */
export function isLetter(code: number): boolean {
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x7a
}
