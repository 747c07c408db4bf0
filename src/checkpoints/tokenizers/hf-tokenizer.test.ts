import { describe, expect, it } from 'vitest'
import { StartError } from '../../core/errors.ts'
import { tokenizerMetadata } from './hf-tokenizer.ts'
import type { JsonObject } from '../files/json-file.ts'

const QWEN2 = String.raw`(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+`
const LLAMA3 = QWEN2.replace(String.raw`|\p{N}|`, String.raw`|\p{N}{1,3}|`)

const SPM_DECODER = { type: 'Sequence', decoders: [{ type: 'ByteFallback' }] }

type Fields = Record<string, unknown>

const special = (id: number, content: string, options: Fields = {}) => ({
  id,
  content,
  special: true,
  ...options,
})
const split = (pattern: string) => ({
  type: 'Sequence',
  pretokenizers: [
    { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false },
    { type: 'ByteLevel', add_prefix_space: false, use_regex: false },
  ],
})
const BOS_TEMPLATE = {
  type: 'TemplateProcessing',
  single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
}

function model(changes: Fields = {}): Fields {
  return { type: 'BPE', vocab: { a: 0, b: 1, Ġ: 2, ab: 3 }, merges: ['a b'], ...changes }
}

function tokenizerJson(changes: Fields = {}): Fields {
  return {
    normalizer: null,
    pre_tokenizer: split(QWEN2),
    post_processor: null,
    decoder: { type: 'ByteLevel' },
    added_tokens: [special(4, '<s>'), special(5, '</s>')],
    model: model(),
    ...changes,
  }
}

interface Files {
  tokenizer?: Fields
  config?: Fields
  tokenizerConfig?: Fields
  generationConfig?: Fields
  chatTemplate?: string
  processorConfig?: Fields
}

function convert(files: Files = {}, vocabSize = 6): Record<string, unknown> {
  const object = (path: string, fields: Fields): JsonObject => ({ path, fields })
  const entries = tokenizerMetadata(
    {
      tokenizer: object('tokenizer.json', files.tokenizer ?? tokenizerJson()),
      config: object('config.json', files.config ?? { bos_token_id: 4, eos_token_id: 5 }),
      tokenizerConfig:
        files.tokenizerConfig === undefined ? null : object('tokenizer_config.json', files.tokenizerConfig),
      generationConfig:
        files.generationConfig === undefined
          ? null
          : object('generation_config.json', files.generationConfig),
      chatTemplate: files.chatTemplate ?? null,
      processorTemplate:
        files.processorConfig === undefined ? null : object('chat_template.json', files.processorConfig),
      pieceModel: null,
    },
    vocabSize,
  )
  return Object.fromEntries(
    entries.map(([key, value]) => [
      key.replace('tokenizer.ggml.', ''),
      value.type === 'array' ? value.items : value.value,
    ]),
  )
}

describe('tokens', () => {
  it('lists base and added tokens by id, and fills up to the size of the model', () => {
    const added = [special(4, '<s>'), special(5, '</s>'), { id: 6, content: '<think>', special: false }]
    const metadata = convert({ tokenizer: tokenizerJson({ added_tokens: added }) }, 9)
    expect(metadata['tokens']).toEqual(['a', 'b', 'Ġ', 'ab', '<s>', '</s>', '<think>', '[PAD7]', '[PAD8]'])
    expect(metadata['token_type']).toEqual([1, 1, 1, 1, 3, 3, 4, 5, 5])
    expect(metadata['model']).toBe('gpt2')
  })

  it('counts turn markers as control tokens even when they are not marked special', () => {
    const added = [special(4, '<s>'), special(5, '</s>'), { id: 6, content: '<|user|>', special: false }]
    expect(convert({ tokenizer: tokenizerJson({ added_tokens: added }) }, 7)['token_type']).toEqual([
      1, 1, 1, 1, 3, 3, 3,
    ])
  })

  it('reads merges in both spellings', () => {
    const pairs = convert({ tokenizer: tokenizerJson({ model: model({ merges: [['a', 'b']] }) }) })
    expect(pairs['merges']).toEqual(['a b'])
    expect(convert()['merges']).toEqual(['a b'])
  })
})

