/** Schemas as grammars: which texts they allow, by XGrammar's own matcher, and what is said of schemas that cannot be kept to. */
import { describe, expect, it } from 'vitest'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { z } from 'zod'
import { separateAlternatives } from '../alternatives/separate-alternatives.ts'
import { loadXGrammar } from '../xgrammar.ts'
import { schemaToGrammar } from './schema-grammar.ts'

const xgrammar = loadXGrammar()
const { Grammar, Testings } = xgrammar

/** Those of the texts that the schema's grammar allows. */
async function allowed(
  schema: unknown,
  texts: readonly string[],
  isStrict = true,
): Promise<readonly string[]> {
  const grammar = await Grammar.fromEBNF(
    await separateAlternatives(xgrammar, schemaToGrammar(schema, { isStrict })),
  )
  const verdicts = await Promise.all(texts.map((text) => Testings.isGrammarAcceptString(grammar, text)))
  return texts.filter((_, index) => verdicts[index])
}

interface Case {
  readonly schema: unknown
  readonly valid: readonly string[]
  readonly invalid: readonly string[]
}

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

const CASES: Readonly<Record<string, Case>> = {
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
  'escaped characters, each of which counts as one': {
    schema: { type: 'string', minLength: 1, maxLength: 3 },
    valid: [String.raw`"\"\n\u00e9"`, String.raw`"\ud83d\ude00ab"`, String.raw`"\/"`, '"é"', '"abc"'],
    invalid: [String.raw`"\"\n\u00e9x"`, String.raw`"\ud83d"`, String.raw`"\x"`, '""', '"abcd"'],
  },
  'escaped characters up to a least length and behind it': {
    schema: { type: 'string', minLength: 2 },
    valid: [String.raw`"\\\t"`, String.raw`"ab\"c"`, '"abc"'],
    invalid: [String.raw`"\\"`, '"a"', '"'],
  },
  'further properties beside a name beyond ASCII': {
    schema: { additionalProperties: { type: 'number' }, properties: { é: { type: 'string' }, aé: true } },
    valid: ['{"é":"x","q":1}', '{"éa":1}', '{"bü":1}'],
    invalid: ['{"é":1}', '{"é":"x","é":1}', '{"b":1,"é":2}', '{"aé":1,"aé":2}'],
  },
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
  'alternatives of texts': {
    schema: { enum: ['cc', 'bbc', 'bbb'] },
    valid: ['"cc"', '"bbc"', '"bbb"'],
    invalid: ['"cb"', '"bb"', '"bcc"'],
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
  'items by their place': {
    schema: {
      prefixItems: [{ type: 'integer' }, { type: 'string' }],
      items: { type: 'boolean' },
      minItems: 1,
      maxItems: 4,
    },
    valid: ['[1]', '[1,"a"]', '[1,"a",true,false]'],
    invalid: ['[]', '["a"]', '[1,true]', '[1,"a",true,true,true]'],
  },
  'so many items': {
    schema: { type: 'array', items: { type: 'integer' }, minItems: 2, maxItems: 3 },
    valid: ['[1,2]', '[1, 2, 3]'],
    invalid: ['[1]', '[]', '[1,2,3,4]'],
  },
  'a schema that refers to itself': {
    schema: NODE,
    valid: ['{"v":1,"next":{"v":2,"next":null}}'],
    invalid: ['{"v":1}'],
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
  'characters, counted as code points': {
    schema: { type: 'string', minLength: 2, maxLength: 3 },
    valid: ['"ab"', '"éé"', '"😀x"', '"a\\n"'],
    invalid: ['"a"', '"abcd"', '"😀"', '"\\n"'],
  },
  'characters without a bound above, escapes among them': {
    schema: { type: 'string', minLength: 2 },
    valid: ['"ab"', '"ab\\n\\""', '"éé\\ud83d\\ude00"'],
    invalid: ['"a"', '"ab', '"ab\\x"', '"ab\\ud83d"'],
  },
  'a format': {
    schema: { type: 'string', format: 'date-time' },
    valid: ['"2024-02-28T12:00:00Z"'],
    invalid: ['"2024-02-30T12:00:00Z"', '"today"'],
  },
  'texts of a list': {
    schema: { enum: ['é"\\', 1, { a: [] }] },
    valid: ['"é\\"\\\\"', '1', '{"a":[]}'],
    invalid: ['"e"', '2'],
  },
  'a host name up to its length': {
    schema: { type: 'string', format: 'hostname' },
    valid: ['"a-b.example"', JSON.stringify(Array(4).fill('a'.repeat(62)).join('.'))],
    invalid: ['"a_b"', JSON.stringify(Array(4).fill('a'.repeat(63)).join('.'))],
  },
  'no property where none is evaluated': {
    schema: { type: 'object', unevaluatedProperties: false },
    valid: ['{}'],
    invalid: ['{"a":1}'],
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
  'items by their place alone': {
    schema: { type: 'array', prefixItems: [{ type: 'integer' }, { type: 'string' }] },
    valid: ['[]', '[1]', '[1,"a"]'],
    invalid: ['[1,"a",1]'],
  },
  'a reference with escapes': {
    schema: { $ref: '#/$defs/a%20b~01~1', $defs: { 'a b~1/': { type: 'null' } } },
    valid: ['null'],
    invalid: ['1'],
  },
  'further properties beside a name that JSON escapes': {
    schema: { additionalProperties: true, properties: { '"q': { type: 'null' } } },
    valid: [String.raw`{"\"q":null,"q":1}`],
    invalid: ['{""x":1}', String.raw`{"\"q":1}`],
  },
  'several types': { schema: { type: ['string', 'null'] }, valid: ['null', '"x"'], invalid: ['1'] },
  anything: { schema: {}, valid: ['{"a":[1,2,{"b":null}]}', '1.5e10'], invalid: ['{a:1}', 'x'] },
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
const WRITTEN_BY_LIBRARIES: Readonly<Record<string, Case>> = {
  'unknown keywords beside texts of a list': {
    schema: { type: ['string', 'null'], enum: ['x', null], nullable: true, 'x-enumNames': ['X'] },
    valid: ['"x"', 'null'],
    invalid: ['"y"'],
  },
  'a text that is in a list as well': {
    schema: {
      allOf: [{ enum: ['a', 'b'] }, { const: 'b' }, { description: 'x', example: 1 }, { example: 2 }],
    },
    valid: ['"b"'],
    invalid: ['"a"'],
  },
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
  'a required property that has no schema': {
    schema: { properties: { a: { type: 'integer' } }, required: ['a', 'b'] },
    valid: ['{"a":1,"b":[1]}', '{"a":1,"b":"x"}'],
    invalid: ['{"a":1}', '{"a":1,"c":2}', '{"b":1}'],
  },
  'options of which some allow no value': {
    schema: {
      type: 'object',
      anyOf: [{ properties: { a: { type: 'integer' } }, required: ['a'] }, { type: 'null' }, false],
    },
    valid: ['{"a":1}'],
    invalid: ['null', '{}'],
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
  'an address up to a length': {
    schema: { type: 'string', format: 'uri', minLength: 1, maxLength: 2083 },
    valid: ['"https://a.example/b/c?d=e"'],
    invalid: ['"a"', `"https://a.example/${'b'.repeat(2100)}"`, `"https://a.example${'/b'.repeat(1100)}"`],
  },
  'an e-mail address up to a length': {
    schema: { type: 'string', format: 'email', maxLength: 254 },
    valid: ['"a@b.example"'],
    invalid: ['"a"', `"a@${'b.'.repeat(130)}example"`],
  },
}

/** Not strict. */
const LOOSE_CASES: Readonly<Record<string, Case>> = {
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
  'an optional property whose schemas exclude each other': {
    schema: { properties: { a: { allOf: [{ type: 'string' }, { type: 'null' }] }, b: { type: 'null' } } },
    valid: ['{}', '{"b":null}'],
    invalid: ['{"a":null}'],
  },
}

describe('a grammar of a schema', () => {
  it.each(Object.entries(CASES))('allows %s', async (_, { schema, valid, invalid }) => {
    expect(await allowed(schema, [...valid, ...invalid])).toEqual(valid)
  })

  it.each(Object.entries(WRITTEN_BY_LIBRARIES))(
    'allows %s, strict or not',
    async (_, { schema, valid, invalid }) => {
      const texts = [...valid, ...invalid]
      const validate = new Ajv2020({ strict: false, validateFormats: false }).compile(schema as object)
      expect(valid.filter((text) => !validate(JSON.parse(text)))).toEqual([])
      expect(await allowed(schema, texts)).toEqual(valid)
      expect(await allowed(schema, texts, false)).toEqual(valid)
    },
  )

  it.each(Object.entries(LOOSE_CASES))(
    'allows %s where it is not strict',
    async (_, { schema, valid, invalid }) => {
      expect(await allowed(schema, [...valid, ...invalid], false)).toEqual(valid)
    },
  )
})

describe('multiples of a number', () => {
  const wholes = Array.from({ length: 61 }, (_, index) => index - 30)
  const twentieths = Array.from({ length: 121 }, (_, index) => (index - 60) / 20)
  const numbers = [...new Set([...wholes, ...twentieths])]

  it.each([
    { type: 'integer', multipleOf: 3 },
    { type: 'integer', multipleOf: 7, minimum: -15, maximum: 23 },
    { type: 'integer', multipleOf: 2.5 },
    { type: 'number', multipleOf: 0.25, exclusiveMinimum: -1.5, maximum: 12 },
    { type: 'number', multipleOf: 0.3, minimum: 0.35 },
    { type: 'number', multipleOf: 4, exclusiveMaximum: 8 },
  ])('are all allowed, and nothing else: %j', async (schema) => {
    const validate = new Ajv2020({ multipleOfPrecision: 6 }).compile(schema)
    const valid = numbers.filter((value) => validate(value)).map(String)
    expect(valid.length).toBeGreaterThan(2)
    expect(await allowed(schema, numbers.map(String))).toEqual(valid)
  })

  it('may be large', async () => {
    const schema = { type: 'integer', multipleOf: 60 }
    expect(await allowed(schema, ['999999999960', '-120', '999999999961', '60.0', '-0', '060'])).toEqual([
      '999999999960',
      '-120',
    ])
  })
})

describe('what Zod writes', () => {
  it.each([
    ['an e-mail address', z.email(), { valid: 'a.b@c.de', invalid: 'a@b' }],
    ['a UUID', z.uuid(), { valid: '123e4567-e89b-42d3-a456-426614174000', invalid: '123e4567' }],
    ['a date', z.iso.date(), { valid: '2026-11-28', invalid: '2026-13-01' }],
    ['a time stamp', z.iso.datetime(), { valid: '2026-11-28T10:00:00Z', invalid: '2026-11-28' }],
    ['an IPv4 address', z.ipv4(), { valid: '10.0.0.1', invalid: '10.0.0.256' }],
    ['a text that starts so', z.string().startsWith('ab'), { valid: 'abc', invalid: 'cab' }],
  ])('for %s is kept to', async (_, schema, { valid, invalid }) => {
    const texts = [valid, invalid].map((text) => JSON.stringify(text))
    expect(await allowed(z.toJSONSchema(schema), texts)).toEqual([JSON.stringify(valid)])
  })
})

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

  it('is taken without its keyword where it is not strict', async () => {
    const source = schemaToGrammar({ type: 'integer', multipleOf: 997 }, { isStrict: false })
    expect(
      await Testings.isGrammarAcceptString(
        await Grammar.fromEBNF(await separateAlternatives(xgrammar, source)),
        '4',
      ),
    ).toBe(true)
  })

  const DECIMAL = '^(?!^[-+.]*$)[+-]?0*\\d*\\.?\\d*$'

  it('is taken without a pattern that no grammar can have where it is not strict, and with what stands beside it', () => {
    const plain = schemaToGrammar({ type: 'string', maxLength: 5 }, { isStrict: false })
    const schema = { type: 'string', maxLength: 5, pattern: DECIMAL }
    expect(schemaToGrammar(schema, { isStrict: false })).toBe(plain)
    expect(() => schemaToGrammar({ pattern: DECIMAL }, { isStrict: true })).toThrow('lookaround')
  })

  it('is refused where too much of it is written in vain', () => {
    const some = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`p${index}`, true]))
    const option = { properties: { ...some, z: false }, required: ['z'] }
    const options = Array.from({ length: 300 }, (_, index) => ({ ...option, minProperties: index }))
    expect(() => schemaToGrammar({ anyOf: [...options, true] }, { isStrict: false })).toThrow(
      'too many parts without a value',
    )
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
    ['is too large', { enum: Array.from({ length: 100_000 }, (_, i) => `a long text of number ${i}`) }],
  ])('ends where it %s', (_, schema) => {
    expect(() => schemaToGrammar(schema, { isStrict: false })).toThrow(/deeper than 256|too large|itself/)
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

describe('a long bound', () => {
  const text = (length: number): string => JSON.stringify('x'.repeat(length))
  const texts = (...lengths: readonly number[]): readonly string[] => lengths.map(text)

  it.each([
    [{ type: 'string', maxLength: 500 }, [0, 1, 31, 32, 33, 64, 479, 480, 499, 500], [501, 512, 532]],
    [{ type: 'string', minLength: 300, maxLength: 700 }, [300, 331, 332, 699, 700], [0, 299, 701]],
    [{ type: 'string', minLength: 200, maxLength: 200 }, [200], [199, 201]],
    [{ type: 'string', pattern: '^x{1,500}$' }, [1, 63, 64, 65, 128, 499, 500], [0, 501, 564]],
    [{ type: 'string', pattern: '^x{300,1000}$' }, [300, 363, 364, 1000], [0, 299, 1001]],
  ])('is kept to: %j', async (schema, valid, invalid) => {
    expect(await allowed(schema, [...texts(...valid), ...texts(...invalid)])).toEqual(texts(...valid))
  })

  it('that would take seconds to compile is none where the schema is not strict', async () => {
    const schema = { type: 'string', minLength: 2, maxLength: 5000 }
    expect(await allowed(schema, texts(1, 2, 5001), false)).toEqual(texts(2, 5001))
  })
})
