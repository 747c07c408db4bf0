/** Finds what stands in quotation marks, each quotation within a bounded length. Used by `features.ts`. */

const OPENING = '"“”„«»‘‚`「『\''
const CLOSING = '"”“»«’‘`」』\''
const MAX_LENGTH = 400
const LETTER = /[\p{L}\p{N}]/u
/** These open a quotation even directly behind a letter: scripts without spaces use them. */
const ALWAYS_OPENING = '「『“"'

/** Offsets of the marks, alternating: opening, closing. In order, and never nested. */
export function findQuotations(text: string): readonly number[] {
  const marks: number[] = []
  let open = -1
  for (let i = 0; i < text.length; i++) {
    const mark = text.charAt(i)
    if (mark === '\n' && text.charAt(i + 1) === '\n') open = -1
    const canOpen = OPENING.includes(mark)
    const canClose = CLOSING.includes(mark)
    if (!canOpen && !canClose) continue
    const isBehindLetter = LETTER.test(text.charAt(i - 1))
    const isBeforeLetter = LETTER.test(text.charAt(i + 1))
    const isApostrophe = mark === "'" || mark === '’'
    if (isApostrophe && isBehindLetter && isBeforeLetter) continue
    if (open >= 0 && i - open <= MAX_LENGTH) {
      if (!canClose || (isApostrophe && isBeforeLetter)) continue
      marks.push(open, i)
      open = -1
    } else {
      open = canOpen && (!isBehindLetter || ALWAYS_OPENING.includes(mark)) ? i : -1
    }
  }
  return marks
}
