// @ts-check
/**
 * Random requests to every endpoint, made from the server's own description of itself: proper ones, ones with a field out
 * of its bounds or of another type, and bodies that are broken on purpose. For the property test and for `hostile-clients.mjs`.
 */
import fc from 'fast-check'

/** @typedef {Record<string, any>} Json */
/** @typedef {{ url: string, body: string | null }} RandomRequest */
/** @typedef {{ name: string, method: string, access: 'public' | 'key' | 'admin', hasBody: boolean, requests: import('fast-check').Arbitrary<RandomRequest> }} Endpoint */

const ACCESS = /** @type {const} */ ({ apiKey: 'key', adminKey: 'admin' })

/** @param {Json} document @returns {Endpoint[]} */
export function readEndpoints(document) {
  return Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => {
      const [scheme] = operation.security.flatMap(Object.keys)
      return {
        name: `${method.toUpperCase()} ${path}`,
        method: method.toUpperCase(),
        access: ACCESS[/** @type {keyof typeof ACCESS} */ (scheme)] ?? /** @type {const} */ ('public'),
        hasBody: operation.requestBody !== undefined,
        requests: requestOf(path, operation, document.components.schemas),
      }
    }),
  )
}

/** @param {string} path @param {Json} operation @param {Json} schemas @returns {import('fast-check').Arbitrary<RandomRequest>} */
function requestOf(path, operation, schemas) {
  const parameters = /** @type {Json[]} */ (operation.parameters ?? [])
  const of = (/** @type {string} */ place) =>
    fc.record(
      Object.fromEntries(
        parameters
          .filter((parameter) => parameter.in === place)
          .map(({ name, schema }) => [name, parameterText(schema)]),
      ),
      place === 'query' ? { requiredKeys: [] } : {},
    )
  const schema = operation.requestBody?.content['application/json'].schema
  return fc
    .record({
      path: of('path'),
      query: of('query'),
      body: schema === undefined ? fc.constant(null) : bodyText(schema, schemas),
    })
    .map(({ path: inPath, query, body }) => {
      const filled = Object.entries(inPath).reduce(
        (text, [name, value]) => text.replace(`{${name}}`, () => encode(toText(value)) || '-'),
        path,
      )
      const pairs = Object.entries(query).map(([name, value]) => `${name}=${encode(toText(value))}`)
      return { url: pairs.length === 0 ? filled : `${filled}?${pairs.join('&')}`, body }
    })
}

/** Some objects have no text of their own. @param {unknown} value */
function toText(value) {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
}

/** Lone surrogates have no encoding. @param {string} text */
function encode(text) {
  return encodeURIComponent(text.replaceAll(/\p{Surrogate}/gu, '?'))
}

/** @param {Json} schema @returns {import('fast-check').Arbitrary<unknown>} */
function parameterText(schema) {
  return fc.oneof(
    { weight: 3, arbitrary: valueOf(schema, {}) },
    { weight: 1, arbitrary: fc.oneof(fc.string(), fc.constantFrom('1e999', '-0', 'NaN', '..', '%', '\0')) },
  )
}

/** @param {Json} schema @param {Json} schemas @returns {import('fast-check').Arbitrary<string>} */
function bodyText(schema, schemas) {
  const json = valueOf(schema, schemas).map((value) => JSON.stringify(value))
  return fc.oneof(
    { weight: 6, arbitrary: json },
    { weight: 3, arbitrary: fc.tuple(json, fc.nat(), fc.constantFrom(...BREAKS)).map(breakText) },
    { weight: 1, arbitrary: fc.oneof(fc.json(), fc.string()) },
  )
}

