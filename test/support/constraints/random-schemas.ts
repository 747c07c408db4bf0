/** Random JSON schemas of what a constraint keeps to, small enough for the answers of a small model. */
import fc from 'fast-check'

type Schema = Readonly<Record<string, unknown>> | boolean

const name = fc.constantFrom('a', 'b', 'name', 'list', 'x-y', 'é', 'a"b', 'na', 'namely')
const integer = fc.integer({ min: -2000, max: 2000 })

function bounds(value: fc.Arbitrary<number>, [least, most]: readonly [string, string]): fc.Arbitrary<Schema> {
  return fc
    .tuple(fc.option(value), fc.option(value))
    .map(([a, b]) => (a !== null && b !== null && a > b ? [b, a] : [a, b]))
    .map(([a, b]) => ({ ...(a !== null && { [least]: a }), ...(b !== null && { [most]: b }) }))
}

const decimal = fc.integer({ min: -20_000, max: 20_000 }).map((hundredths) => hundredths / 100)

const numbers: fc.Arbitrary<Schema> = fc.oneof(
  bounds(integer, ['minimum', 'maximum']).map((own) => ({ type: 'integer', ...(own as object) })),
  bounds(decimal, ['minimum', 'maximum']).map((own) => ({ type: 'number', ...(own as object) })),
  bounds(decimal, ['minimum', 'exclusiveMaximum'])
    .filter((own) => Object.keys(own as object).length < 2)
    .map((own) => ({ type: 'number', ...(own as object) })),
  fc.constant<Schema>({ type: 'number' }),
)

const strings: fc.Arbitrary<Schema> = fc.oneof(
  bounds(fc.integer({ min: 0, max: 12 }), ['minLength', 'maxLength']).map((own) => ({
    type: 'string',
    ...(own as object),
  })),
  fc
    .constantFrom(
      '^[a-z]{2,5}$',
      '^(foo|bar)+$',
      '^\\d{3}-[A-F]*$',
      '^["\\\\x]{1,3}$',
      '^\\S+ .?$',
      '^[^a-z"]{0,4}$',
    )
    .map((pattern) => ({ type: 'string', pattern })),
  fc.constantFrom('date', 'date-time', 'uuid', 'ipv4', 'email').map((format) => ({ type: 'string', format })),
)

const fixed: fc.Arbitrary<Schema> = fc.oneof(
  fc.constantFrom<Schema>(
    { type: 'boolean' },
    { type: 'null' },
    { type: ['string', 'null'] },
    { const: { a: [1, 'x'] } },
  ),
  fc
    .uniqueArray(fc.oneof(fc.string({ maxLength: 4 }), integer, fc.constant(null)), {
      minLength: 1,
      maxLength: 4,
    })
    .map((values) => ({ enum: values })),
)

const { schema } = fc.letrec<{
  schema: Schema
  object: Schema
  array: Schema
  anyOf: Schema
  allOf: Schema
  oneOf: Schema
}>((tie) => ({
  schema: fc.oneof(
    { maxDepth: 2, withCrossShrink: true },
    numbers,
    strings,
    fixed,
    tie('object'),
    tie('array'),
    tie('anyOf'),
    tie('allOf'),
    tie('oneOf'),
  ),
  object: fc
    .record({
      properties: fc.dictionary(name, tie('schema'), { maxKeys: 3 }),
      required: fc.subarray(['a', 'b', 'name', 'list', 'é']),
      additionalProperties: fc.option(fc.oneof(fc.constant(false), tie('schema')), { nil: undefined }),
    })
    .map(({ properties, required, additionalProperties }) => ({
      type: 'object',
      properties,
      required: required.filter((key) => Object.hasOwn(properties, key)),
      ...(additionalProperties !== undefined && { additionalProperties }),
    })),
  array: fc
    .record({
      items: tie('schema'),
      prefixItems: fc.array(tie('schema'), { maxLength: 2 }),
      minItems: fc.integer({ min: 0, max: 3 }),
    })
    .map(({ items, prefixItems, minItems }) => ({
      type: 'array',
      items,
      minItems,
      maxItems: minItems + 2,
      ...(prefixItems.length > 0 && { prefixItems }),
    })),
  anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })),
  allOf: fc.tuple(tie('object'), tie('object')).map(([one, other]) => ({
    allOf: [
      { ...(one as object), additionalProperties: undefined },
      { properties: { extra: other }, required: ['extra'] },
    ].map((part) => JSON.parse(JSON.stringify(part)) as Schema),
  })),
  oneOf: fc.tuple(tie('schema'), tie('schema')).map(([one, other]) => ({
    oneOf: [
      { type: 'object', properties: { kind: { const: 'one' }, value: one }, required: ['kind'] },
      { type: 'object', properties: { kind: { const: 'other' }, value: other }, required: ['kind'] },
    ],
  })),
}))

export const randomSchema: fc.Arbitrary<Schema> = schema