describe('pre-tokenizer', () => {
  const preOf = (preTokenizer: unknown, ignoreMerges = false) =>
    convert({
      tokenizer: tokenizerJson({
        pre_tokenizer: preTokenizer,
        model: model({ ignore_merges: ignoreMerges }),
      }),
    })['pre']
  const byteLevel = { type: 'ByteLevel', add_prefix_space: false }

  it('is found by what it does', () => {
    expect(preOf(split(QWEN2))).toBe('qwen2')
    expect(preOf(split(LLAMA3), true)).toBe('llama-bpe')
    expect(preOf(split(LLAMA3), false)).toBe('smaug-bpe')
    expect(preOf(byteLevel)).toBe('gpt-2')
    expect(
      preOf({ type: 'Sequence', pretokenizers: [{ type: 'Digits', individual_digits: true }, byteLevel] }),
    ).toBe('smollm')
  })

  it('is refused when llama.cpp has none that does the same', () => {
    expect(() => preOf(split('.'))).toThrow('tokenizer.json splits text in a way that is not known')
    expect(() => preOf(split(QWEN2), true)).toThrow('is not known')
    expect(() => preOf({ type: 'Whitespace' })).toThrow('ByteLevel')
    expect(() => preOf({ type: 'ByteLevel', add_prefix_space: true })).toThrow('prefix space')
    expect(() => preOf(null)).toThrow(StartError)
  })
})

describe('special tokens', () => {
  it('come from tokenizer_config.json before config.json', () => {
    const metadata = convert({ tokenizerConfig: { bos_token: '<s>', eos_token: { content: '<s>' } } })
    expect(metadata).toMatchObject({ bos_token_id: 4, eos_token_id: 4, eot_token_id: 5 })
  })

  it('end a text at every end token of generation_config.json', () => {
    const added = [special(4, '<s>'), special(5, '</s>'), special(6, '<|eot|>'), special(7, '<|eom|>')]
    const metadata = convert(
      { tokenizer: tokenizerJson({ added_tokens: added }), generationConfig: { eos_token_id: [5, 6, 7] } },
      8,
    )
    expect(metadata).toMatchObject({ eos_token_id: 5, eot_token_id: 6, eom_token_id: 7 })
    const four = { tokenizer: tokenizerJson(), generationConfig: { eos_token_id: [5, 0, 1, 2] } }
    expect(() => convert(four)).toThrow(
      'generation_config.json cannot be converted: a text would end at 4 tokens that llama.cpp does not know, but it has room for 3.',
    )
  })

  it('end a text at further ones that llama.cpp knows by what they are called', () => {
    const names = ['<s>', '</s>', '<|eot_id|>', '<|eom_id|>', '<|im_end|>', '[END]']
    const added = names.map((text, index) => special(4 + index, text))
    const generationConfig = { eos_token_id: [5, 6, 7, 8, 9] }
    const metadata = convert({ tokenizer: tokenizerJson({ added_tokens: added }), generationConfig }, 10)

    expect(metadata).toMatchObject({ eos_token_id: 5, eot_token_id: 9, eom_token_id: 6 })
  })

  it('end a text at the named end also where another stands behind it, as in Qwen3 Embedding', () => {
    const single = [{ Sequence: { id: 'A', type_id: 0 } }, { SpecialToken: { id: '<s>', type_id: 0 } }]
    const tokenizer = tokenizerJson({ post_processor: { type: 'TemplateProcessing', single } })

    expect(convert({ tokenizer, tokenizerConfig: { eos_token: '</s>' } })).toMatchObject({
      eos_token_id: 4,
      add_eos_token: true,
      eot_token_id: 5,
    })
  })

  it('are added as the post-processor says', () => {
    expect(convert()).toMatchObject({ add_bos_token: false, add_eos_token: false })
    const templated = { tokenizer: tokenizerJson({ post_processor: BOS_TEMPLATE }) }
    expect(convert(templated)).toMatchObject({ add_bos_token: true, add_eos_token: false })
    const nested = { type: 'Sequence', processors: [{ type: 'ByteLevel' }, BOS_TEMPLATE] }
    expect(convert({ tokenizer: tokenizerJson({ post_processor: nested }) })).toMatchObject({
      add_bos_token: true,
    })
    expect(convert({ ...templated, tokenizerConfig: { add_bos_token: false } })).toMatchObject({
      add_bos_token: false,
    })
  })

  it('are left out when nobody names them, except the end of a text', () => {
    expect(convert({ config: { eos_token_id: 5 } })).not.toHaveProperty('bos_token_id')
    expect(() => convert({ config: {} })).toThrow('which token ends a text')
  })
})

