/** Objects of schemas: properties in their order, and those that have no name of their own. */
import { describe, expect, it } from 'vitest'
import {
  allowedTexts,
  expectAllowedEitherWay,
  type SchemaCase,
} from '../../../../test/support/constraints/schema-texts.ts'

const CASES: Readonly<Record<string, SchemaCase>> = {
  'properties in their order, optional ones left out': {
    schema: {
      properties: {
        a: { type: 'integer', minimum: -5, maximum: 120 },
        b: { type: 'string', pattern: '^[a-z"]+$' },
      },
      required: ['b'],
    },
    valid: ['{"b":"abc"}', '{"a":-5,"b":"x\\"y"}', '{ "a": 120, "b": "a" }'],
    invalid: ['{"a":121,"b":"x"}', '{"a":-6,"b":"x"}', '{"a":1}', '{"b":"A"}', '{}', '{"b":"a","a":1}'],
  },
  'further properties, none of which has a known name': {
    schema: {
      type: 'object',
      additionalProperties: { type: 'number' },
      properties: { ab: { type: 'string' }, ac: true },
    },
    valid: ['{}', '{"ab":"x","q":1}', '{"abc":1,"a":2,"":3}', '{"q":1e5}'],
    invalid: ['{"ab":1}', '{"x":"y"}', '{"q":1,"ab":2}'],
  },
  'further properties beside a name beyond ASCII': {
    schema: { additionalProperties: { type: 'number' }, properties: { é: { type: 'string' }, aé: true } },
    valid: ['{"é":"x","q":1}', '{"éa":1}', '{"bü":1}'],
    invalid: ['{"é":1}', '{"é":"x","é":1}', '{"b":1,"é":2}', '{"aé":1,"aé":2}'],
  },
  'no property where none is evaluated': {
    schema: { type: 'object', unevaluatedProperties: false },
    valid: ['{}'],
    invalid: ['{"a":1}'],
  },
  'further properties beside a name that JSON escapes': {
    schema: { additionalProperties: true, properties: { '"q': { type: 'null' } } },
    valid: [String.raw`{"\"q":null,"q":1}`],
    invalid: ['{""x":1}', String.raw`{"\"q":1}`],
  },
}

/** Strict or not, the same. */
const WRITTEN_BY_LIBRARIES: Readonly<Record<string, SchemaCase>> = {
  'a required property that has no schema': {
    schema: { properties: { a: { type: 'integer' } }, required: ['a', 'b'] },
    valid: ['{"a":1,"b":[1]}', '{"a":1,"b":"x"}'],
    invalid: ['{"a":1}', '{"a":1,"c":2}', '{"b":1}'],
  },
  'a property that must not be there': {
    schema: { properties: { a: false, b: { type: 'integer' } }, additionalProperties: true },
    valid: ['{}', '{"b":1}', '{"c":1}'],
    invalid: ['{"a":1}'],
  },
  'nothing but an empty object': {
    schema: { type: 'object', properties: {}, additionalProperties: false },
    valid: ['{}'],
    invalid: ['{"a":1}'],
  },
  'further properties beside a required one': {
    schema: { additionalProperties: { type: 'integer' }, properties: { a: true }, required: ['a'] },
    valid: ['{"a":"x"}', '{"a":1,"b":2}'],
    invalid: ['{"b":2}', '{}'],
  },
  'a required property that is one of the further ones': {
    schema: { additionalProperties: { type: 'integer' }, required: ['a'] },
    valid: ['{"a":1}', '{"a":1,"b":2}'],
    invalid: ['{"a":"x"}', '{"b":2}'],
  },
}

describe('a grammar of objects allows', () => {
  it.each(Object.entries(CASES))('%s', async (_, { schema, valid, invalid }) => {
    expect(await allowedTexts(schema, [...valid, ...invalid])).toEqual(valid)
  })

  it.each(Object.entries(WRITTEN_BY_LIBRARIES))(
    '%s, strict or not',
    async (_, given) => await expectAllowedEitherWay(given),
  )
})
