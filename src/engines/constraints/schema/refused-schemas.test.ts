/** What is said of schemas that cannot be kept to. */
import { describe, expect, it } from 'vitest'
import { schemaToGrammar } from './schema-grammar.ts'

describe('a schema that cannot be kept to', () => {
  const property = (schema: unknown) => ({ type: 'object', properties: { 'a/b': schema } })

  it.each([
    [
      { minProperties: 3, type: 'object' },
      "at /properties/a~1b/minProperties: the keyword 'minProperties' is not supported in a strict schema",
    ],
    [
      { multipleOf: 997, type: 'integer' },
      'at /properties/a~1b/multipleOf: multiples of 997 are not supported in a strict schema',
    ],
    [
      { multipleOf: 1e9, type: 'integer' },
      'at /properties/a~1b/multipleOf: multiples of 1000000000 are not supported in a strict schema',
    ],
    [{ multipleOf: 0 }, 'at /properties/a~1b/multipleOf: it must be a number above 0'],
    [
      { type: 'integer', multipleOf: 10, minimum: 11, maximum: 19 },
      'at /properties/a~1b: no multiple of 10 lies between its bounds',
    ],
    [{ type: 'strin' }, 'at /properties/a~1b/type: the type "strin" does not exist'],
    [{ $ref: '#/$defs/x' }, 'at /properties/a~1b/$ref: "#/$defs/x" leads to nothing'],
    [{ $ref: 'http://x' }, `at /properties/a~1b/$ref: "http://x" must be '#', or begin with '#/'`],
    [{ type: 'integer', minimum: 5, maximum: 2 }, 'at /properties/a~1b: no number lies between its bounds'],
    [
      { type: 'string', minLength: 5, maxLength: 2 },
      'at /properties/a~1b/minLength: it is above maxLength, which is 2',
    ],
    [
      { type: 'string', maxLength: 1e9 },
      'at /properties/a~1b/maxLength: it must be an integer from 0 to 100000',
    ],
    [
      { enum: ['a'], maxLength: 2 },
      "at /properties/a~1b/maxLength: 'maxLength' beside 'enum' or 'const' is not supported in a strict schema",
    ],
    [{ enum: [] }, 'at /properties/a~1b/enum: it allows no value'],
    [
      { pattern: 'a(?=b)' },
      "at /properties/a~1b/pattern: the regular expression cannot be used: lookaround and flags other than 'i' are not supported (position 3)",
    ],
    [
      { type: 'string', format: 'regex' },
      'at /properties/a~1b/format: the format "regex" is not supported in a strict schema',
    ],
    [
      { type: 'object', properties: { a: false }, required: ['a'] },
      'at /properties/a~1b/properties/a: false allows no value',
    ],
    [
      { type: 'string', format: 'date', minLength: 11 },
      "at /properties/a~1b/minLength: 'minLength' beside 'format' is not supported in a strict schema",
    ],
    [
      { type: 'string', format: 'uri', maxLength: 30 },
      "at /properties/a~1b/maxLength: 'maxLength' beside 'format' is not supported in a strict schema",
    ],
    [{ allOf: [{ enum: ['a', 'b'] }, { const: 'c' }] }, 'at /properties/a~1b/enum: it allows no value'],
    [
      { allOf: [{ uniqueItems: false }, { uniqueItems: true }] },
      "at /properties/a~1b/uniqueItems: the keyword 'uniqueItems' is not supported in a strict schema",
    ],
    [
      { allOf: [{ uniqueItems: true }, { uniqueItems: false }] },
      "at /properties/a~1b/uniqueItems: the keyword 'uniqueItems' is not supported in a strict schema",
    ],
    [
      { type: 'array', unevaluatedItems: false },
      "at /properties/a~1b/unevaluatedItems: the keyword 'unevaluatedItems' is not supported in a strict schema",
    ],
    [
      { pattern: 'a+', maxLength: 2 },
      "at /properties/a~1b/maxLength: 'maxLength' beside 'pattern' is not supported in a strict schema",
    ],
    [
      {
        oneOf: ['a', 'b'].map((text) => ({ properties: { k: { const: text }, x: true }, required: ['x'] })),
      },
      "at /properties/a~1b/oneOf: in a strict schema the options of 'oneOf' must exclude each other by their type or a constant property",
    ],
    [
      {
        allOf: ['minimum', 'maximum'].map((bound) => ({
          anyOf: Array.from({ length: 17 }, (_, value) => ({ [bound]: value })),
        })),
      },
      "at /properties/a~1b/allOf/1: two different 'anyOf' for one value cannot be combined",
    ],
    [{ allOf: [{ const: 'a' }, { const: 'c' }] }, 'at /properties/a~1b/enum: it allows no value'],
    [
      { allOf: [{ pattern: 'a' }, { pattern: 'b' }] },
      "at /properties/a~1b/allOf/1: two different 'pattern' for one value cannot be combined",
    ],
    [
      { oneOf: [{ const: { a: 1, b: 2 } }, { const: { b: 2, a: 1 } }] },
      "at /properties/a~1b/oneOf: in a strict schema the options of 'oneOf' must exclude each other by their type or a constant property",
    ],
    [
      { oneOf: [{ type: 'integer' }, { type: 'number' }] },
      "at /properties/a~1b/oneOf: in a strict schema the options of 'oneOf' must exclude each other by their type or a constant property",
    ],
  ])('%j is refused by its place', (schema, message) => {
    expect(() => schemaToGrammar(property(schema), { isStrict: true })).toThrow(message)
  })

  it('is refused where too much of it is written in vain', () => {
    const some = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`p${index}`, true]))
    const option = { properties: { ...some, z: false }, required: ['z'] }
    const options = Array.from({ length: 300 }, (_, index) => ({ ...option, minProperties: index }))
    expect(() => schemaToGrammar({ anyOf: [...options, true] }, { isStrict: false })).toThrow(
      'too many parts without a value',
    )
  })

  it('is refused where its options double again and again', () => {
    const next = (index: number, name: string): object => ({
      $ref: `#/$defs/d${index + 1}`,
      properties: { [`${name}${index}`]: true },
    })
    const closed = Array.from({ length: 30 }, (_, index) => [
      `d${index}`,
      { unevaluatedProperties: false, anyOf: [next(index, 'x'), next(index, 'y')] },
    ])
    const $defs = { ...(Object.fromEntries(closed) as object), d30: { type: 'object' } }
    expect(() => schemaToGrammar({ $ref: '#/$defs/d0', $defs }, { isStrict: true })).toThrow('too large')
  })

  it('is refused for a pattern that is none, strict or not', () => {
    expect(() => schemaToGrammar({ pattern: '(' }, { isStrict: false })).toThrow('at /pattern')
  })

  it.each([
    ['refers to itself', { $ref: '#/a', a: { $ref: '#/b' }, b: { $ref: '#/a' } }],
    ['refers to itself among others', { allOf: [{ $ref: '#' }, { type: 'object' }] }],
    [
      'refers to itself more than once among others',
      { allOf: [{ $ref: '#' }, { $ref: '#', allOf: [{ type: 'null' }] }] },
    ],
    ['refers to itself as its only option', { anyOf: [{ $ref: '#' }, false] }],
    [
      'is too deep',
      Array.from({ length: 300 }).reduce<object>((inner) => ({ type: 'array', items: inner }), {}),
    ],
    ['grows without an end', { items: { allOf: [{ $ref: '#' }, { items: { items: { $ref: '#' } } }] } }],
    [
      'has many long counts',
      {
        type: 'object',
        properties: Object.fromEntries(
          Array.from('abcdefghijklmnopqrstuvwxyz', (name) => [
            name,
            { type: 'string', pattern: `^${name}{0,100000}$` },
          ]),
        ),
      },
    ],
    ['is too large', { enum: Array.from({ length: 100_000 }, (_, i) => `a long text of number ${i}`) }],
  ])('ends where it %s', (_, schema) => {
    expect(() => schemaToGrammar(schema, { isStrict: false })).toThrow(/deeper than 256|too large|itself/)
  })
})
