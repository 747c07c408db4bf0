import { describe, expect, it } from 'vitest'
import { kvElementsPerToken } from './kv-elements.ts'

const SHAPE: Record<string, number | readonly number[]> = {
  block_count: 4,
  embedding_length: 64,
  'attention.head_count': 4,
  'attention.head_count_kv': 2,
}

const elementsOf = (further: Record<string, number | readonly number[]>, header = SHAPE) =>
  kvElementsPerToken((name) => ({ ...header, ...further })[name] ?? null)

describe('kvElementsPerToken', () => {
  it('counts a key and a value of each head in all layers', () => {
    expect(elementsOf({})).toBe(4 * 2 * 32)
    expect(elementsOf({ 'attention.key_length': 24, 'attention.value_length': 8 })).toBe(4 * 2 * 32)
    expect(elementsOf({ 'attention.key_length': 128 })).toBe(4 * 2 * (128 + 16))
  })

  it('takes the heads of each layer: layers without attention have none', () => {
    expect(elementsOf({ 'attention.head_count_kv': [0, 2, 0, 1] })).toBe(3 * 32)
    expect(elementsOf({ 'attention.head_count_kv': [0, 0, 0, 0] })).toBe(0)
    expect(elementsOf({ 'attention.head_count': [4, 8, 4, 2] })).toBe(4 * 2 * 32)
    const sizes = { 'attention.key_length': 16, 'attention.value_length': 16 }
    expect(elementsOf({ 'attention.head_count': [0, 4, 4, 4], ...sizes })).toBe(4 * 2 * 32)
  })

  it('takes as many heads of keys as there are heads where the header does not tell them apart', () => {
    const { 'attention.head_count_kv': _, ...header } = SHAPE
    expect(elementsOf({}, header)).toBe(4 * 4 * 32)
    expect(elementsOf({ 'attention.head_count': [4, 4, 2, 2] }, header)).toBe(12 * 32)
  })

  it('leaves out layers that llama.cpp does not compute', () => {
    expect(elementsOf({ nextn_predict_layers: 1 })).toBe(3 * 2 * 32)
    expect(elementsOf({ nextn_predict_layers: 1, 'attention.head_count_kv': [2, 0, 2, 2] })).toBe(4 * 32)
  })

  it('is 0 for a model without attention, and where nothing is known', () => {
    expect(elementsOf({ 'attention.head_count': 0, 'attention.head_count_kv': 0 })).toBe(0)
    expect(elementsOf({}, {})).toBe(0)
  })
})
