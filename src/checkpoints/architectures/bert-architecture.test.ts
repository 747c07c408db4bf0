import { describe, expect, it } from 'vitest'
import { planArchitecture } from './hf-architectures.ts'
import { matryoshkaMetadata, poolingMetadata } from './pooling.ts'

const CONFIG = {
  architectures: ['BertModel'],
  hidden_size: 32,
  intermediate_size: 64,
  num_hidden_layers: 1,
  num_attention_heads: 4,
  max_position_embeddings: 64,
  vocab_size: 100,
}
const RERANKER = {
  architectures: ['BertForSequenceClassification'],
  type_vocab_size: 1,
  id2label: { 0: 'LABEL_0' },
}
const plan = (changes: object = {}) =>
  planArchitecture({ path: 'config.json', fields: { ...CONFIG, ...changes } })
const pooling = (fields: Record<string, unknown>, changes: object = {}) =>
  poolingMetadata(plan(changes), { path: '1_Pooling/config.json', fields })

describe('BERT', () => {
  it.each([
    [{ hidden_act: 'relu' }, '"hidden_act" must be "gelu", but is "relu"'],
    [{ position_embedding_type: 'relative_key' }, '"position_embedding_type" must be "absolute"'],
    [{ num_attention_heads: 5 }, '5 attention heads do not share "hidden_size" 32'],
    [{ ...RERANKER, id2label: { 0: 'a', 1: 'b' } }, 'it sorts texts into 2 classes'],
  ])('is refused with %j', (changes, reason) => {
    expect(() => plan(changes)).toThrow(reason)
  })

  it('has word embeddings for both segments where it reranks and was trained with two', () => {
    const shapeOf = (changes: object) =>
      plan(changes).tensors.find(({ name }) => name === 'token_embd.weight')?.shape

    expect(shapeOf({ ...RERANKER, type_vocab_size: 2 })).toEqual([200, 32])
    expect(shapeOf(RERANKER)).toEqual([100, 32])
    expect(shapeOf({ type_vocab_size: 2 })).toEqual([100, 32])
  })

  it('has no positions in front of that of padding where it is a RoBERTa', () => {
    const roberta = (changes: object) => plan({ architectures: ['XLMRobertaModel'], ...changes })
    const contextOf = (changes: object) => new Map(roberta(changes).metadata).get('bert.context_length')

    expect(contextOf({})).toMatchObject({ value: 62 })
    expect(contextOf({ pad_token_id: 4 })).toMatchObject({ value: 59 })
    expect(() => roberta({ pad_token_id: 63 })).toThrow('"pad_token_id" must be a whole number from 0 to 62')
  })

  it('pools the mean unless a file beside it says otherwise', () => {
    const own = new Map(plan().metadata).get('bert.pooling_type')
    expect(own).toMatchObject({ value: 1 })
    expect(pooling({ pooling_mode_cls_token: true })).toMatchObject([['bert.pooling_type', { value: 2 }]])
    expect(pooling({ pooling_mode_lasttoken: true }, RERANKER)).toEqual([])
  })

  it.each([
    [{ pooling_mode_max_tokens: true }, 'but pooling_mode_max_tokens is'],
    [{ pooling_mode_cls_token: true, pooling_mode_mean_tokens: true }, 'pooling_mode_mean_tokens are'],
    [{}, 'but none is'],
  ])('is refused with the pooling %j', (fields, reason) => {
    expect(() => pooling(fields)).toThrow(reason)
  })

  it('may be cut to the lengths that its config names', () => {
    const lengths = (fields: Record<string, unknown>) => matryoshkaMetadata({ path: 'config.json', fields })

    expect(lengths({})).toEqual([])
    expect(lengths({ is_matryoshka: true })[0]?.[1]).toMatchObject({ value: 'any' })
    expect(lengths({ matryoshka_dimensions: [8, 16] })[0]?.[1]).toMatchObject({ value: '8,16' })
    expect(() => lengths({ matryoshka_dimensions: [0] })).toThrow('"matryoshka_dimensions" holds 0')
  })
})
