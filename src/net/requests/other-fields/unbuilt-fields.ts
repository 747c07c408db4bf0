/**
 * Fields of a body that ask for what a route does not do: finds the first, and describes them all for the documentation.
 * Called by the schemas of bodies (`api/schemas/fields.ts`) and by the light server's parser; the fields are in
 * `field-table.ts` and beside it.
 *
 * Invariant: no field of that table is accepted and forgotten where its value asks for something.
 */
import { isDeepStrictEqual } from 'node:util'
import { brokenRule } from '../request-fields.ts'
import type { FieldTable } from './field-table.ts'
import { HARMLESS_FIELDS } from './harmless.ts'

type Body = Readonly<Record<string, unknown>>

interface UnbuiltField {
  readonly field: string
  /** Follows the field's name. */
  readonly problem: string
}

type UnbuiltRow = FieldTable extends ReadonlyMap<string, infer Row> ? Row : never

interface FieldOwner {
  readonly table: FieldTable
  /** The fields that the route reads itself. */
  readonly known: ReadonlySet<string>
}

/** A field that asks for what the route does not do, the first of the table; null where there is none. */
export function findUnbuiltField(body: Body, { table, known }: FieldOwner): UnbuiltField | null {
  if (!mayHaveAny(body, { table, known })) return null
  for (const [field, row] of table) {
    if (!Object.hasOwn(body, field) || known.has(field)) continue
    const value = body[field]
    if (isNeutral(value, row.neutral)) continue
    if (row.offWith !== undefined && body[row.offWith] === 'none') continue
    const name = nameHere(row, known)
    const why = name === null ? `this route cannot ${row.does}` : `it is called ${name} here`
    return { field, problem: `${brokenRule(neutralRule(row.neutral), value)}: ${why}` }
  }
  return null
}

/** The fields of nearly every body are fewer than those of the table, and none of them; a body may have a hundred thousand. */
function mayHaveAny(body: Body, { table, known }: FieldOwner): boolean {
  let left = table.size
  for (const field in body) if (left-- === 0 || (table.has(field) && !known.has(field))) return true
  return false
}

/** How a route calls what such a field asks for; null where it cannot do it. */
function nameHere({ names = [] }: UnbuiltRow, known: ReadonlySet<string>): string | null {
  return names.find((name) => known.has(name.split('.', 1)[0] ?? '')) ?? null
}

/** Both lists as a route's documentation shows them. */
export function describeOtherFields(table: FieldTable, known: ReadonlySet<string>): string {
  const list = (fields: readonly string[]) =>
    fields
      .filter((field) => !known.has(field))
      .map((field) => `\`${field}\``)
      .join(', ')
  const unbuilt = [...table.keys()]
  return (
    `Not built, and 400 unless the value asks for nothing, as \`null\` does: ${list(unbuilt)}. ` +
    `Ignored: ${list(HARMLESS_FIELDS)}, and fields of any other name.`
  )
}

function isNeutral(value: unknown, neutral: readonly unknown[]): boolean {
  return value === null || neutral.some((one) => value === one || isDeepStrictEqual(value, one))
}

function neutralRule(neutral: readonly unknown[]): string {
  return neutral.length === 0 ? 'null' : neutral.map((value) => JSON.stringify(value)).join(' or ')
}
