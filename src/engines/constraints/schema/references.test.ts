/** References into the same schema, and recursion through them. */
import { describe, expect, it } from 'vitest'
import {
  allowedTexts,
  expectAllowedEitherWay,
  type SchemaCase,
} from '../../../../test/support/constraints/schema-texts.ts'

const NODE = {
  $defs: {
    n: {
      type: 'object',
      properties: { v: { type: 'integer' }, next: { anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }] } },
      required: ['v', 'next'],
    },
  },
  $ref: '#/$defs/n',
}

const CASES: Readonly<Record<string, SchemaCase>> = {
  'a schema that refers to itself': {
    schema: NODE,
    valid: ['{"v":1,"next":{"v":2,"next":null}}'],
    invalid: ['{"v":1}'],
  },
  'a reference with escapes': {
    schema: { $ref: '#/$defs/a%20b~01~1', $defs: { 'a b~1/': { type: 'null' } } },
    valid: ['null'],
    invalid: ['1'],
  },
}

const CHAIN = (next: unknown) => ({
  type: 'object',
  properties: { v: { type: 'integer' }, next },
  required: ['v'],
  definitions: { null: { type: 'null' } },
  $defs: {
    n: {
      type: 'object',
      properties: {
        v: { type: 'integer' },
        next: { anyOf: [{ $ref: '#/$defs/n' }, { type: 'null' }], 'x-nullable': true },
      },
      required: ['v'],
    },
  },
})
const CHAINED = {
  valid: ['{"v":1}', '{"v":1,"next":{"v":2}}', '{"v":1,"next":{"v":2,"next":{"v":3,"next":{"v":4}}}}'],
  invalid: ['{"v":1,"next":{}}', '{"v":1,"next":1}', '{"v":1,"next":{"v":2,"next":{"v":"x"}}}'],
}

/** Strict or not, the same. */
const WRITTEN_BY_LIBRARIES: Readonly<Record<string, SchemaCase>> = {
  'recursion through allOf with a title': {
    schema: CHAIN({ title: 'Next', description: 'd', allOf: [{ $ref: '#' }] }),
    ...CHAINED,
  },
  'recursion through a reference beside an unknown keyword': {
    schema: CHAIN({ $ref: '#', 'x-foo': 1 }),
    ...CHAINED,
  },
  'recursion through a reference beside a type': {
    schema: CHAIN({ $ref: '#', type: 'object' }),
    ...CHAINED,
  },
  'recursion through several schemas of one value': {
    schema: CHAIN({ allOf: [{ $ref: '#' }, { properties: { v: { minimum: 0 } } }] }),
    ...CHAINED,
  },
  'recursion through options beside an unknown keyword': {
    schema: { ...CHAIN({ $ref: '#/$defs/n' }) },
    valid: ['{"v":1}', '{"v":1,"next":{"v":1,"next":null}}', '{"v":1,"next":{"v":1,"next":{"v":2}}}'],
    invalid: ['{"v":1,"next":null}'],
  },
  'recursion through options beside a type': {
    schema: CHAIN({ type: 'object', anyOf: [{ $ref: '#' }, { type: 'null' }] }),
    ...CHAINED,
  },
}

describe('a grammar of a schema with references allows', () => {
  it.each(Object.entries(CASES))('%s', async (_, { schema, valid, invalid }) => {
    expect(await allowedTexts(schema, [...valid, ...invalid])).toEqual(valid)
  })

  it.each(Object.entries(WRITTEN_BY_LIBRARIES))(
    '%s, strict or not',
    async (_, given) => await expectAllowedEitherWay(given),
  )
})
