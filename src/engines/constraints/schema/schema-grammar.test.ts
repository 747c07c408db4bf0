/** Schemas as grammars: which texts they allow, by XGrammar's own matcher. */
import { describe, expect, it } from 'vitest'
import {
  allowedTexts,
  expectAllowedEitherWay,
  type SchemaCase,
} from '../../../../test/support/constraints/schema-texts.ts'

const CASES: Readonly<Record<string, SchemaCase>> = {
  'whitespace where layouts of JSON have it': {
    schema: {
      properties: { a: { items: { type: 'integer' } }, b: { type: 'object' } },
      required: ['a', 'b'],
    },
    valid: [
      ...[undefined, 2, 4, '\t'].map((indent) =>
        JSON.stringify({ a: [1, 2], b: { c: [{}, 1] } }, null, indent),
      ),
      '{"a": [1, 2], "b": {"c": [{}, 1]}}',
      '{ "a": [ 1 ], "b": { } }',
    ],
    invalid: [
      ...['{"a" :[],"b":{}}', '{"a":[] ,"b":{}}', '{"a":[1 ,2],"b":{}}', '{"a":\n[],"b":{}}'],
      ...['{"a":  [],"b":{}}', '{"a":[],"b":{"c" :1}}', '{"a":[],  "b":{}}', '{\n\n"a":[],"b":{}}'],
    ],
  },
  'alternatives of texts': {
    schema: { enum: ['cc', 'bbc', 'bbb'] },
    valid: ['"cc"', '"bbc"', '"bbb"'],
    invalid: ['"cb"', '"bb"', '"bcc"'],
  },
  'one of several schemas that exclude each other': {
    schema: {
      oneOf: [
        { type: 'object', properties: { kind: { const: 'a' } }, required: ['kind'] },
        {
          type: 'object',
          properties: { kind: { const: 'b' }, x: { type: 'null' } },
          required: ['kind', 'x'],
        },
      ],
    },
    valid: ['{"kind":"a"}', '{"kind":"b","x":null}'],
    invalid: ['{"kind":"b"}', '{"kind":"a","x":null}'],
  },
  'texts of a list': {
    schema: { enum: ['é"\\', 1, { a: [] }] },
    valid: ['"é\\"\\\\"', '1', '{"a":[]}'],
    invalid: ['"e"', '2'],
  },
  'several types': { schema: { type: ['string', 'null'] }, valid: ['null', '"x"'], invalid: ['1'] },
  anything: { schema: {}, valid: ['{"a":[1,2,{"b":null}]}', '1.5e10'], invalid: ['{a:1}', 'x'] },
}

/** Strict or not, the same. */
const WRITTEN_BY_LIBRARIES: Readonly<Record<string, SchemaCase>> = {
  'unknown keywords beside texts of a list': {
    schema: { type: ['string', 'null'], enum: ['x', null], nullable: true, 'x-enumNames': ['X'] },
    valid: ['"x"', 'null'],
    invalid: ['"y"'],
  },
  'options of which some allow no value': {
    schema: {
      type: 'object',
      anyOf: [{ properties: { a: { type: 'integer' } }, required: ['a'] }, { type: 'null' }, false],
    },
    valid: ['{"a":1}'],
    invalid: ['null', '{}'],
  },
}

describe('a grammar of a schema allows', () => {
  it.each(Object.entries(CASES))('%s', async (_, { schema, valid, invalid }) => {
    expect(await allowedTexts(schema, [...valid, ...invalid])).toEqual(valid)
  })

  it.each(Object.entries(WRITTEN_BY_LIBRARIES))(
    '%s, strict or not',
    async (_, given) => await expectAllowedEitherWay(given),
  )
})
