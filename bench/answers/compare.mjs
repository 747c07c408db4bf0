// @ts-check
/** Where two greedy answers part, and whether the two best tokens were as good as equal there: rounding then chose. */

/** @typedef {{ text: string, logprob: number }} Candidate */
/** Bytes in hexadecimal; `own` without those of tokens before it that were held back. @typedef {{ text: string, own: string, logprob: number, top: Candidate[] }} AnswerToken */
/** @typedef {{ tokens: AnswerToken[], text: string, finishReason: string, promptTokens: number }} Answer */

/**
 * @typedef {object} Comparison
 * @property {'equal' | 'tie' | 'different'} outcome
 * @property {string} [what] differs
 * @property {number} [at] the token
 * @property {[number, number]} [gaps] between the two tokens, in each answer
 * @property {number} logprobDifference the largest, of tokens that both chose from the same text
 */

/** Natural logarithm: batches of another shape round a logit by less, with weights of 4 bits. */
export const TIE_GAP = 0.25

/** @param {Answer} ours @param {Answer} theirs @returns {Comparison} */
export function compareAnswers(ours, theirs) {
  let logprobDifference = 0
  let next = 0
  for (const [at, their] of theirs.tokens.entries()) {
    let our = ours.tokens[next++]
    let text = our?.text ?? ''
    // What theirs held back stands with the token that completes the character.
    while (text.length < their.text.length && their.text.startsWith(text) && next < ours.tokens.length) {
      our = ours.tokens[next++]
      text += our?.text ?? ''
    }
    if (our === undefined) break
    // It also holds back what may begin a stop string.
    if (text !== their.text && our.own !== their.own) {
      /** @type {[number, number]} */
      const gaps = [gapTo(our, their.own), gapTo(their, our.own)]
      const isTie = gaps.every((gap) => gap <= TIE_GAP)
      return { outcome: isTie ? 'tie' : 'different', what: 'token', at, gaps, logprobDifference }
    }
    logprobDifference = Math.max(logprobDifference, Math.abs(our.logprob - their.logprob))
  }
  const differing = /** @type {const} */ (['text', 'finishReason', 'promptTokens']).find(
    (field) => wholeOf(ours[field]) !== wholeOf(theirs[field]),
  )
  if (differing !== undefined) return { outcome: 'different', what: differing, logprobDifference }
  return { outcome: 'equal', logprobDifference }
}

/**
 * Without a character that the last token left incomplete: llama-server writes U+FFFD in its place, we nothing.
 * @param {string | number} given
 */
function wholeOf(given) {
  return typeof given === 'string' ? given.replace(/\uFFFD+$/, '') : given
}

/** How much likelier the chosen token is than another. @param {AnswerToken} token @param {string} other */
function gapTo({ logprob, top }, other) {
  const found = top.find(({ text }) => text === other)
  return found === undefined ? Number.POSITIVE_INFINITY : logprob - found.logprob
}
