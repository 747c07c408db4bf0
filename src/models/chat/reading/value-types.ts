/**
 * The types of JSON that a schema allows a value to have, for formats that do not write values as JSON: whether `12` is a number or a
 * text, only the schema says.
 */
type Schema = Readonly<Record<string, unknown>>

const MAX_REFERENCES = 8

/** Null where any. @param root the schema that references lead into */
export function typesOfValue(schema: unknown, root: Schema): readonly string[] | null {
  const followed = follow(schema, root)
  if (followed === null) return null
  const { type, enum: values, const: only, properties, items } = followed
  if (typeof type === 'string') return [type]
  if (Array.isArray(type)) return type.map(String)
  if (only !== undefined) return [typeName(only)]
  if (Array.isArray(values)) return [...new Set(values.map(typeName))]
  if (properties !== undefined) return ['object']
  if (items !== undefined) return ['array']
  const options = followed['anyOf'] ?? followed['oneOf']
  if (!Array.isArray(options)) return null
  const types = options.map((option) => typesOfValue(option, root))
  return types.includes(null) ? null : [...new Set(types.flatMap((some) => some ?? []))]
}

/** As JSON schemas name it. */
export function typeName(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return Number.isInteger(value) ? 'integer' : typeof value
}

function follow(schema: unknown, root: Schema): Schema | null {
  let current = schema
  for (let i = 0; i < MAX_REFERENCES; i++) {
    if (typeof current !== 'object' || current === null) return null
    const { $ref } = current as Schema
    if (typeof $ref !== 'string') return current as Schema
    current = $ref
      .split('/')
      .slice(1)
      .reduce((holder: unknown, key) => (holder as Schema | undefined)?.[key], root)
  }
  return null
}
