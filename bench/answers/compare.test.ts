import { describe, expect, it } from 'vitest'
import { compareAnswers } from './compare.mjs'

const hex = (text: string) => Buffer.from(text).toString('hex')

function token(text: string, logprob: number, others: Readonly<Record<string, number>> = {}) {
  const top = Object.entries({ [text]: logprob, ...others }).map(([one, value]) => ({
    text: hex(one),
    logprob: value,
  }))
  return { text: hex(text), own: hex(text), logprob, top }
}

function answer(tokens: ReturnType<typeof token>[], changes = {}) {
  const text = Buffer.from(tokens.map((one) => one.text).join(''), 'hex').toString()
  return { tokens, text, finishReason: 'length', promptTokens: 3, ...changes }
}

describe('compareAnswers', () => {
  it('takes the same tokens for equal, and tells how far their log probabilities are apart', () => {
    const compared = compareAnswers(
      answer([token('a', -1), token('b', -2)]),
      answer([token('a', -1.5), token('b', -2)]),
    )
    expect(compared).toEqual({ outcome: 'equal', logprobDifference: 0.5 })
  })

  it.each([
    [-1.1, -1.2, 'tie'],
    [-1.1, -2, 'different'],
    [-2, -1.1, 'different'],
  ])('calls it a tie where both had the two as good as equal: %d and %d', (ourOther, theirOther, outcome) => {
    const ours = answer([token('x', -0.1), token('a', -1, { b: ourOther })])
    const theirs = answer([token('x', -0.1), token('b', -1, { a: theirOther })])
    expect(compareAnswers(ours, theirs)).toMatchObject({ outcome, what: 'token', at: 1 })
  })

  it('is no tie where one did not think of the token of the other', () => {
    const compared = compareAnswers(answer([token('a', -1)]), answer([token('b', -1, { a: -1.1 })]))
    expect(compared).toMatchObject({
      outcome: 'different',
      gaps: [Number.POSITIVE_INFINITY, expect.closeTo(0.1)],
    })
  })

  it('reads a character that one gives in one piece and the other in two', () => {
    const [first, second] = [hex('é').slice(0, 2), hex('é').slice(2)]
    const part = (text: string) => ({ text, own: text, logprob: -1, top: [] })
    const ours = answer([part(first), part(second)], { text: 'é' })
    const theirs = answer([{ ...part(hex('é')), own: second }], { text: 'é' })
    expect(compareAnswers(ours, theirs)).toEqual({ outcome: 'equal', logprobDifference: 0 })
  })

  it('takes a last character that is not whole for none, which llama-server replaces', () => {
    const [ours, theirs] = ['a', 'a\uFFFD'].map((text) => answer([token('a', -1)], { text }))
    expect(compareAnswers(ours ?? answer([]), theirs ?? answer([]))).toMatchObject({ outcome: 'equal' })
  })

  it.each(['text', 'finishReason', 'promptTokens'])('tells of another %s after the same tokens', (what) => {
    const compared = compareAnswers(answer([token('a', -1)]), answer([token('a', -1)], { [what]: 'other' }))
    expect(compared).toMatchObject({ outcome: 'different', what })
  })
})
