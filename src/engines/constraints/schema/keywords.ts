/** The keywords of JSON Schema (2020-12 and draft 7), by what is done with them. */

export type Schema = Readonly<Record<string, unknown>>

/** Say nothing of what a value is. */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  ...[
    '$schema',
    '$id',
    '$anchor',
    '$comment',
    '$defs',
    'definitions',
    'title',
    'description',
    'default',
    'examples',
  ],
  ...[
    'deprecated',
    'readOnly',
    'writeOnly',
    'discriminator',
    'contentEncoding',
    'contentMediaType',
    '$vocabulary',
  ],
])

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

/** The first keyword that would be ignored. */
export function ignoredKeyword(schema: Schema): string | undefined {
  return IGNORED.find(
    (keyword) => Object.hasOwn(schema, keyword) && ASKS_NOTHING[keyword]?.includes(schema[keyword]) !== true,
  )
}

/** The schema without what says nothing of a value. */
export function assertionsOf(schema: Schema): Schema {
  return Object.fromEntries(Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.has(keyword)))
}

/** The type that a schema without one must mean. */
export function impliedType(schema: Schema): string | null {
  const type = Object.keys(OF_TYPE).find((name) =>
    OF_TYPE[name]?.some((keyword) => Object.hasOwn(schema, keyword)),
  )
  return type ?? null
}

export function isSchemaObject(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
