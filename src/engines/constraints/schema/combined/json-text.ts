/** A JSON value as text, the same for equal ones, in whatever order their keys stand. */
import { isSchemaObject } from '../keywords.ts'

export function canonicalText(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) =>
    isSchemaObject(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([x], [y]) => (x < y ? -1 : 1)))
      : part,
  )
}
