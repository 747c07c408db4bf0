import { describe, expect, it } from 'vitest'
import fc from 'fast-check'
import { ServiceError } from '../../core/errors.ts'
import { JsonParser, MAX_JSON_DEPTH, MAX_JSON_NAMES, MAX_JSON_VALUES, SLICE_WORK } from './json-parser.ts'
import { lengthOf } from '../../../test/support/length-of.ts'

function parse(text: string): { value: unknown; slices: number } {
  const parser = new JsonParser(Buffer.from(text))
  let slices = 1
  while (!parser.advance()) slices++
  return { value: parser.result, slices }
}

function errorOf(text: string): ServiceError {
  try {
    parse(text)
  } catch (error) {
    if (error instanceof ServiceError) return error
    throw error
  }
  throw new Error('It was parsed.')
}

const PIECES = [
  ...Array.from('{}[],:"\\ \n\t0-1.eEuatrlsfn9é😀\u0001'),
  ...['true', 'null', '\\u12', '"a"', '1e9'],
]

describe('JsonParser', () => {
  it('gives what JSON.parse gives', () => {
    fc.assert(
      fc.property(fc.json({ depthSize: 'large' }), fc.boolean(), (text, isSpaced) => {
        const given = isSpaced ? JSON.stringify(JSON.parse(text), null, '\t') : text
        expect(parse(given).value).toEqual(JSON.parse(given))
      }),
    )
  })

  it('refuses what JSON.parse refuses', () => {
    const piece = fc.constantFrom(...PIECES)
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
        const text = pieces.join('')
        let expected: unknown = null
        try {
          expected = { value: JSON.parse(text) }
        } catch {}
        if (expected === null) expect(errorOf(text).code).toBe('malformed_json')
        else expect({ value: parse(text).value }).toEqual(expected)
      }),
      { numRuns: lengthOf({ test: 500, soak: 50_000 }) },
    )
  })

  it.each([
    ['plain', 'a'],
    ['of two bytes', 'é'],
    ['of three bytes', '一'],
    ['of four bytes', '😀'],
    ['escaped', '\\n'],
    ['escaped in hexadecimal', '\\u00e9'],
    ['escaped in pairs', '\\ud83d\\ude00'],
    ['of odd length between', '\\\\a\\"é'],
  ])('puts a long string together from its pieces: %s', (_, unit) => {
    for (const before of ['', 'x', 'xy', 'xyz']) {
      const text = `["${before}${unit.repeat(100_000)}",1]`
      expect(parse(text).value).toEqual(JSON.parse(text))
    }
  })

  it('takes __proto__ as a name like any other', () => {
    const text = '{"__proto__":{"a":1},"b":{"__proto__":2,"__proto__":3},"b":4}'
    const { value } = parse(text)

    expect(value).toEqual(JSON.parse(text))
    expect(Object.keys(value as object)).toEqual(['__proto__', 'b'])
  })

  it.each([
    ['one long string', `"${'a'.repeat(4e6)}"`],
    ['escapes', `"${'\\n'.repeat(2e6)}"`],
    ['whitespace', `[${' '.repeat(4e6)}]`],
    ['numbers', `[${'0,'.repeat(40_000)}0]`],
    ['objects', `[${'{"a":0},'.repeat(20_000)}0]`],
  ])('cuts the work into slices: %s', (_, text) => {
    const { slices } = parse(text)

    expect(slices).toBeGreaterThanOrEqual(Math.floor(text.length / SLICE_WORK))
    expect(slices).toBeGreaterThan(4)
  })

  it.each([
    ['levels', '['.repeat(MAX_JSON_DEPTH + 1), 'The request body must be nested at most 100 levels deep.'],
    ['values', `[${'{},'.repeat(MAX_JSON_VALUES)}`, 'The request body must hold at most 50000 values.'],
    [
      'names',
      `{${Array.from({ length: MAX_JSON_NAMES + 1 }, (_, i) => `"${i}":0`).join(',')}`,
      'The request body must hold no object of more than 1000 names.',
    ],
    ['digits', '1'.repeat(1e6), 'The request body must hold no number of more than 1000 characters.'],
  ])('refuses too many %s before it has read the rest', (_, text, message) => {
    const error = errorOf(text)

    expect([error.code, error.message]).toEqual(['invalid_request', message])
  })

  it('takes as many as the bounds allow', () => {
    const names = Array.from({ length: MAX_JSON_NAMES }, (_, i) => `"n${i}":0`).join(',')
    const texts = [
      '['.repeat(MAX_JSON_DEPTH) + ']'.repeat(MAX_JSON_DEPTH),
      `[${'0,'.repeat(MAX_JSON_VALUES - 2)}0]`,
      `{${names}}`,
      `[${'1'.repeat(1000)}]`,
    ]
    for (const text of texts) expect(parse(text).value).toEqual(JSON.parse(text))
  })

  it('says what it met, and quotes nothing else', () => {
    expect(errorOf('{"password":"secret",x}').message).toBe(
      "The request body is not valid JSON: Unexpected token 'x'",
    )
    expect(errorOf('{"password":"secret').message).toBe(
      'The request body is not valid JSON: Unterminated string in JSON',
    )
  })
})
