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
const pieces = new WordPiece(TEXTS.map((text, id) => ({ id, text, isSpecial: text.startsWith('[') })))
const tokenize = (text: string) => Array.from(pieces.tokenize(text), (id) => TEXTS[id])

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
    ['', []],
  ])('makes of %j what Hugging Face makes of it', (text, expected) => {
    expect(tokenize(text)).toEqual(expected)
  })

  it('calls a word of more than 100 characters unknown, and no other', () => {
    expect(tokenize('a'.repeat(100))).toHaveLength(100)
    expect(tokenize(`${'a'.repeat(101)}.`)).toEqual(['[UNK]', '▁.'])
  })
})
