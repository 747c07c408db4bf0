/** Whether no value can be valid against two of several schemas, as far as types and constants show it. */
import { canonicalText } from './json-text.ts'
import { isSchemaObject, type Schema } from '../keywords.ts'
import { typesOf } from './merge-schemas.ts'

/** What shows it; null where a schema says nothing of that. */
interface Marks {
  readonly types: ReadonlySet<string> | null
  readonly constants: ReadonlySet<string> | null
  /** Schemas of the properties that must be there. */
  readonly required: Schema
}

/** Each is compared with all others. */
const known = new WeakMap<Schema, Marks>()

export function areDisjoint(schemas: readonly unknown[]): boolean {
  return schemas.every((one, index) => schemas.every((other, at) => at <= index || exclude(one, other)))
}

function exclude(a: unknown, b: unknown): boolean {
  if (!isSchemaObject(a) || !isSchemaObject(b)) return a === false || b === false
  const [one, other] = [marksOf(a), marksOf(b)]
  return (
    haveNoneInCommon(one.types, other.types) ||
    haveNoneInCommon(one.constants, other.constants) ||
    Object.keys(one.required).some(
      (name) => Object.hasOwn(other.required, name) && exclude(one.required[name], other.required[name]),
    )
  )
}

function haveNoneInCommon(a: ReadonlySet<string> | null, b: ReadonlySet<string> | null): boolean {
  if (a === null || b === null) return false
  for (const one of a) if (b.has(one)) return false
  return true
}

function marksOf(schema: Schema): Marks {
  const marks = known.get(schema) ?? {
    types: typeNames(schema),
    constants: constantsOf(schema),
    required: requiredOf(schema),
  }
  known.set(schema, marks)
  return marks
}

function typeNames({ type }: Schema): ReadonlySet<string> | null {
  if (type === undefined) return null
  return new Set(typesOf(type).map((one) => (one === 'integer' ? 'number' : one)))
}

function constantsOf({ const: only, enum: several }: Schema): ReadonlySet<string> | null {
  if (only !== undefined) return new Set([canonicalText(only)])
  return Array.isArray(several) ? new Set(several.map(canonicalText)) : null
}

function requiredOf({ properties, required }: Schema): Schema {
  if (!isSchemaObject(properties) || !Array.isArray(required)) return {}
  return Object.fromEntries(Object.entries(properties).filter(([name]) => required.includes(name)))
}
