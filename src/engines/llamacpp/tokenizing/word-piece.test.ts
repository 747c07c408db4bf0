import { describe, expect, it } from 'vitest'
import { WordPiece } from './word-piece.ts'

const TEXTS = [
  '[UNK]',
  '[SEP]',
  '▁hel',
  'lo',
  '▁.',
  '▁ज',
  'ि',
  '▁ᄆ',
  'ᅵ',
  'ᆫ',
  '▁漢',
  '▁σ',
  'ς',
  'σ',
  '▁i',
  '▁a',
  'a',
]
const TOKENS = TEXTS.map((text, id) => ({
  ...{ id, text },
  isSpecial: text.startsWith('['),
  isUnknown: text === '[UNK]',
}))
const pieces = new WordPiece(TOKENS, { lowersCase: true, stripsAccents: true })
const textsOf = (made: WordPiece, text: string) => Array.from(made.tokenize(text), (id) => TEXTS[id])
const tokenize = (text: string) => textsOf(pieces, text)

describe("BERT's tokenizer", () => {
  it.each([
    ['Hello.', ['▁hel', 'lo', '▁.']],
    ['  hél\u00adlo\n', ['▁hel', 'lo']],
    ['e\u0301', ['[UNK]']],
    ['जि', ['▁ज', 'ि']],
    ['민', ['▁ᄆ', 'ᅵ', 'ᆫ']],
    ['漢漢', ['▁漢', '▁漢']],
    ['ΣΣ', ['▁σ', 'σ']],
    ['İ', ['▁i']],
    ['hello[SEP]hel [sep]', ['▁hel', 'lo', '[SEP]', '▁hel', '[UNK]', '[UNK]', '[UNK]']],
    ['helx hello', ['[UNK]', '▁hel', 'lo']],
    // The mark of GGUF's tokens stands in no text.
    ['hel▁a', ['[UNK]']],
    ['', []],
  ])('makes of %j what Hugging Face makes of it', (text, expected) => {
    expect(tokenize(text)).toEqual(expected)
  })

  it('calls a word of more than 100 characters unknown, and no other', () => {
    expect(tokenize('a'.repeat(100))).toHaveLength(100)
    expect(tokenize(`${'a'.repeat(101)}.`)).toEqual(['[UNK]', '▁.'])
  })

  it.each([
    [{ lowersCase: false, stripsAccents: false }, ['[UNK]', '▁hel', 'lo', '[UNK]']],
    [{ lowersCase: false, stripsAccents: true }, ['[UNK]', '▁hel', 'lo', '▁hel', 'lo']],
    [{ lowersCase: true, stripsAccents: false }, ['▁hel', 'lo', '▁hel', 'lo', '[UNK]']],
  ])('lowers case and strips accents only where it is to: %j', (options, expected) => {
    expect(textsOf(new WordPiece(TOKENS, options), 'Hello hello héllo')).toEqual(expected)
  })
})
