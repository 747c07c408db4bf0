import { describe, expect, it } from 'vitest'
import { piece, trainer } from '../../../test/support/checkpoints/sentencepiece-model.ts'
import { tokenizerMetadata } from './hf-tokenizer.ts'

type Fields = Record<string, unknown>

const BYTES = Array.from(
  { length: 256 },
  (_, byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`,
)
const REPLACE = { type: 'Replace', pattern: { String: ' ' }, content: '▁' }
const PREPEND = { type: 'Prepend', prepend: '▁' }
const EVERY_TEXT = { type: 'Sequence', normalizers: [PREPEND, REPLACE] }
const METASPACE = { type: 'Metaspace', replacement: '▁', prepend_scheme: 'first', split: false }
const SPLIT = { type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false }
const MERGES = ['▁ a', 'a b', '▁a b', '▁ ab']

const special = (id: number, content: string, options: Fields = {}) => ({
  id,
  content,
  special: true,
  ...options,
})

function idsOf(tokens: readonly string[]): Fields {
  return Object.fromEntries(tokens.map((token, id) => [token, id]))
}

const PIECES = ['<unk>', '<s>', '</s>', ...BYTES, '▁a', 'ab', '▁ab', '▁', 'a', 'b']
const FIRST = 3 + BYTES.length

function model(changes: Fields = {}): Fields {
  const vocab = idsOf(PIECES)
  return { type: 'BPE', byte_fallback: true, unk_token: '<unk>', vocab, merges: MERGES, ...changes }
}

interface Changes {
  readonly tokenizer?: Fields
  readonly config?: Fields
  readonly vocabSize?: number
  /** tokenizer.model */
  readonly pieces?: Buffer
}

function convert({ tokenizer = {}, config = {}, vocabSize = PIECES.length, pieces }: Changes = {}): Fields {
  const fields = {
    normalizer: EVERY_TEXT,
    pre_tokenizer: null,
    decoder: { type: 'Sequence', decoders: [{ type: 'ByteFallback' }] },
    added_tokens: [special(0, '<unk>'), special(1, '<s>'), special(2, '</s>')],
    model: model(),
    ...tokenizer,
  }
  const entries = tokenizerMetadata(
    {
      tokenizer: { path: 'tokenizer.json', fields },
      config: { path: 'config.json', fields: { bos_token_id: 1, eos_token_id: 2, ...config } },
      tokenizerConfig: null,
      generationConfig: null,
      chatTemplate: null,
      processorTemplate: null,
      pieceModel: pieces === undefined ? null : { path: 'tokenizer.model', bytes: pieces },
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

describe('scores', () => {
  it('are the ranks of the merges, in which all ways to a token stand together', () => {
    const scores = convert()['scores'] as number[]
    expect(scores.slice(FIRST, FIRST + 3)).toEqual([-1, -2, -3])
    expect(new Set(scores.slice(FIRST + 3))).toEqual(new Set([-5]))
  })

  it('cannot be had from merges of another kind', () => {
    const refuse = (merges: unknown) => () => convert({ tokenizer: { model: model({ merges }) } })
    expect(refuse(['▁ a', 'a b', '▁a b'])).toThrow(
      'tokenizer.json cannot be converted: its merges, those for "▁ab" for one, are not those of a SentencePiece model.',
    )
    expect(refuse(['▁ a', '▁a b', 'a b', '▁ ab'])).toThrow('those for "▁ab"')
  })

  it('are those of tokenizer.model where it lies beside, whatever the order of the tokens', () => {
    const scoreOf = (id: number) => (id < FIRST ? 0 : -((id * 7) % 5) - 0.5)
    const typeOf = (token: string, id: number) => (id === 0 ? 2 : id < 3 ? 3 : BYTES.includes(token) ? 6 : 1)
    const parts = PIECES.map((token, id) => piece(token, scoreOf(id), typeOf(token, id)))
    const scores = convert({ pieces: Buffer.from([...parts, trainer(2)].flat()) })['scores']
    expect(scores).toEqual(PIECES.map((_, id) => scoreOf(id)))
  })

  it('ask nothing of the merges of added tokens', () => {
    const added_tokens = [special(1, '<s>'), { id: FIRST + 1, content: 'ab', special: false }]
    const merges = ['▁ a', '▁a b', 'a b', '▁ ab']
    expect(() => convert({ tokenizer: { added_tokens, model: model({ merges }) } })).not.toThrow()
  })
})

describe('types', () => {
  it('tell bytes, the unknown token and special ones apart', () => {
    const types = convert()['token_type'] as number[]
    expect([types[0], types[1], types[3], types[258], types[FIRST]]).toEqual([2, 3, 6, 6, 1])
  })

  it('write spaces for marks in tokens that are found before merges', () => {
    const added_tokens = [special(1, '<s>'), { id: FIRST + 6, content: '▁▁', special: false }]
    const made = convert({ tokenizer: { added_tokens }, vocabSize: PIECES.length + 1 })
    expect((made['tokens'] as string[]).at(-1)).toBe('  ')
    expect((made['token_type'] as number[]).at(-1)).toBe(4)
  })

  it('leave out added tokens that the model has no embedding of', () => {
    const added_tokens = [special(1, '<s>'), special(9999, '<image>')]
    expect(convert({ tokenizer: { added_tokens } })['tokens']).toHaveLength(PIECES.length)
    // Some files list them among those of the model as well.
    const vocab = { ...idsOf(PIECES), '<image>': 9999 }
    const made = convert({ tokenizer: { added_tokens, model: model({ vocab }) } })
    expect(made['tokens']).toHaveLength(PIECES.length)
    expect(made['scores']).toHaveLength(PIECES.length)
    expect(() => convert({ tokenizer: { model: model({ vocab }) } })).toThrow('it has token id 9999')
  })
})

describe('spaces in front', () => {
  const prefixOf = (normalizer: unknown, pre_tokenizer: unknown) => {
    const made = convert({ tokenizer: { normalizer, pre_tokenizer } })
    return [made['add_space_prefix'], made['sluice.tokenizer.space_at_start']]
  }

  it('are put before every text, at the start only, or nowhere', () => {
    expect(prefixOf(EVERY_TEXT, null)).toEqual([true, undefined])
    expect(prefixOf(REPLACE, SPLIT)).toEqual([false, undefined])
    expect(prefixOf({ type: 'Sequence', normalizers: [REPLACE] }, null)).toEqual([false, undefined])
    expect(prefixOf(null, METASPACE)).toEqual([true, true])
    expect(prefixOf(null, { ...METASPACE, prepend_scheme: 'never' })).toEqual([false, undefined])
  })

  it('are refused when llama.cpp and our engine have no such rule', () => {
    const words = 'treats spaces in a way that is not known'
    expect(() => prefixOf(null, { ...METASPACE, prepend_scheme: 'always' })).toThrow(words)
    expect(() => prefixOf(null, { ...METASPACE, split: true })).toThrow(words)
    expect(() => prefixOf({ type: 'NFKC' }, null)).toThrow(words)
    expect(() => prefixOf(null, null)).toThrow(words)
    expect(() => prefixOf(EVERY_TEXT, METASPACE)).toThrow(words)
  })
})

describe('tokens that take the spaces behind them', () => {
  const phi3 = (changes: Fields = {}) => {
    const texts = ['<unk>', '<s>', '</s>', '<|endoftext|>', '<|end|>']
    const stripping = (text: string) => text === '</s>' || text === '<|end|>'
    const added_tokens = texts.map((text, at) =>
      special(at < 3 ? at : PIECES.length + at - 3, text, { rstrip: changes[text] ?? stripping(text) }),
    )
    return convert({ tokenizer: { added_tokens }, vocabSize: PIECES.length + 2 })
  }

  it('are those of Phi-3, which llama.cpp knows by name', () => {
    expect(phi3()['general.name']).toBe('phi-3')
    expect(convert()).not.toHaveProperty('general.name')
  })

  it('are refused elsewhere', () => {
    expect(() => phi3({ '<|endoftext|>': true })).toThrow(
      'added token "<|endoftext|>" strips spaces or wants whole words, unlike in Phi-3.',
    )
    expect(() => phi3({ '</s>': false })).toThrow('unlike in Phi-3')
    const added_tokens = [special(1, '<s>'), special(2, '</s>', { rstrip: true })]
    expect(() => convert({ tokenizer: { added_tokens } })).toThrow('added token "</s>" strips spaces')
  })
})

describe('what llama.cpp would do differently is refused', () => {
  const refusals: [string, Changes, string][] = [
    ['another decoder', { tokenizer: { decoder: { type: 'ByteLevel' } } }, 'its decoder is'],
    ['ignored merges', { tokenizer: { model: model({ ignore_merges: true }) } }, 'ignores merges'],
    [
      'a byte without a token',
      { tokenizer: { model: model({ vocab: idsOf(PIECES.filter((piece) => piece !== '<0x41>')) }) } },
      'has no token "<0x41>"',
    ],
    ['no token to begin with', { config: { bos_token_id: null } }, 'which token begins a text'],
    [
      'Unigram that writes bytes',
      { tokenizer: { model: model({ type: 'Unigram' }) } },
      '"byte_fallback" of its model must be false, but is true',
    ],
  ]
  it.each(refusals)('%s', (_, changes, words) => {
    expect(() => convert(changes)).toThrow(words)
  })
})
