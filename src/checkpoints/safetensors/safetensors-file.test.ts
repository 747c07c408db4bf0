import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../test/support/length-of.ts'
import { StartError } from '../../core/errors.ts'
import { parseHeaderLength, parseSafetensorsHeader } from './safetensors-file.ts'

const HEADER = {
  __metadata__: { format: 'pt' },
  b: { dtype: 'F16', shape: [2, 3], data_offsets: [16, 28] },
  a: { dtype: 'F32', shape: [4], data_offsets: [0, 16] },
}

const parse = (header: unknown, dataBytes = 28) => {
  const bytes = Buffer.from(typeof header === 'string' ? header : JSON.stringify(header))
  return parseSafetensorsHeader('model.safetensors', bytes, 8 + bytes.length + dataBytes)
}

describe('parseSafetensorsHeader', () => {
  it('lists tensors in the order of their data', () => {
    const tensors = parse(HEADER)
    expect(tensors.map(({ name, dtype, shape, sizeBytes }) => ({ name, dtype, shape, sizeBytes }))).toEqual([
      { name: 'a', dtype: 'F32', shape: [4], sizeBytes: 16 },
      { name: 'b', dtype: 'F16', shape: [2, 3], sizeBytes: 12 },
    ])
    expect((tensors[1]?.offsetBytes ?? 0) - (tensors[0]?.offsetBytes ?? 0)).toBe(16)
  })

  it('refuses places that do not add up', () => {
    const withA = (changes: object) => ({ ...HEADER, a: { ...HEADER.a, ...changes } })
    expect(() => parse(HEADER, 27)).toThrow('is truncated: its tensors end at byte')
    expect(() => parse(HEADER, 29)).toThrow('is corrupted: its tensors end at byte')
    expect(() => parse(withA({ data_offsets: [4, 20] }))).toThrow('a gap or an overlap')
    expect(() => parse(withA({ data_offsets: [0, 12] }))).toThrow(
      'tensor "a" should be 16 bytes long, not 12',
    )
    expect(() => parse(withA({ data_offsets: [16, 0] }))).toThrow('not -16')
    expect(() => parse(withA({ shape: [-4] }))).toThrow('no usable shape')
    expect(() => parse(withA({ dtype: 'toString' }))).toThrow('which is not known')
    expect(() => parse({ a: null })).toThrow('which is not known')
    expect(() => parse('[]')).toThrow('is not a JSON object')
    expect(() => parse('{')).toThrow('is not valid JSON')
  })

  it('answers anything at all with tensors or one sentence', () => {
    const entry = fc.oneof(
      fc.jsonValue(),
      fc.record({
        dtype: fc.constantFrom('F32', 'F16', 'BF16', 'I64', 'X'),
        shape: fc.array(fc.oneof(fc.nat(5), fc.maxSafeInteger(), fc.double()), { maxLength: 4 }),
        data_offsets: fc.array(fc.oneof(fc.nat(64), fc.maxSafeInteger()), { maxLength: 3 }),
      }),
    )
    const header = fc.oneof(fc.dictionary(fc.string(), entry), fc.string(), fc.jsonValue())
    fc.assert(
      fc.property(header, fc.nat(100), (value, dataBytes) => {
        try {
          parse(value, dataBytes)
        } catch (error) {
          expect(error).toBeInstanceOf(StartError)
          expect((error as StartError).message).toMatch(/^[^\n]+\.$/)
        }
      }),
      { numRuns: lengthOf({ test: 1000, soak: 40_000 }) },
    )
  })
})

describe('parseHeaderLength', () => {
  const length = (value: bigint, fileSize: number) => {
    const bytes = Buffer.alloc(8)
    bytes.writeBigUInt64LE(value)
    return parseHeaderLength('model.safetensors', bytes, fileSize)
  }

  it('is bounded by the format and by the file', () => {
    expect(length(100n, 200)).toBe(100)
    expect(() => length(100n, 107)).toThrow('is truncated: its header is 100 bytes long')
    expect(() => length(2n ** 63n, 200)).toThrow('is no safetensors file')
    expect(() => length(100_000_001n, 2 ** 40)).toThrow('is no safetensors file')
    expect(() => parseHeaderLength('model.safetensors', Buffer.alloc(3), 3)).toThrow('shorter than 8 bytes')
  })
})