describe('chat template', () => {
  it('is that of the file beside the tokenizer, else the configured one', () => {
    const tokenizerConfig = { chat_template: 'configured' }
    expect(convert({ tokenizerConfig, chatTemplate: 'file' })['tokenizer.chat_template']).toBe('file')
    expect(convert({ tokenizerConfig })['tokenizer.chat_template']).toBe('configured')
    const named = [
      { name: 'tool_use', template: 'tools' },
      { name: 'default', template: 'plain' },
    ]
    expect(convert({ tokenizerConfig: { chat_template: named } })).toMatchObject({
      'tokenizer.chat_template': 'plain',
      'tokenizer.chat_templates': ['tool_use'],
      'tokenizer.chat_template.tool_use': 'tools',
    })
    expect(convert({ tokenizerConfig })).not.toHaveProperty('tokenizer.chat_templates')
    expect(convert()).not.toHaveProperty('tokenizer.chat_template')
    const processorConfig = { chat_template: 'of the processor' }
    expect(convert({ processorConfig })['tokenizer.chat_template']).toBe('of the processor')
    expect(convert({ processorConfig, tokenizerConfig })['tokenizer.chat_template']).toBe('configured')
  })
})

describe('what llama.cpp would do differently is refused', () => {
  const refusals: [string, Fields, string][] = [
    [
      'another kind of model',
      { model: model({ type: 'WordLevel' }) },
      'must be "BPE", "WordPiece" or "Unigram", but is "WordLevel"',
    ],
    [
      'bytes without a token',
      { model: model({ byte_fallback: true }), decoder: SPM_DECODER },
      'no token "<0x00>"',
    ],
    [
      'a token that no vocabulary has',
      { model: model({ vocab: { a: 0, [`b${'a'.repeat(1024)}`]: 1 } }) },
      'aa..." is 1025 characters long.',
    ],
    ['affixes', { model: model({ end_of_word_suffix: '</w>' }) }, 'affixes'],
    ['a normalizer', { normalizer: { type: 'Lowercase' } }, 'normalizer'],
    ['another decoder', { decoder: { type: 'WordPiece' } }, 'decoder'],
    [
      'two added tokens around a text',
      { post_processor: { ...BOS_TEMPLATE, single: [...BOS_TEMPLATE.single, ...BOS_TEMPLATE.single] } },
      'more than one special token',
    ],
    ['an unknown post-processor', { post_processor: { type: 'RobertaProcessing' } }, 'post-processor'],
    ['tokens that strip spaces', { added_tokens: [special(4, '<mask>', { lstrip: true })] }, 'strips spaces'],
    [
      'an id beyond the model',
      { model: model({ vocab: { a: 0, b: 6 } }) },
      'token id 6, the model only 6 tokens',
    ],
    ['one text with two ids', { added_tokens: [special(4, '<s>'), special(5, '<s>')] }, 'has two ids'],
    ['merges of nothing', { model: model({ merges: ['a c'] }) }, '"a c" is no merge'],
    ['an id that is no number', { model: model({ vocab: { a: 'x' } }) }, 'token "a" has the id "x"'],
    ['no vocabulary', { model: model({ vocab: {} }) }, 'empty vocabulary'],
  ]
  it.each(refusals)('%s', (_, changes, words) => {
    expect(() => convert({ tokenizer: tokenizerJson(changes) })).toThrow(StartError)
    expect(() => convert({ tokenizer: tokenizerJson(changes) })).toThrow(words)
  })

  it('accepts NFC, which llama.cpp leaves out, and says so where the name of the pre-tokenizer does not', () => {
    const nfcOf = (normalizer: unknown, pattern = QWEN2) => {
      const made = convert({ tokenizer: tokenizerJson({ normalizer, pre_tokenizer: split(pattern) }) })
      return [made['pre'], made['sluice.tokenizer.nfc']]
    }
    const nfc = { type: 'NFC' }
    expect(nfcOf(nfc)).toEqual(['qwen2', undefined])
    expect(nfcOf({ type: 'Sequence', normalizers: [nfc] })).toEqual(['qwen2', undefined])
    expect(nfcOf({ type: 'Sequence', normalizers: [] })).toEqual(['qwen2', false])
    expect(nfcOf(null)).toEqual(['qwen2', false])
    expect(nfcOf(nfc, LLAMA3)).toEqual(['smaug-bpe', true])
    expect(nfcOf(null, LLAMA3)).toEqual(['smaug-bpe', undefined])
  })
})
