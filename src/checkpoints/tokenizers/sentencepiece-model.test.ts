import { describe, expect, it } from 'vitest'
import { piece, trainer, varint } from '../../../test/support/checkpoints/sentencepiece-model.ts'
import { StartError } from '../../core/errors.ts'
import { parseSentencePieceModel } from './sentencepiece-model.ts'

const parse = (...parts: readonly number[][]) =>
  parseSentencePieceModel('tokenizer.model', Buffer.from(parts.flat()))

describe('parseSentencePieceModel', () => {
  it('reads texts, scores and types, and passes over what it does not know', () => {
    const unknown = [
      ...[...varint((99 << 3) | 2), ...varint(300), ...Array<number>(300).fill(7)],
      ...[(5 << 3) | 1, ...Array<number>(8).fill(1)],
      ...[4 << 3, 200, 1],
    ]
    expect(parse(piece('<unk>', 0, 2), unknown, piece('▁the', -3.5), trainer(2))).toEqual([
      { text: '<unk>', score: 0, type: 2 },
      { text: '▁the', score: -3.5, type: 1 },
    ])
  })

  it('takes no other kind of model: Unigram is the one when none is named', () => {
    expect(() => parse(piece('a', 0), trainer(1))).toThrow('only those of the kind BPE are')
    expect(() => parse(piece('a', 0))).toThrow('only those of the kind BPE are')
  })

  it('answers damage with one sentence', () => {
    const whole = [...piece('ab', -1), ...trainer(2)]
    for (let end = 0; end < whole.length; end++) expect(() => parse(whole.slice(0, end))).toThrow(StartError)
    expect(() => parse([(1 << 3) | 2, ...varint(2 ** 60)])).toThrow('is truncated or corrupted')
    expect(() => parse(Array<number>(20).fill(0xff))).toThrow('a number in it does not end')
    expect(() => parse([...Buffer.from('#version: 1\n')])).toThrow(StartError)
    expect(() => parse(piece('a', Number.NaN), trainer(2))).toThrow('no usable score')
  })
})
