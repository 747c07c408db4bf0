/** Several schemas of one value. */
import { describe, expect, it } from 'vitest'
import {
  allowedTexts,
  expectAllowedEitherWay,
  type SchemaCase,
} from '../../../../../test/support/constraints/schema-texts.ts'

const CASES: Readonly<Record<string, SchemaCase>> = {
  'options whose optional properties exclude each other': {
    schema: {
      anyOf: [
        {
          allOf: [
            { type: 'object', properties: { a: { type: 'string' }, b: { type: 'null' } } },
            { properties: { b: true }, additionalProperties: { type: 'integer' } },
          ],
        },
        { type: 'null' },
      ],
    },
    valid: ['{}', '{"b":null}', 'null'],
    invalid: ['{"a":1}', '{"a":"x"}'],
  },
  'all of several schemas': {
    schema: {
      allOf: [
        { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] },
        { properties: { b: { type: 'string' } }, required: ['b'] },
      ],
    },
    valid: ['{"a":1,"b":"x"}'],
    invalid: ['{"a":1}', '{"b":"x"}'],
  },
}

/** Strict or not, the same. */
const WRITTEN_BY_LIBRARIES: Readonly<Record<string, SchemaCase>> = {
  'a text that is in a list as well': {
    schema: {
      allOf: [{ enum: ['a', 'b'] }, { const: 'b' }, { description: 'x', example: 1 }, { example: 2 }],
    },
    valid: ['"b"'],
    invalid: ['"a"'],
  },
  'integers where one schema says numbers': {
    schema: { allOf: [{ type: 'number' }, { type: ['string', 'integer'] }] },
    valid: ['1'],
    invalid: ['1.5', '"x"'],
  },
  'the most of two least numbers of items': {
    schema: {
      allOf: [
        { type: 'array', minItems: 1, maxItems: 9 },
        { minItems: 2, maxItems: 3 },
      ],
    },
    valid: ['[1,2]', '[1,2,3]'],
    invalid: ['[1]', '[1,2,3,4]'],
  },
  'further properties that one of two schemas forbids': {
    schema: {
      allOf: [
        { type: 'object', properties: { a: { type: 'integer' } }, additionalProperties: { type: 'null' } },
        { properties: { a: true }, additionalProperties: false },
      ],
    },
    valid: ['{}', '{"a":1}'],
    invalid: ['{"a":"x"}', '{"b":null}'],
  },
  'items by their place of which the other schema has fewer': {
    schema: {
      allOf: [
        { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'integer' }] },
        { prefixItems: [true], items: false },
      ],
    },
    valid: ['[]', '[1]'],
    invalid: ['["x"]', '[1,2]'],
  },
  'objects of two lists': {
    schema: { allOf: [{ enum: [{ a: 1 }, 2] }, { enum: [3, { a: 1 }] }] },
    valid: ['{"a":1}'],
    invalid: ['2', '3'],
  },
  'options of two lists at a time': {
    schema: {
      allOf: [
        { anyOf: [{ type: 'string' }, { type: 'integer', minimum: 3 }] },
        { anyOf: [{ type: 'integer', maximum: 5 }, { type: 'null' }] },
      ],
    },
    valid: ['3', '5'],
    invalid: ['2', '6', '"x"', 'null'],
  },
  'further properties of one schema as the other describes them': {
    schema: {
      allOf: [
        { type: 'object', properties: { a: true }, required: ['a'] },
        { properties: { b: { type: 'string' } }, additionalProperties: { type: 'integer' } },
      ],
    },
    valid: ['{"a":1}', '{"a":1,"b":"x"}', '{"a":1,"c":2}'],
    invalid: ['{"a":"x"}', '{"a":1,"b":2}', '{"a":1,"c":"x"}'],
  },
  'items by their place as the other schema describes all': {
    schema: {
      allOf: [
        { type: 'array', prefixItems: [true, { type: ['integer', 'string'] }], items: { minimum: 5 } },
        { items: { type: 'integer' }, minItems: 2 },
      ],
    },
    valid: ['[1,2]', '[1,2,5]'],
    invalid: ['["x",2]', '[1,"x"]', '[1,2,3]', '[1,2,"x"]', '[1]'],
  },
}

describe('a grammar of several schemas of one value allows', () => {
  it.each(Object.entries(CASES))('%s', async (_, { schema, valid, invalid }) => {
    expect(await allowedTexts(schema, [...valid, ...invalid])).toEqual(valid)
  })

  it.each(Object.entries(WRITTEN_BY_LIBRARIES))(
    '%s, strict or not',
    async (_, given) => await expectAllowedEitherWay(given),
  )

  it('what thousands of values have in common', async () => {
    const values = (first: number): readonly object[] =>
      Array.from({ length: 3000 }, (_, index) => ({ a: first + index, b: 1 }))
    const swapped = values(2999).map((value) => Object.fromEntries(Object.entries(value).toReversed()))
    const schema = { allOf: [{ enum: values(0) }, { enum: swapped }] }
    const texts = ['{"a":2999,"b":1}', '{"a":0,"b":1}', '{"a":3000,"b":1}']
    expect(await allowedTexts(schema, texts)).toEqual(texts.slice(0, 1))
  })
})
