/** The keywords of JSON Schema (2020-12 and draft 7), by what is done with them. */

export type Schema = Readonly<Record<string, unknown>>

/** Would forbid values, and are not kept to: refused in a strict schema. */
const IGNORED: readonly string[] = [
  ...['not', 'if', 'then', 'else', 'dependentRequired', 'dependentSchemas', 'dependencies'],
  ...['uniqueItems', 'contains', 'minContains', 'maxContains', 'unevaluatedItems', 'contentSchema'],
  ...['patternProperties', 'propertyNames', 'minProperties', 'maxProperties', 'unevaluatedProperties'],
  ...['$dynamicRef', '$recursiveRef', 'additionalItems'],
]

/** Values of keywords of that list that ask for nothing. */
const ASKS_NOTHING: Readonly<Record<string, readonly unknown[]>> = {
  uniqueItems: [false],
  minProperties: [0],
  minContains: [0],
  unevaluatedProperties: [true, false],
  unevaluatedItems: [true],
  additionalItems: [true, false],
}

const OF_TYPE: Readonly<Record<string, readonly string[]>> = {
  object: [
    'properties',
    'required',
    'additionalProperties',
    'patternProperties',
    'propertyNames',
    'minProperties',
    'maxProperties',
  ],
  array: ['items', 'prefixItems', 'minItems', 'maxItems', 'uniqueItems', 'contains'],
  string: ['pattern', 'minLength', 'maxLength', 'format'],
  number: ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf'],
}

/** All that can forbid a value: other keywords are annotations, or none of JSON Schema. */
const ASSERTIONS: ReadonlySet<string> = new Set([
  ...['$ref', 'type', 'enum', 'const', 'anyOf', 'oneOf', 'allOf'],
  ...Object.values(OF_TYPE).flat(),
  ...IGNORED,
])

export function isIgnored(keyword: string): boolean {
  return IGNORED.includes(keyword)
}

/** Whether a keyword of that list would forbid anything with this value. */
export function asksSomething(keyword: string, value: unknown): boolean {
  return ASKS_NOTHING[keyword]?.includes(value) !== true
}

/** The first keyword that would be ignored. */
export function ignoredKeyword(schema: Schema): string | undefined {
  return IGNORED.find((keyword) => Object.hasOwn(schema, keyword) && asksSomething(keyword, schema[keyword]))
}

/** The schema without what says nothing of a value. */
export function assertionsOf(schema: Schema): Schema {
  const { exclusiveMinimum, exclusiveMaximum } = schema
  const isDraft4 = [exclusiveMinimum, exclusiveMaximum].some((flag) => typeof flag === 'boolean')
  const entries = Object.entries(isDraft4 ? withExclusiveBounds(schema) : schema)
  return Object.fromEntries(entries.filter(([keyword]) => ASSERTIONS.has(keyword)))
}

/** Draft 4 says with `true` or `false` whether a bound itself is excluded; later ones write the bound there. */
function withExclusiveBounds(schema: Schema): Schema {
  const written: Record<string, unknown> = { ...schema }
  for (const [flag, bound] of [
    ['exclusiveMinimum', 'minimum'],
    ['exclusiveMaximum', 'maximum'],
  ] as const) {
    if (typeof written[flag] !== 'boolean') continue
    const isExclusive = written[flag] && written[bound] !== undefined
    if (isExclusive) written[flag] = written[bound]
    delete written[isExclusive ? bound : flag]
  }
  return written
}

/** The type that a schema without one must mean. */
export function impliedType(schema: Schema): string | null {
  const type = Object.keys(OF_TYPE).find((name) =>
    OF_TYPE[name]?.some((keyword) => Object.hasOwn(schema, keyword)),
  )
  return type ?? null
}

/** The schema of properties that have no name of their own; undefined where nothing is said of them. */
export function othersOf({ additionalProperties, patternProperties }: Schema): unknown {
  const ofPatterns = isSchemaObject(patternProperties) ? Object.values(patternProperties) : []
  // Which names fit a pattern is not kept to, so each of its values may have any name.
  if (ofPatterns.length === 0 || additionalProperties === true) return additionalProperties
  const options = [...ofPatterns, additionalProperties].filter((one) => one !== undefined && one !== false)
  if (options.length > 0) return options.length === 1 ? options[0] : { anyOf: options }
  return false
}

export function isSchemaObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
