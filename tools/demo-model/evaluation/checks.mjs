// @ts-check
/**
 * The checks of `eval-prompts.jsonl`. A check is an object; all of its parts must hold:
 *
 *   has        each of these occurs (a list; "a|b" means one of the two), whatever the case; a number as a whole number
 *   not        none of these occurs
 *   is         the answer is one of these, whatever the case, quotes, and marks at its ends
 *   starts     it begins with one of these
 *   verdict    it begins with this word ("yes" or "no"), or ends with it after "so"
 *   pattern    a regular expression finds something
 *   numbers    the whole numbers in the answer are these, in this order
 *   words      so many words; max_words: at most
 *   lines      so many lines that are not empty
 *   json       the answer is JSON (a code fence around it is fine) with just these keys; for a list "array": n
 *   values     what some of the keys hold
 *   refuses    says that it does not know or cannot (true), or does not say so (false)
 *   calls      tool calls: [{ name, arguments }], in any order; [] for none
 */

/** @typedef {{ name: string, arguments: unknown }} Call */
/** `text` ends with the calls, each in `<tool_call>` tags. @typedef {{ text: string, calls: readonly Call[] }} Answer */

const REFUSAL = new RegExp(
  [
    ...["do not know|don't know|not know|cannot|can't|can not|unable|too small|too hard|too big"],
    ...['only (speak|understand|do small|a small|a toy|know|remember|read)|no opinion|small (demo )?model'],
    ...['never heard|will not help|do not help|does not say|not told|sorry|know (nothing|no|too little)'],
    ...['no tool|none of my tools|not for me|i have no |do not understand|did not understand|--checkpoint'],
    ...['please ask a doctor'],
  ].join('|'),
  'i',
)

/** @type {Readonly<Record<string, (want: any, answer: Answer) => boolean>>} */
const CHECKS = {
  has: (want, { text }) =>
    want.every((/** @type {string} */ one) => one.split('|').some((word) => occurs(word, text))),
  not: (want, { text }) => !want.some((/** @type {string} */ word) => contains(text, word)),
  is: (want, { text }) => want.map(bare).includes(bare(text)),
  starts: (want, { text }) =>
    want.some((/** @type {string} */ start) =>
      text
        .replace(/^["'` ]+/, '')
        .toLowerCase()
        .startsWith(start.toLowerCase()),
    ),
  verdict: (want, { text }) => new RegExp(`^\\W*${want}\\b|\\bso ${want}\\W*$`, 'i').test(text),
  pattern: (want, { text }) => new RegExp(want, 'is').test(text),
  numbers: (want, { text }) => isSame([...text.matchAll(/\d+/g)].map(Number), want),
  words: (want, { text }) => wordsOf(text).length === want,
  max_words: (want, { text }) => wordsOf(text).length <= want,
  lines: (want, { text }) => text.split('\n').filter((line) => line.trim() !== '').length === want,
  json: (want, { text }) => {
    const value = parsed(text)
    return isRecord(value) && isSameSet(Object.keys(value), want)
  },
  array: (want, { text }) => {
    const value = parsed(text)
    return Array.isArray(value) && value.length === want
  },
  values: (want, { text }) => {
    const value = parsed(text)
    return (
      isRecord(value) &&
      Object.entries(want).every(([name, one]) => name in value && isSame(value[name], one))
    )
  },
  refuses: (want, { text }) => REFUSAL.test(text) === want,
  calls: (want, { calls }) =>
    calls.length === want.length &&
    calls.every((call) => want.some((/** @type {Call} */ one) => isSame({ ...call }, { ...one }))),
}

/** @param {Readonly<Record<string, unknown>>} check @param {Answer} answer */
export function passes(check, answer) {
  return Object.entries(check).every(([kind, want]) => {
    const holds = CHECKS[kind]
    if (holds === undefined) throw new Error(`There is no check '${kind}'.`)
    return holds(want, answer)
  })
}

/** @param {string} text @param {string} word */
function contains(text, word) {
  return text.toLowerCase().includes(word.toLowerCase())
}

/** @param {string} word @param {string} text */
function occurs(word, text) {
  return /^\d+$/.test(word)
    ? new RegExp(`(?<![\\d.,])${word}(?!\\d|[.,]\\d)`).test(text)
    : contains(text, word)
}

/** @param {string} text */
function bare(text) {
  return text.replaceAll(/^[\s"'`.!?*]+|[\s"'`.!?*]+$/g, '').toLowerCase()
}

/** @param {string} text */
function wordsOf(text) {
  return text.split(/\s+/).filter((word) => word !== '')
}

/** Null for what is no JSON. @param {string} text @returns {unknown} */
function parsed(text) {
  try {
    return JSON.parse(text.trim().replaceAll(/^```\w*\n|\n```$/g, ''))
  } catch {
    return null
  }
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** @param {readonly string[]} names @param {readonly string[]} others */
function isSameSet(names, others) {
  return names.length === others.length && others.every((name) => names.includes(name))
}

/** Equal, whatever the case of texts; 5 is "5". @param {unknown} one @param {unknown} other @returns {boolean} */
function isSame(one, other) {
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((value, index) => isSame(value, other[index]))
  if (isRecord(one) && isRecord(other))
    return (
      Object.keys(one).length === Object.keys(other).length &&
      Object.entries(one).every(([name, value]) => name in other && isSame(value, other[name]))
    )
  return String(one).trim().toLowerCase() === String(other).trim().toLowerCase()
}
