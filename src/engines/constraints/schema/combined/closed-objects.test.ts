/** `unevaluatedProperties: false` and `additionalProperties: false` among several schemas of one value: each sees its own properties. */
import { describe, expect, it } from 'vitest'
import {
  allowedTexts,
  isValid,
  type SchemaCase,
} from '../../../../../test/support/constraints/schema-texts.ts'

const A = { type: 'object', properties: { a: { type: 'integer' } } }
const B = { type: 'object', properties: { b: { type: 'integer' } } }
const CLOSED_A = { ...A, unevaluatedProperties: false }
const BOTH = '{"a":1,"b":2}'

const CASES: Readonly<Record<string, SchemaCase>> = {
  'in one of several schemas': {
    schema: { allOf: [CLOSED_A, B] },
    valid: ['{}', '{"a":1}'],
    invalid: [BOTH, '{"b":2}'],
  },
  'in one of several schemas, beside further properties of the value': {
    schema: { ...B, allOf: [CLOSED_A] },
    valid: ['{}', '{"a":1}'],
    invalid: [BOTH, '{"b":2}'],
  },
  'beside all of several schemas': {
    schema: { allOf: [A, B], unevaluatedProperties: false },
    valid: [BOTH, '{"a":1}'],
    invalid: ['{"a":1,"c":2}', '{"c":1}'],
  },
  'in a reference beside properties': {
    schema: { $ref: '#/$defs/a', ...B, $defs: { a: CLOSED_A } },
    valid: ['{}', '{"a":1}'],
    invalid: [BOTH, '{"b":2}'],
  },
  'in a reference to one that refers on': {
    schema: {
      $ref: '#/$defs/closed',
      properties: { b: true },
      $defs: { closed: { $ref: '#/$defs/a', unevaluatedProperties: false }, a: A },
    },
    valid: ['{}', '{"a":1}'],
    invalid: [BOTH, '{"b":2}'],
  },
  'beside a reference': {
    schema: { $ref: '#/$defs/a', ...B, unevaluatedProperties: false, $defs: { a: A } },
    valid: [BOTH, '{"b":2}'],
    invalid: ['{"c":1}'],
  },
  'in one that is itself of several': {
    schema: { allOf: [{ allOf: [A, { properties: { c: true } }], unevaluatedProperties: false }, B] },
    valid: ['{}', '{"a":1,"c":2}'],
    invalid: [BOTH, '{"b":2}'],
  },
  'in one that has options': {
    schema: {
      allOf: [
        {
          anyOf: [
            { ...A, required: ['a'] },
            { properties: { c: true }, required: ['c'] },
          ],
          unevaluatedProperties: false,
        },
        { ...B, properties: { b: true, c: true } },
      ],
    },
    valid: ['{"a":1}', '{"c":2}'],
    invalid: [BOTH, '{"b":2}', '{"c":1,"b":2}'],
  },
  'in one that has options of which one is valid': {
    schema: {
      properties: { k: true, b: true },
      allOf: [
        {
          oneOf: ['x', 'y'].map((k) => ({ properties: { k: { const: k }, [k]: true }, required: ['k'] })),
          unevaluatedProperties: false,
        },
      ],
    },
    valid: ['{"k":"x"}', '{"k":"x","x":1}', '{"k":"y","y":1}'],
    invalid: ['{"k":"x","y":1}', '{"k":"x","b":1}', '{"k":"z"}'],
  },
  'in an option beside properties': {
    schema: { ...B, anyOf: [CLOSED_A] },
    valid: ['{}', '{"a":1}'],
    invalid: [BOTH, '{"b":2}'],
  },
  'in one whose others are described': {
    schema: { allOf: [{ ...CLOSED_A, additionalProperties: { type: 'integer' } }, B] },
    valid: [BOTH],
    invalid: ['{"a":"x"}', '{"b":"x"}'],
  },
  'in each of several schemas': {
    schema: { allOf: [CLOSED_A, { ...B, unevaluatedProperties: false }] },
    valid: ['{}'],
    invalid: ['{"a":1}', '{"b":2}', BOTH],
  },
  'in one, and all others in another': {
    schema: { allOf: [CLOSED_A, { ...B, unevaluatedProperties: true }] },
    valid: ['{}', '{"a":1}'],
    invalid: ['{"b":2}', BOTH],
  },
  'alone, without a type': {
    schema: { unevaluatedProperties: false },
    valid: ['{}'],
    invalid: ['{"a":1}'],
  },
  'beside a list of objects': {
    schema: { enum: [{ a: 1 }, {}, 'x'], unevaluatedProperties: false },
    valid: ['{}', '"x"'],
    invalid: ['{"a":1}'],
  },
  'beside a list of objects, in one of several schemas': {
    schema: { allOf: [{ enum: [{ a: 1 }, {}, 'x'], unevaluatedProperties: false }, true] },
    valid: ['{}', '"x"'],
    invalid: ['{"a":1}'],
  },
  'beside one object': {
    schema: { anyOf: [{ const: { a: 1 } }, { const: {} }], unevaluatedProperties: false },
    valid: ['{}'],
    invalid: ['{"a":1}'],
  },
  'by further properties, in one of several schemas': {
    schema: { allOf: [{ ...A, additionalProperties: false }, B] },
    valid: ['{}', '{"a":1}'],
    invalid: [BOTH, '{"b":2}'],
  },
  'by further properties, in a reference beside properties': {
    schema: { $ref: '#/$defs/a', ...B, $defs: { a: { ...A, additionalProperties: false } } },
    valid: ['{}', '{"a":1}'],
    invalid: [BOTH, '{"b":2}'],
  },
}

describe('a strict schema allows no more where an object is closed', () => {
  it.each(Object.entries(CASES))('%s', async (_, { schema, valid, invalid }) => {
    const texts = [...valid, ...invalid]
    expect(texts.filter((text) => isValid(schema, text))).toEqual(valid)
    expect(await allowedTexts(schema, texts)).toEqual(valid)
  })

  it('and is refused where one that is closed is all of itself', async () => {
    const schema = { properties: { a: true }, allOf: [{ $ref: '#/$defs/a' }], $defs: {} }
    const closed = { allOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }], unevaluatedProperties: false }
    await expect(allowedTexts({ ...schema, $defs: { a: closed } }, [])).rejects.toThrow(/itself|deeper than/)
  })

  it('and takes no longer where each of many holds the next one twice', async () => {
    const next = (index: number): readonly object[] =>
      ['minItems', 'maxItems'].map((bound) => ({ $ref: `#/$defs/d${index + 1}`, [bound]: 5 }))
    const each = Array.from({ length: 30 }, (_, index) => [
      `d${index}`,
      { allOf: next(index), unevaluatedProperties: false },
    ])
    const $defs = { ...(Object.fromEntries(each) as object), d30: A }
    const schema = { $ref: '#/$defs/d0', ...B, $defs }
    expect(await allowedTexts(schema, ['{}', '{"a":1}', BOTH])).toEqual(['{}', '{"a":1}'])
  })
})
