import { describe, expect, it } from 'vitest'
import { Unigram } from './unigram.ts'

const SCORES: readonly (readonly [text: string, score: number])[] = [
  ['<s>', 0],
  ['<unk>', 0],
  ['▁', -4],
  ['▁a', -2],
  ['a', -3],
  ['b', -3],
  ['▁ab', -6],
  ['▁abb', -7.5],
  ['▁ba', -6],
  ['😀', -5],
]
const tokens = SCORES.map(([text, score], id) => ({
  ...{ id, text, score },
  isSpecial: text.startsWith('<'),
  isUnknown: text === '<unk>',
}))
const unigram = (splitsAtWhitespace: boolean) =>
  new Unigram(tokens, { characterMap: null, splitsAtWhitespace })
const tokenize = (text: string, made = unigram(true)) =>
  Array.from(made.tokenize(text), (id) => tokens[id]?.text)

describe('a Unigram tokenizer', () => {
  it.each([
    ['a', ['▁a']],
    ['ab', ['▁a', 'b']],
    ['abb', ['▁abb']],
    [' a  b\n', ['▁a', '▁', 'b']],
    ['a▁a', ['▁a', '▁a']],
    ['a<s>a', ['▁a', '<s>', '▁a']],
    ['xyz', ['▁', '<unk>']],
    ['axa', ['▁a', '<unk>', 'a']],
    ['😀🚀', ['▁', '😀', '<unk>']],
    ['', []],
    [' ', []],
  ])('makes of %j what Hugging Face makes of it', (text, expected) => {
    expect(tokenize(text)).toEqual(expected)
    expect(tokenize(text)).toEqual(tokenize(text))
  })

  it('ends words at spaces only where its checkpoint says so', () => {
    expect(tokenize('a\ta ', unigram(false))).toEqual(['▁a', '<unk>', 'a'])
    expect(tokenize('a\ta ', unigram(true))).toEqual(['▁a', '▁a'])
  })

  it('takes time in proportion to the whitespace of a text', () => {
    const text = `${'\n'.repeat(500_000)}a${'\n'.repeat(500_000)}`
    expect(tokenize(text, unigram(false))).toEqual(['▁', '<unk>', 'a'])
  })

  it('makes the same of a text in slices as of the whole', () => {
    const text = 'ab abb  ba '.repeat(3000)
    const made = unigram(false)

    const slices = [...made.slices(text)]

    expect(slices.length).toBeGreaterThan(2)
    expect(slices.join('')).toBe(text)
    expect(slices.flatMap((slice) => [...made.tokenize(slice)])).toEqual([...made.tokenize(text)])
  })
})
