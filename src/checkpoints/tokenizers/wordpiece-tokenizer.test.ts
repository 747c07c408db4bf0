import { describe, expect, it } from 'vitest'
import { TOKENIZER, VOCABULARY } from '../../../test/support/checkpoints/tiny-bert.ts'
import { tokenizerMetadata } from './hf-tokenizer.ts'

function convert(changes: object = {}) {
  const files = {
    tokenizer: { path: 'tokenizer.json', fields: { ...TOKENIZER, ...changes } },
    config: { path: 'config.json', fields: {} },
    tokenizerConfig: null,
    generationConfig: null,
    chatTemplate: null,
    processorTemplate: null,
    pieceModel: null,
  }
  const metadata = new Map(tokenizerMetadata(files, VOCABULARY.length))
  const items = (key: string) => {
    const value = metadata.get(key)
    return value?.type === 'array' ? Array.from(value.items as Iterable<unknown>) : []
  }
  const number = (key: string) => {
    const value = metadata.get(key)
    return value?.type === 'uint32' ? value.value : null
  }
  const flag = (key: string) => {
    const value = metadata.get(key)
    return value?.type === 'bool' ? value.value : null
  }
  return { items, number, flag }
}

const normalizer = (changes: object) => ({ normalizer: { ...TOKENIZER.normalizer, ...changes } })

describe("a tokenizer of BERT's kind", () => {
  it('marks the tokens that begin a word, and not those that continue one', () => {
    const { items } = convert()

    expect(items('tokenizer.ggml.tokens').slice(0, 12)).toEqual([
      ...['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]'],
      ...['▁the', '▁quick', '▁brown', '▁fox', '▁un', 'believ', 'able'],
    ])
    expect(items('tokenizer.ggml.token_type').slice(0, 6)).toEqual([3, 3, 3, 3, 3, 1])
  })

  it('names its special tokens', () => {
    const { number } = convert({
      post_processor: {
        type: 'TemplateProcessing',
        single: [
          { SpecialToken: { id: '[CLS]' } },
          { Sequence: { id: 'A' } },
          { SpecialToken: { id: '[SEP]' } },
        ],
      },
    })

    const keys = ['bos', 'seperator', 'padding', 'unknown', 'mask']
    expect(keys.map((key) => number(`tokenizer.ggml.${key}_token_id`))).toEqual([2, 3, 0, 1, 4])
  })

  it.each([
    [{ lowercase: true, strip_accents: null }, [true, true]],
    [{ lowercase: true, strip_accents: false }, [true, false]],
    [{ lowercase: false, strip_accents: null }, [false, false]],
    [{ lowercase: false, strip_accents: true }, [false, true]],
  ])('lowers case and strips accents by %j', (changes, expected) => {
    const { flag } = convert(normalizer(changes))
    expect(['lowercase', 'strip_accents'].map((key) => flag(`tokenizer.ggml.normalizer.${key}`))).toEqual(
      expected,
    )
  })

  it.each([
    ['another normalizer', { normalizer: { type: 'NFC' } }, 'its normalizer must be "BertNormalizer"'],
    [
      'Chinese words',
      normalizer({ handle_chinese_chars: false }),
      '"handle_chinese_chars" of its normalizer must be true, but is false',
    ],
    ['control characters', normalizer({ clean_text: false }), '"clean_text" of its normalizer must be true'],
    ['a flag that is none', normalizer({ lowercase: 'yes' }), '"lowercase" must be true or false'],
    ['another pre-tokenizer', { pre_tokenizer: { type: 'Whitespace' } }, 'must be "BertPreTokenizer"'],
    ['no special tokens', { post_processor: null }, 'must put [CLS] in front and [SEP] behind'],
    [
      'another mark',
      { model: { ...TOKENIZER.model, continuing_subword_prefix: '@@' } },
      'continued with "@@"',
    ],
  ])('is refused for %s', (_, changes, reason) => {
    expect(() => convert(changes)).toThrow(reason)
  })

  it('is refused without its special tokens', () => {
    const vocab = { a: 0, '[UNK]': 1, '[CLS]': 2 }
    const changes = { model: { ...TOKENIZER.model, vocab }, added_tokens: [] }
    expect(() => convert(changes)).toThrow('it has no token "[SEP]"')
  })
})
