/** Two schemas of one value as one: `allOf`, and keywords beside `$ref`, `anyOf` and `oneOf`. */
import { isDeepStrictEqual } from 'node:util'
import { assertionsOf, isSchemaObject, type Schema } from './keywords.ts'
import { SchemaError } from './schema-error.ts'

type MergeValues = (a: unknown, b: unknown) => unknown

const largest: MergeValues = (a, b) => Math.max(Number(a), Number(b))
const smallest: MergeValues = (a, b) => Math.min(Number(a), Number(b))
const bothOf: MergeValues = (a, b) => ({ allOf: [a, b] })

const MERGED: Readonly<Record<string, MergeValues>> = {
  type: (a, b) => commonTypes(typesOf(a), typesOf(b)),
  required: (a, b) => [...new Set([...listOf(a), ...listOf(b)])],
  enum: (a, b) => listOf(a).filter((one) => listOf(b).some((other) => isDeepStrictEqual(one, other))),
  items: bothOf,
  additionalProperties: (a, b) => (a === false || b === false ? false : bothOf(a, b)),
  allOf: (a, b) => [...listOf(a), ...listOf(b)],
  ...Object.fromEntries(
    ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'].map((key) => [key, largest]),
  ),
  ...Object.fromEntries(
    ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'].map((key) => [key, smallest]),
  ),
}

/** @throws SchemaError where the two cannot be said as one */
export function mergeSchemas(a: unknown, b: unknown, path: string): unknown {
  if (a === true) return b
  if (b === true) return a
  if (a === false || b === false) return false
  if (!isSchemaObject(a) || !isSchemaObject(b))
    throw new SchemaError(path, 'a schema must be an object or a boolean')
  const [one, other] = [assertionsOf(a), assertionsOf(b)]
  const merged: Record<string, unknown> = { ...one }
  for (const [key, value] of Object.entries(other)) {
    if (!Object.hasOwn(merged, key) || isDeepStrictEqual(merged[key], value)) merged[key] = value
    else if (key !== 'properties') merged[key] = mergeValues(key, [merged[key], value], path)
  }
  const properties = mergeProperties(one, other)
  return properties === null ? merged : { ...merged, properties }
}

function mergeValues(key: string, [a, b]: readonly [unknown, unknown], path: string): unknown {
  const merge = MERGED[key]
  if (merge === undefined)
    throw new SchemaError(path, `two different '${key}' for one value cannot be combined`)
  return merge(a, b)
}

/** Those that both allow; each as both describe it. */
function mergeProperties(a: Schema, b: Schema): Schema | null {
  const [one, other] = [propertiesOf(a), propertiesOf(b)]
  if (one === null && other === null) return null
  const names = [...new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})])]
  const allowed = names.filter((name) => allows(a, name) && allows(b, name))
  return Object.fromEntries(
    allowed.map((name) => {
      const both = [one, other].flatMap((own) =>
        own !== null && Object.hasOwn(own, name) ? [own[name]] : [],
      )
      return [name, both.length === 1 ? both[0] : { allOf: both }]
    }),
  )
}

function allows(schema: Schema, name: string): boolean {
  return schema['additionalProperties'] !== false || Object.hasOwn(propertiesOf(schema) ?? {}, name)
}

function propertiesOf({ properties }: Schema): Schema | null {
  return isSchemaObject(properties) ? properties : null
}

export function typesOf(type: unknown): readonly string[] {
  return (Array.isArray(type) ? type : [type]).map(String)
}

function commonTypes(a: readonly string[], b: readonly string[]): readonly string[] {
  const within = (type: string, types: readonly string[]): boolean =>
    types.includes(type) || (type === 'integer' && types.includes('number'))
  return [...new Set([...a.filter((type) => within(type, b)), ...b.filter((type) => within(type, a))])]
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}
