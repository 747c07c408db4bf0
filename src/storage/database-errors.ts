/** The meaning of errors that a database driver throws, for every database that Sluice supports. */

const SQLITE_UNIQUE_CODES = new Set([1555, 2067])
const POSTGRES_UNIQUE_CODE = '23505'

/** A row with this unique key exists already. */
export function isUniqueViolation(error: unknown): boolean {
  if (sqliteCode(error) !== null) return SQLITE_UNIQUE_CODES.has(sqliteCode(error) ?? 0)
  return error instanceof Error && 'code' in error && error.code === POSTGRES_UNIQUE_CODE
}

/** SQLite's extended result code; null for other errors. */
export function sqliteCode(error: unknown): number | null {
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

/** Why a database cannot be used, as the end of a sentence. */
export function databaseTrouble(error: unknown): string {
  const code = sqliteCode(error)
  const known = code === null ? undefined : SQLITE_TROUBLES[code & 0xff]
  return known ?? (error instanceof Error ? error.message : String(error))
}
