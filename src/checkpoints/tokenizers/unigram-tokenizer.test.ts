import { describe, expect, it } from 'vitest'
import { readEncoders } from '../../../test/support/checkpoints/reference-encoders.ts'
import { tokenizerMetadata } from './hf-tokenizer.ts'

const reference = (await readEncoders()).find(({ name }) => name.includes('split'))
if (reference === undefined) throw new Error('no encoder with a Unigram tokenizer')
const { tokenizer, tokenizerConfig, config } = reference
const model = tokenizer['model'] as { readonly vocab: readonly unknown[] }
const METASPACE = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'always', split: true }
const COLLAPSE = { type: 'Replace', pattern: { Regex: ' {2,}' }, content: ' ' }

function convert(changes: object = {}, isEncoder = true) {
  const files = {
    tokenizer: { path: 'tokenizer.json', fields: { ...tokenizer, ...changes } },
    config: { path: 'config.json', fields: config },
    tokenizerConfig: { path: 'tokenizer_config.json', fields: tokenizerConfig },
    ...{ generationConfig: null, chatTemplate: null, processorTemplate: null, pieceModel: null },
  }
  return new Map(tokenizerMetadata(files, model.vocab.length + 1, isEncoder))
}

describe('a tokenizer of the Unigram kind', () => {
  it('keeps its scores, its character map and what stands around and between texts', () => {
    const metadata = convert()
    const value = (key: string) => metadata.get(`tokenizer.ggml.${key}`)

    expect(value('model')).toMatchObject({ value: 't5' })
    expect(value('precompiled_charsmap')).toMatchObject({ itemType: 'uint8' })
    const flags = ['add_bos_token', 'add_eos_token', 'add_sep_token'].map(value)
    expect(flags).toMatchObject([{ value: true }, { value: true }, { value: true }])
    const ids = ['bos', 'eos', 'unknown', 'padding', 'seperator'].map((name) => value(`${name}_token_id`))
    expect(ids).toMatchObject([{ value: 0 }, { value: 2 }, { value: 3 }, { value: 1 }, { value: 2 }])
    expect(convert({}, false).has('tokenizer.ggml.add_sep_token')).toBe(false)
  })

  it.each([
    ['words that begin with nothing', { pre_tokenizer: { ...METASPACE, prepend_scheme: 'never' } }],
    ['words that are not split', { pre_tokenizer: { ...METASPACE, split: false } }],
    ['spaces that stay', { pre_tokenizer: METASPACE }],
    ['spaces at the end that stay', { normalizer: COLLAPSE, pre_tokenizer: METASPACE }],
    ['another normalizer', { normalizer: { type: 'Lowercase' } }],
  ])('is refused for %s', (_, changes) => {
    expect(() => convert(changes)).toThrow('it treats spaces in a way that is not known')
  })

  it.each([
    ['no unknown token', { model: { ...model, unk_id: null } }, '"unk_id" of its model must be one of its'],
    [
      'a token without a score',
      { model: { ...model, vocab: [...model.vocab, ['a']] } },
      'there is no score in',
    ],
    [
      'a damaged character map',
      { normalizer: { type: 'Precompiled', precompiled_charsmap: 'AAAA' } },
      '"precompiled_charsmap" holds no character map',
    ],
    [
      'another order of two texts',
      { post_processor: { ...(tokenizer['post_processor'] as object), pair: [] } },
      'other tokens around two texts than around one',
    ],
  ])('is refused for %s', (_, changes, reason) => {
    expect(() => convert(changes)).toThrow(reason)
  })
})
