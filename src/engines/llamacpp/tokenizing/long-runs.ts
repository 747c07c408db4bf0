/**
 * Cuts text where it goes on too long without a space. Some of llama.cpp's tokenizers match words with std::regex,
 * which recurses once per character: a "word" of some 50,000 letters overflows the stack and ends the process. A cut
 * costs at most one token more than the whole word would.
 */

/** Twice this is still less than half of what the call stack holds. */
export const MAX_RUN_LENGTH = 8192

/** The parts of a text, in order; one part unless a run of spaces or of anything else is longer than allowed. */
export function splitLongRuns(text: string): string[] {
  if (text.length <= MAX_RUN_LENGTH) return [text]
  const parts: string[] = []
  let partStart = 0
  let runStart = 0
  let wasSpace = false
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    const isSpace = code <= 0x20
    if (isSpace !== wasSpace) {
      wasSpace = isSpace
      runStart = i
    } else if (i - runStart >= MAX_RUN_LENGTH && !isLowSurrogate(code)) {
      parts.push(text.slice(partStart, i))
      partStart = i
      runStart = i
    }
  }
  parts.push(text.slice(partStart))
  return parts
}

/** The second half of a character that takes two units. */
function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
