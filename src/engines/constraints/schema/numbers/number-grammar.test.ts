/** Numbers of schemas, between bounds. */
import { describe, expect, it } from 'vitest'
import { schemaToGrammar } from '../schema-grammar.ts'
import { allowedTexts, type SchemaCase } from '../../../../../test/support/constraints/schema-texts.ts'

const CASES: Readonly<Record<string, SchemaCase>> = {
  'alternatives of numbers': {
    schema: {
      anyOf: [
        { type: 'integer', minimum: 10, maximum: 19 },
        { type: 'integer', minimum: 100, maximum: 255 },
        { type: 'number', minimum: 1.5, maximum: 2.5 },
      ],
    },
    valid: ['10', '19', '100', '255', '1.5', '2', '2.25'],
    invalid: ['1', '20', '99', '256', '1.4', '2.6', '3', '1000'],
  },
  'a number between bounds': {
    schema: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    valid: ['0.5', '1', '0.001', '1.0', '0.12345'],
    invalid: ['0', '0.0', '1.01', '1.0001', '-0.1', '2'],
  },
  'a number around zero': {
    schema: { type: 'number', minimum: -1.25, maximum: 2.5 },
    valid: ['-1.25', '-1.2', '0', '-0.5', '2.5', '2.49999', '-1.2499'],
    invalid: ['-1.26', '-1.251', '2.51', '2.5001'],
  },
  'an integer with one bound': {
    schema: { type: 'integer', minimum: 5 },
    valid: ['5', '10', '99999'],
    invalid: ['4', '1', '-5', '05'],
  },
  'a negative integer': {
    schema: { type: 'integer', exclusiveMaximum: 0 },
    valid: ['-1', '-100'],
    invalid: ['0', '1', '-0'],
  },
  'the same number at several places': {
    schema: {
      properties: { a: { type: 'number', minimum: 0 }, b: { type: 'number', minimum: 0 } },
      required: ['a', 'b'],
    },
    valid: ['{"a":0,"b":123456789012345.123456789012345}', '{"a":1.05,"b":1000}'],
    invalid: ['{"a":-1,"b":0}', '{"a":0,"b":-0.1}', '{"a":0,"b":01}', '{"a":0,"b":1.}'],
  },
  'the stricter of two bounds of one value': {
    schema: { type: 'integer', minimum: 1, exclusiveMinimum: 1, maximum: 3, exclusiveMaximum: 3 },
    valid: ['2'],
    invalid: ['1', '3'],
  },
  'numbers from a bound with an exponent on': {
    schema: { type: 'number', minimum: 1e-7 },
    valid: ['0.0000001', '0.0000002', '1'],
    invalid: ['0', '0.00000009'],
  },
  'numbers that can be read back': {
    schema: { type: ['integer', 'number'] },
    valid: ['123456789012345', '1e99'],
    invalid: ['1234567890123456', '1e999'],
  },
}

describe('a grammar of numbers allows', () => {
  it.each(Object.entries(CASES))('%s', async (_, { schema, valid, invalid }) => {
    expect(await allowedTexts(schema, [...valid, ...invalid])).toEqual(valid)
  })
})

it('writes what follows in several places of a number once, and numbers with the same bounds', () => {
  const price = { type: 'number', minimum: 0 }
  const lengthWith = (...names: readonly string[]): number =>
    schemaToGrammar(
      { properties: Object.fromEntries(names.map((name) => [name, price])) },
      { isStrict: true },
    ).length
  // Written out in each place, it has 20,000 characters, and compiles for a second.
  expect(lengthWith('a')).toBeLessThan(5000)
  expect(lengthWith('a', 'b') - lengthWith('a')).toBeLessThan(200)
})
