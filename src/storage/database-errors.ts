/** Interprets the errors that SQLite throws, and the one of PostgreSQL that the services ask for. */
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

/** The reason why a database cannot be used, as the end of a sentence. */
export function databaseTrouble(error: unknown): string {
  const code = sqliteCode(error)
  const known = code === null ? undefined : SQLITE_TROUBLES[code & 0xff]
  return known ?? (error instanceof Error ? error.message : String(error))
}
