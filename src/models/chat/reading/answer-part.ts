/** What the text of an answer is read as, in its order. Types only. */

export type AnswerPart =
  /** `at` is the offset of the answer at which this text stands. */
  | { readonly type: 'text'; readonly text: string; readonly at: number }
  | { readonly type: 'reasoning'; readonly text: string }
  /** A call begins; the arguments that follow are its own. */
  | { readonly type: 'call'; readonly name: string }
  | { readonly type: 'arguments'; readonly text: string }

/** Reads one answer, in pieces of any length. What it gives joined together does not depend on where the pieces end. */
export interface PartReader {
  push(text: string): readonly AnswerPart[]
  /** No more text comes: what was held back. @param isCut whether the model would have gone on */
  end(isCut: boolean): readonly AnswerPart[]
}

/** The length of the longest end of `text` that is a beginning, but not the whole, of one of the markers. */
export function openMarkerLength(text: string, markers: readonly string[]): number {
  const longest = Math.max(0, ...markers.map((marker) => marker.length - 1))
  for (let length = Math.min(longest, text.length); length > 0; length--) {
    const end = text.slice(text.length - length)
    if (markers.some((marker) => marker.length > length && marker.startsWith(end))) return length
  }
  return 0
}
