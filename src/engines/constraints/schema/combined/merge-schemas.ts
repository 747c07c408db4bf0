/** Two schemas of one value as one: `allOf`, and keywords beside `$ref`, `anyOf` and `oneOf`. */
import { isDeepStrictEqual } from 'node:util'
import { asksSomething, assertionsOf, isIgnored, isSchemaObject, othersOf, type Schema } from '../keywords.ts'
import type { Place } from '../counts.ts'
import { canonicalText } from './json-text.ts'
import { SchemaError } from '../schema-error.ts'

type MergeValues = (a: unknown, b: unknown) => unknown

const largest: MergeValues = (a, b) => Math.max(Number(a), Number(b))
const smallest: MergeValues = (a, b) => Math.min(Number(a), Number(b))
const bothOf: MergeValues = (a, b) => ({ allOf: [a, b] })
/** Pairs of options that two lists may make: more lists beside each other would make them without an end. */
const MAX_PAIRS = 256
const ITEMS = ['items', 'prefixItems'] as const
/** What they mean depends on a keyword beside them. */
const MERGED_TOGETHER: ReadonlySet<string> = new Set(['properties', ...ITEMS])

/** Of two of them one grammar cannot be made. Where the schema is not strict, the first is kept to. */
const KEPT_TO_ONE: ReadonlySet<string> = new Set(['pattern', 'format', 'multipleOf'])

const MERGED: Readonly<Record<string, MergeValues>> = {
  type: (a, b) => commonTypes(typesOf(a), typesOf(b)),
  required: (a, b) => [...new Set([...listOf(a), ...listOf(b)])],
  enum: (a, b) => commonValues(listOf(a), listOf(b)),
  anyOf: pairsOf,
  oneOf: pairsOf,
  patternProperties: (a, b) => bothPatterns(a, b),
  additionalProperties: (a, b) => (a === false || b === false ? false : bothOf(a, b)),
  // Each once: one that refers to itself would double them each time.
  allOf: (a, b) => [...new Set([...listOf(a), ...listOf(b)])],
  ...Object.fromEntries(
    ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'].map((key) => [key, largest]),
  ),
  ...Object.fromEntries(
    ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'].map((key) => [key, smallest]),
  ),
}

/** @throws SchemaError where the two cannot be said as one */
export function mergeSchemas(a: unknown, b: unknown, place: Place): unknown {
  if (a === true) return b
  if (b === true) return a
  if (a === false || b === false) return false
  if (!isSchemaObject(a) || !isSchemaObject(b))
    throw new SchemaError(place.path, 'a schema must be an object or a boolean')
  const [one, other] = [assertionsOf(a), assertionsOf(b)]
  const merged: Record<string, unknown> = { ...one }
  for (const [key, value] of Object.entries(other)) {
    if (!Object.hasOwn(merged, key) || isDeepStrictEqual(merged[key], value)) merged[key] = value
    else if (key === 'const') return { enum: [] }
    else if (!MERGED_TOGETHER.has(key)) merged[key] = mergeValues(key, [merged[key], value], place)
  }
  const together = { properties: mergeProperties(one, other), ...mergeItems(one, other) }
  const entries = Object.entries({ ...merged, ...together })
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined))
}

function mergeValues(key: string, [a, b]: readonly [unknown, unknown], place: Place): unknown {
  const merge = MERGED[key]
  const merged = merge?.(a, b)
  if (merged !== undefined) return merged
  // Refused later, or ignored: of two values the one that asks for something.
  if (isIgnored(key)) return asksSomething(key, a) ? a : b
  if (KEPT_TO_ONE.has(key) && !place.isStrict) return a
  throw new SchemaError(place.path, `two different '${key}' for one value cannot be combined`)
}

/** One option of each list at a time; undefined where these are too many. */
function pairsOf(a: unknown, b: unknown): unknown {
  const [some, others] = [listOf(a), listOf(b)]
  if (some.length * others.length > MAX_PAIRS) return undefined
  return some.flatMap((one) => others.map((other) => bothOf(one, other)))
}

function bothPatterns(a: unknown, b: unknown): unknown {
  if (!isSchemaObject(a) || !isSchemaObject(b)) return undefined
  const common = Object.keys(a).filter((pattern) => Object.hasOwn(b, pattern))
  return {
    ...a,
    ...b,
    ...Object.fromEntries(common.map((pattern) => [pattern, bothOf(a[pattern], b[pattern])])),
  }
}

/** The items by their place and all others, as both describe them. */
function mergeItems(a: Schema, b: Schema): Schema {
  const sides = [a, b].filter((side) => ITEMS.some((keyword) => Object.hasOwn(side, keyword)))
  if (sides.length < 2) return {}
  const arrays = sides.map(({ items, prefixItems }) =>
    Array.isArray(items)
      ? { places: listOf(prefixItems ?? items), rest: false }
      : { places: listOf(prefixItems ?? []), rest: items },
  )
  const lengths = arrays.map(({ places }) => places.length)
  const ends = arrays.filter(({ rest }) => rest === false).map(({ places }) => places.length)
  const prefixItems = Array.from({ length: Math.min(Math.max(...lengths), ...ends) }, (_, index) =>
    allOf(arrays.map(({ places, rest }) => (index < places.length ? places[index] : rest))),
  )
  const rests = arrays.map(({ rest }) => rest)
  const items = rests.every((rest) => rest === undefined) ? undefined : allOf(rests)
  return { prefixItems: prefixItems.length === 0 ? undefined : prefixItems, items }
}

/** @param schemas undefined for those that say nothing */
function allOf(schemas: readonly unknown[]): unknown {
  const given = schemas.filter((schema) => schema !== undefined)
  if (given.includes(false)) return false
  return given.length === 1 ? given[0] : { allOf: given }
}

/** Each as both describe it: the one by its name, the other perhaps among those that it does not name. */
function mergeProperties(a: Schema, b: Schema): Schema | undefined {
  const [one, other] = [propertiesOf(a), propertiesOf(b)]
  if (one === null && other === null) return undefined
  const names = [...new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})])]
  return Object.fromEntries(names.map((name) => [name, allOf([describe(a, name), describe(b, name)])]))
}

function describe(schema: Schema, name: string): unknown {
  const own = propertiesOf(schema)
  return own !== null && Object.hasOwn(own, name) ? own[name] : othersOf(schema)
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

function commonValues(a: readonly unknown[], b: readonly unknown[]): readonly unknown[] {
  const texts = new Set(b.map(canonicalText))
  return a.filter((value) => texts.has(canonicalText(value)))
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value]
}
