/** What a tekken.json may have wrong. That it makes the right tokens is in `test/model/tekken.test.ts`. */
import { describe, expect, it } from 'vitest'
import { isTekken, readTekken } from './tekken.ts'

const CONFIG = { pattern: 'a', version: 'v13', default_num_special_tokens: 3, default_vocab_size: 6 }
const vocab = (...tokens: string[]) =>
  tokens.map((token, rank) => ({
    rank,
    token_bytes: Buffer.from(token).toString('base64'),
    token_str: token,
  }))
const file = (changes: object = {}) => ({
  path: 'tekken.json',
  fields: { config: CONFIG, vocab: vocab('a', 'b', 'ab', 'abb'), ...changes },
})

describe('readTekken', () => {
  it('puts the special tokens first, and leaves out the ranks that the vocabulary has no room for', () => {
    const special_tokens = [{ rank: 1, token_str: '<s>', is_control: true }]
    const { tokenizer, specialTokens } = readTekken(file({ special_tokens }))
    expect(specialTokens).toEqual(['<SPECIAL_0>', '<s>', '<SPECIAL_2>'])
    expect(tokenizer.fields['model']).toMatchObject({ vocab: { a: 3, b: 4, ab: 5 }, merges: [['a', 'b']] })
  })

  it('merges any two tokens that make a third, by the rank of that', () => {
    const config = { ...CONFIG, default_vocab_size: 8 }
    const { tokenizer } = readTekken(file({ config, vocab: vocab('a', 'b', 'bb', 'ab', 'abb') }))
    const merges = [
      ['b', 'b'],
      ['a', 'b'],
      ['a', 'bb'],
      ['ab', 'b'],
    ]
    expect(tokenizer.fields['model']).toMatchObject({ merges })
  })

  it.each([
    [
      { config: { ...CONFIG, pattern: 7 } },
      'tekken.json is corrupted: its pattern is 7 and its version "v13".',
    ],
    [
      { config: { ...CONFIG, default_vocab_size: -1 } },
      'tekken.json is corrupted: its "default_vocab_size" is -1.',
    ],
    [{ config: { ...CONFIG, default_vocab_size: 9 } }, 'tekken.json is corrupted: it has 4 tokens of 6.'],
    [{ vocab: vocab('a', 'b', '') }, 'is not its token of rank 2.'],
    [{ vocab: [...vocab('a', 'b'), { rank: 7, token_bytes: 'YQ==' }] }, 'is not its token of rank 2.'],
    [{ special_tokens: [{ rank: 3, token_str: '<s>' }] }, 'is none of its 3 special tokens.'],
  ])('refuses %j', (changes, sentence) => {
    expect(() => readTekken(file(changes))).toThrow(sentence)
  })
})

it('takes no tokenizer.json for a tekken.json', () => {
  expect(isTekken(file())).toBe(true)
  expect(isTekken(file({ model: {} }))).toBe(false)
  expect(isTekken({ path: 'tokenizer.json', fields: { model: { vocab: [] } } })).toBe(false)
})
