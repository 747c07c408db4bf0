/** Whether no value can be valid against two of several schemas, as far as types and constants show it. */
import { isSchemaObject, type Schema } from './keywords.ts'
import { typesOf } from './merge-schemas.ts'

export function areDisjoint(schemas: readonly unknown[]): boolean {
  return schemas.every((one, index) => schemas.slice(index + 1).every((other) => exclude(one, other)))
}

function exclude(a: unknown, b: unknown): boolean {
  if (!isSchemaObject(a) || !isSchemaObject(b)) return a === false || b === false
  return haveNoCommonType(a, b) || haveNoCommonConstant(a, b) || propertyExcludes(a, b)
}

function haveNoCommonType({ type: a }: Schema, { type: b }: Schema): boolean {
  if (a === undefined || b === undefined) return false
  const numbersAsOne = (type: string): string => (type === 'integer' ? 'number' : type)
  const others = new Set(typesOf(b).map(numbersAsOne))
  return typesOf(a).every((type) => !others.has(numbersAsOne(type)))
}

function haveNoCommonConstant(a: Schema, b: Schema): boolean {
  const [one, other] = [constantsOf(a), constantsOf(b)]
  return one !== null && other !== null && ![...one].some((text) => other.has(text))
}

function constantsOf({ const: only, enum: several }: Schema): ReadonlySet<string> | null {
  if (only !== undefined) return new Set([textOf(only)])
  return Array.isArray(several) ? new Set(several.map(textOf)) : null
}

/** The same for equal values, in whatever order their keys stand. */
function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isSchemaObject(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([x], [y]) => (x < y ? -1 : 1)))
      : part,
  )
}

/** Whether both require a property whose values exclude each other. */
function propertyExcludes(a: Schema, b: Schema): boolean {
  const [one, other] = [requiredOf(a), requiredOf(b)]
  return Object.keys(one).some((name) => Object.hasOwn(other, name) && exclude(one[name], other[name]))
}

function requiredOf({ properties, required }: Schema): Schema {
  if (!isSchemaObject(properties) || !Array.isArray(required)) return {}
  return Object.fromEntries(Object.entries(properties).filter(([name]) => required.includes(name)))
}
