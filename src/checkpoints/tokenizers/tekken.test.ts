/** What a tekken.json may have wrong. That it makes the right tokens is in `test/model/tekken.test.ts`. */
import { describe, expect, it } from 'vitest'
import { createRandom, mutateJson } from '../../../test/support/checkpoints/mutations.ts'
import { lengthOf } from '../../../test/support/length-of.ts'
import { StartError } from '../../core/errors.ts'
import { tokenizerMetadata } from './hf-tokenizer.ts'
import { isTekken, readTekken } from './tekken.ts'

const DAMAGED = lengthOf({ test: 300, soak: 40_000 })

const LETTER = String.raw`[^\r\n\p{L}\p{N}]?`
const [UPPER, LOWER] = [String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`, String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`]
const PATTERN = String.raw`${LETTER}${UPPER}*${LOWER}+|${LETTER}${UPPER}+${LOWER}*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+`
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
    [{ config: { ...CONFIG, version: 'next' } }, 'and its version "next".'],
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
    [{ vocab: vocab('a', 'b', 'x'.repeat(1025)) }, 'xx..." is 1025 characters long.'],
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

it(`answers ${DAMAGED} damaged files with metadata or one sentence`, () => {
  const whole = JSON.stringify({
    config: { ...CONFIG, pattern: PATTERN },
    vocab: vocab('a', 'b', 'ab', 'abb'),
    special_tokens: ['<unk>', '<s>', '</s>'].map((token_str, rank) => ({
      rank,
      token_str,
      is_control: true,
    })),
  })
  const counts = { taken: 0, refused: 0 }
  for (let seed = 1; seed <= DAMAGED; seed++) {
    try {
      const fields = JSON.parse(mutateJson(whole, createRandom(seed)))
      const none = {
        config: { path: 'config.json', fields: {} },
        tokenizerConfig: null,
        generationConfig: null,
      }
      const others = { chatTemplate: null, processorTemplate: null, pieceModel: null }
      tokenizerMetadata({ ...none, ...others, tokenizer: { path: 'tekken.json', fields } }, 6)
      counts.taken++
    } catch (error) {
      if (error instanceof SyntaxError) continue // no JSON any more, which reading refuses
      if (!(error instanceof StartError)) throw new Error(`seed ${seed}`, { cause: error })
      expect(error.message).toMatch(/^[^\n]{1,2000}\.$/)
      counts.refused++
    }
  }
  expect(counts.refused).toBeGreaterThan(DAMAGED / 4)
  expect(counts.taken).toBeGreaterThan(DAMAGED / 50)
})
