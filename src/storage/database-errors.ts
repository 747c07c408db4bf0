/**
 * Interprets the errors that SQLite throws, and the one of PostgreSQL that the services ask for; tells what is wrong with the
 * schema of another version.
 */
import { ServiceError } from '../core/errors.ts'
import { errorCode } from '../core/system-error.ts'

const UNIQUE_CODES = new Set([1555, 2067])
const POSTGRES_UNIQUE_STATE = '23505'

/** Whether a row with this unique key exists already. */
export function isUniqueViolation(error: unknown): boolean {
  return UNIQUE_CODES.has(sqliteCode(error) ?? 0) || errorCode(error) === POSTGRES_UNIQUE_STATE
}

/** SQLite's extended result code, also of the cause of what is answered in its place; null for other errors. */
export function sqliteCode(thrown: unknown): number | null {
  const error = thrown instanceof ServiceError ? thrown.cause : thrown
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return null
  return error.errcode
}

/** By the primary result code, which is the low byte. */
const SQLITE_TROUBLES: Readonly<Record<number, string>> = {
  5: 'another program holds it locked',
  8: 'it may only be read',
  10: 'reading or writing it failed',
  11: 'it is damaged',
  13: 'the disk is full',
  14: 'the file cannot be opened or made there',
  26: 'it is not a SQLite database',
}

interface SchemaState {
  /** Names of the migrations that the database has; none in an empty one. */
  readonly applied: ReadonlySet<string>
  /** Those of this version, by name. */
  readonly migrations: Readonly<Record<string, unknown>>
}

/** What is wrong with a database of a later version, as the end of a sentence; null of any other. */
export function newerSchema({ applied, migrations }: SchemaState): string | null {
  const unknown = [...applied].find((name) => !(name in migrations))
  if (unknown === undefined) return null
  return `was written by a newer version of Sluice (it has '${unknown}'); nothing in it was changed`
}

/**
 * The same of an earlier version, which only the start of a server brings up to date: beside a command a server of that version
 * may be running, which would go on to write by its own rules. An empty database is nobody's yet.
 */
export function olderSchema({ applied, migrations }: SchemaState): string | null {
  const missing = Object.keys(migrations)
    .sort()
    .find((name) => !applied.has(name))
  if (applied.size === 0 || missing === undefined) return null
  return (
    `was written by an older version of Sluice (it lacks '${missing}') and was not changed: ` +
    'start the server of this version once, which brings it up to date'
  )
}

/** The reason why a database cannot be used, as the end of a sentence. */
export function databaseTrouble(error: unknown): string {
  const code = sqliteCode(error)
  const known = code === null ? undefined : SQLITE_TROUBLES[code & 0xff]
  return known ?? (error instanceof Error ? error.message : String(error))
}