/** Texts that come into the place of a piece of a body. */
const BREAKS = [
  '',
  '1e999',
  '-0',
  '-1e-999',
  '9007199254740993',
  '"\\ud800"',
  '"\\udc00\\ud800"',
  '"\\u0000"',
  '{"__proto__":{"x":1}}',
  '"__proto__":',
  '{"prompt":"a","prompt":"b"}',
  '[[[[[[[[[[',
  `${'['.repeat(50)}${']'.repeat(50)}`,
  `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
  'null',
  '\u{feff}',
  '"\u{202e}"',
  '}',
  ',,',
]

/** @param {[string, number, string]} parts */
function breakText([text, position, replacement]) {
  // The boundaries of JSON's own pieces, where a replacement often gives proper JSON again.
  const pieces = text.split(/(?<=[[{,:])|(?=[\]},])/)
  pieces[position % pieces.length] = replacement
  return pieces.join('')
}

/** A value that the schema allows, or one a little beside it. @param {Json} schema @param {Json} schemas @returns {import('fast-check').Arbitrary<unknown>} */
function valueOf(schema, schemas) {
  return fc.oneof(
    { weight: 60, arbitrary: properValueOf(schema, schemas) },
    { weight: 1, arbitrary: fc.constantFrom(...ODD_VALUES) },
    { weight: 1, arbitrary: fc.jsonValue() },
  )
}

const ODD_VALUES = [
  null,
  true,
  -1,
  0,
  1.5,
  1e308,
  Number.MAX_SAFE_INTEGER,
  '',
  'default',
  '\ud800',
  '\0',
  '👩‍👩‍👧',
  'a'.repeat(5000),
  [],
  {},
  [[[]]],
  { constructor: { prototype: 1 } },
]

/** @param {Json} schema @param {Json} schemas @returns {import('fast-check').Arbitrary<unknown>} */
function properValueOf(schema, schemas) {
  const name = /\w+$/.exec(schema.$ref ?? '')?.[0]
  if (name !== undefined) return properValueOf(schemas[name], schemas)
  if (schema.anyOf !== undefined) {
    return fc.oneof(...schema.anyOf.map((/** @type {Json} */ one) => properValueOf(one, schemas)))
  }
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum)
  const [type] = [schema.type].flat()
  switch (type) {
    case 'string':
      return fc.oneof(
        fc.string({
          unit: 'binary',
          minLength: schema.minLength ?? 0,
          maxLength: Math.min(schema.maxLength ?? 40, 200),
        }),
        fc.emailAddress(),
        // The one name that every server knows.
        fc.constant('default'),
      )
    case 'integer':
      return fc.integer({ min: bound(schema.minimum, -100), max: bound(schema.maximum, 10_000) })
    case 'number':
      return fc.double({ min: schema.minimum ?? -100, max: schema.maximum ?? 1e9, noNaN: true })
    case 'boolean':
      return fc.boolean()
    case 'null':
      return fc.constant(null)
    case 'array':
      return fc.array(valueOf(schema.items ?? {}, schemas), {
        minLength: schema.minItems ?? 0,
        maxLength: Math.min(schema.maxItems ?? 8, 64),
      })
    case 'object':
      return objectOf(schema, schemas)
    default:
      return fc.jsonValue()
  }
}

/** Values of fields whose bounds lie in the model or in another field: most other values are refused for these. */
const RELATED_VALUES = new Map(
  Object.entries({
    logit_bias: fc.dictionary(fc.nat(255).map(String), fc.double({ min: -100, max: 100, noNaN: true })),
    min_tokens: fc.nat(3),
    stop_token_ids: fc.array(fc.nat(255), { maxLength: 8 }),
  }),
)

/** Fields that constrain an answer: at most one may ask for something, and not every model can keep to it. */
const CONSTRAINTS = new Set([
  ...[
    'response_format',
    'structured_outputs',
    'json_schema',
    'grammar',
    'ebnf',
    'regex',
    'choice',
    'structural_tag',
  ],
  ...['guided_json', 'guided_regex', 'guided_choice', 'guided_grammar'],
])

/** @param {string} name @param {Json} schema @param {Json} schemas @returns {import('fast-check').Arbitrary<unknown>} */
function fieldOf(name, schema, schemas) {
  const any = valueOf(schema, schemas)
  if (CONSTRAINTS.has(name))
    return fc.oneof({ weight: 60, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: any })
  const related = RELATED_VALUES.get(name)
  return related === undefined
    ? any
    : fc.oneof({ weight: 9, arbitrary: related }, { weight: 1, arbitrary: any })
}

/** @param {Json} schema @param {Json} schemas */
function objectOf(schema, schemas) {
  const fields = Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, field]) => [name, fieldOf(name, field, schemas)]),
  )
  const required = /** @type {string[]} */ (schema.required ?? [])
  const proper = fc.record(fields, { requiredKeys: required })
  const more = fc.dictionary(fc.constantFrom('constructor', 'toString', 'x', 'n', 'user'), fc.jsonValue(), {
    maxKeys: 2,
  })
  return fc.oneof(
    { weight: 8, arbitrary: proper },
    { weight: 2, arbitrary: fc.tuple(proper, more).map(([object, others]) => ({ ...others, ...object })) },
    { weight: 1, arbitrary: fc.record(fields, { requiredKeys: [] }) },
  )
}

/** Bounds of integers that are wider than what generates them. @param {number | undefined} given @param {number} otherwise */
function bound(given, otherwise) {
  if (given === undefined) return otherwise
  return Math.max(-2_147_483_648, Math.min(2_147_483_647, given))
}
