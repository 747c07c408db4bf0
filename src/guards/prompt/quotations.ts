/** Finds the quotation around a place of a text: text about attacks quotes them and should pass. */

/** A quotation reaches no further than this. */
const MAX_QUOTED_LENGTH = 240

const OPENING = '"“”„«»‘‚`「『\''
const CLOSING = '"”“»«’‘`」』\''

export interface Quotation {
  readonly start: number
  readonly end: number
}

export function findQuotation(text: string, { start, end }: Quotation): Quotation | null {
  const open = findOpening(text, start)
  const close = open === null ? null : findClosing(text, end)
  return open === null || close === null ? null : { start: open, end: close }
}

function findOpening(text: string, start: number): number | null {
  for (let i = start - 1; i >= Math.max(0, start - MAX_QUOTED_LENGTH); i--) {
    if (!OPENING.includes(text.charAt(i))) continue
    const isOpening = i === 0 || /[\s([{:,\p{Script=Han}\p{Script=Hiragana}]/u.test(text.charAt(i - 1))
    if (isOpening) return i
    // An apostrophe neither opens nor closes a quotation; any other mark between words has closed one.
    if (text.charAt(i) !== "'" && text.charAt(i) !== '’') return null
  }
  return null
}

function findClosing(text: string, end: number): number | null {
  for (let i = end; i < Math.min(text.length, end + MAX_QUOTED_LENGTH); i++) {
    if (!CLOSING.includes(text.charAt(i))) continue
    if (i + 1 >= text.length || !/[\p{L}\p{N}]/u.test(text.charAt(i + 1)) || /[」』”]/.test(text.charAt(i)))
      return i
  }
  return null
}
