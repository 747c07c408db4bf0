/** Lengths and numbers of items, as the keywords of a schema bound them. */
import type { Schema } from './keywords.ts'
import { SchemaError } from './schema-error.ts'

const MAX_COUNT = 100_000
/** More take seconds to compile. */
const MAX_LOOSE_COUNT = 10_000

/** Where a schema stands, and how its keywords are taken. */
export interface Place {
  readonly path: string
  /** Whether keywords that are not kept to are refused. */
  readonly isStrict: boolean
}

/** @throws SchemaError */
export function leastOf(schema: Schema, keyword: 'minLength' | 'minItems', path: string): number {
  return countOf(schema, keyword, path) ?? 0
}

/** An upper bound: a high one is none where the schema is not strict. @throws SchemaError */
export function mostOf(schema: Schema, keyword: 'maxLength' | 'maxItems', place: Place): number {
  const isHigh = Number.isInteger(schema[keyword]) && Number(schema[keyword]) > MAX_LOOSE_COUNT
  if (isHigh && !place.isStrict) return Infinity
  return countOf(schema, keyword, place.path) ?? Infinity
}

/** @throws SchemaError for what is no list of so many */
export function schemasOf(given: unknown, path: string, least = 1): readonly unknown[] {
  if (Array.isArray(given) && given.length >= least) return given
  throw new SchemaError(path, 'it must be an array of schemas')
}

/** Null where nothing is said of it. */
function countOf(schema: Schema, keyword: string, path: string): number | null {
  const given = schema[keyword]
  if (given === undefined) return null
  if (Number.isSafeInteger(given) && (given as number) >= 0 && (given as number) <= MAX_COUNT)
    return given as number
  throw new SchemaError(`${path}/${keyword}`, `it must be an integer from 0 to ${MAX_COUNT}`)
}
