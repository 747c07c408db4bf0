/** Schemas that are not strict: what cannot be kept to is left out. */
import { describe, expect, it } from 'vitest'
import { schemaToGrammar } from './schema-grammar.ts'
import { allowedTexts, type SchemaCase } from '../../../../test/support/constraints/schema-texts.ts'

const CASES: Readonly<Record<string, SchemaCase>> = {
  'a keyword that is not kept to in two schemas of one value': {
    schema: {
      type: 'integer',
      allOf: [
        { if: { const: 1 }, else: true, not: { const: 2 }, 'x-a': 1 },
        { if: { const: 3 }, else: false, not: { const: 4 }, 'x-a': 2 },
      ],
    },
    valid: ['1', '5'],
    invalid: ['"x"'],
  },
  'lengths that are too large to be counted': {
    schema: {
      properties: {
        a: { type: 'string', maxLength: 1e6 },
        b: { type: 'array', items: { type: 'null' }, maxItems: 1e7 },
      },
    },
    valid: ['{"a":"x","b":[null]}'],
    invalid: ['{"a":1}', '{"b":[1]}'],
  },
  'a pattern of another language': {
    schema: { pattern: '(?s)^(yes|no).$' },
    valid: ['"YES"'],
    invalid: ['1'],
  },
  'a pattern without case': {
    schema: { pattern: '(?i)^(yes|no)$' },
    valid: ['"YES"', '"no"'],
    invalid: ['1', '"x"'],
  },
  'a pattern with back-references and flags of Python': {
    schema: { pattern: '^(?P<a>x|y)(?s:.)(?P=a)$' },
    valid: ['"z"'],
    invalid: ['1'],
  },
  'two patterns, formats and multiples, of which the first are kept to': {
    schema: {
      properties: {
        a: { allOf: [{ pattern: 'x+' }, { pattern: 'y+' }] },
        b: { allOf: [{ format: 'date' }, { format: 'email' }] },
        c: { allOf: [{ multipleOf: 2 }, { multipleOf: 3 }] },
      },
    },
    valid: ['{"a":"xx","b":"2026-01-02","c":4}'],
    invalid: ['{"a":"y"}', '{"b":"a@b.de"}', '{"c":3}'],
  },
  'a pattern with names of Python': {
    schema: { pattern: '^(?P<a>x+)(?<!y)$' },
    valid: ['"xx"'],
    invalid: ['1'],
  },
  'a pattern that only an old expression can be': {
    schema: { type: 'string', pattern: '^[\\w-\\.]+@x$' },
    valid: ['"a.b@x"'],
    invalid: ['1'],
  },
  'properties by patterns of their names': {
    schema: {
      type: 'object',
      properties: { a: { type: 'null' } },
      patternProperties: { '^x': { type: 'integer' }, '^y': { type: 'boolean' } },
      additionalProperties: false,
    },
    valid: ['{}', '{"a":null}', '{"x1":1,"y1":true}'],
    invalid: ['{"a":1}', '{"x1":"z"}'],
  },
  'bounds as draft 4 writes them': {
    schema: { type: 'integer', minimum: 3, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false },
    valid: ['4', '5'],
    invalid: ['3', '6'],
  },
  'options of which one is all of them': {
    schema: {
      anyOf: [{ $ref: '#' }, { $ref: '#/$defs/a' }],
      $defs: { a: { anyOf: [{ $ref: '#' }, { type: 'null' }] } },
    },
    valid: ['null'],
    invalid: ['1'],
  },
  'several types of which one has no value': {
    schema: { type: ['integer', 'null'], minimum: 3, maximum: 2 },
    valid: ['null'],
    invalid: ['2', '3'],
  },
  'no items whose schemas exclude each other': {
    schema: {
      prefixItems: [{ type: 'null' }, { allOf: [{ type: 'string' }, { type: 'null' }] }],
      items: { type: 'array', items: { type: 'integer', minimum: 2, maximum: 1 } },
    },
    valid: ['[]', '[null]'],
    invalid: ['[null,null]', '[null,"x"]', '[[]]'],
  },
  'empty arrays where no item is possible': {
    schema: { items: { type: 'array', items: { enum: [] } } },
    valid: ['[]', '[[],[]]'],
    invalid: ['[[1]]', '[null]'],
  },
  'no further properties that cannot be': {
    schema: { properties: { a: { type: 'null' } }, additionalProperties: { type: 'string', enum: [1] } },
    valid: ['{}', '{"a":null}'],
    invalid: ['{"b":1}', '{"b":"x"}'],
  },
  'an optional property whose schemas exclude each other': {
    schema: { properties: { a: { allOf: [{ type: 'string' }, { type: 'null' }] }, b: { type: 'null' } } },
    valid: ['{}', '{"b":null}'],
    invalid: ['{"a":null}'],
  },
}

describe('a grammar of a schema that is not strict allows', () => {
  it.each(Object.entries(CASES))('%s', async (_, { schema, valid, invalid }) => {
    expect(await allowedTexts(schema, [...valid, ...invalid], false)).toEqual(valid)
  })
})

describe('a schema that cannot be kept to', () => {
  it('is taken without its keyword where it is not strict', async () => {
    expect(await allowedTexts({ type: 'integer', multipleOf: 997 }, ['4'], false)).toEqual(['4'])
  })

  const DECIMAL = '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$'

  it('is taken without a pattern that no grammar can have where it is not strict, and with what stands beside it', () => {
    const plain = schemaToGrammar({ type: 'string', maxLength: 5 }, { isStrict: false })
    const schema = { type: 'string', maxLength: 5, pattern: DECIMAL }
    expect(schemaToGrammar(schema, { isStrict: false })).toBe(plain)
    expect(() => schemaToGrammar({ pattern: DECIMAL }, { isStrict: true })).toThrow('lookaround')
  })
})
