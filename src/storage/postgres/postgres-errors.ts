/** Interprets the errors of PostgreSQL and of the connection to it. */
import { errorCode } from '../../core/system-error.ts'

/**
 * Beginnings of the SQLSTATEs after which the same statement may succeed later, here or on the server that takes over:
 * connection, authentication, missing database, resources, operator intervention, system; read-only, lock not available.
 */
const PASSING_STATES = ['08', '28', '3D', '53', '57', '58', '25006', '55P03', '40001', '40P01']

const TIMED_OUT = '57014'

/** Beginnings of those with which a server that is there answers a statement: to connect again proves nothing then. */
const REFUSING_STATES = ['25006', '40001', '40P01', '53', '55P03', TIMED_OUT, '58']

/** Whether the database could not do its work, for no reason that lies in the statement. */
export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  // What the server did not answer, the connection did: refused, reset, timed out.
  return sqlState(error) === null || hasState(error, PASSING_STATES)
}

/** Of the error of a statement: whether the server is there, and refuses what others may ask or what it may do later. */
export function isRefusal(error: unknown): boolean {
  return hasState(error, REFUSING_STATES)
}

/** Whether the server gave up a statement, which took too long. */
export function isTimeout(error: unknown): boolean {
  return hasState(error, [TIMED_OUT])
}

/** Data exception, broken constraint, limit of the program: whether the server can hold what a statement brings. */
const DATA_STATES = ['22', '23', '54']

/** Whether the server refuses the values of a statement, and will each time. */
export function isOfData(error: unknown): boolean {
  return hasState(error, DATA_STATES)
}

function hasState(error: unknown, beginnings: readonly string[]): boolean {
  const state = sqlState(error)
  return state !== null && beginnings.some((beginning) => state.startsWith(beginning))
}

/** Null for what is no answer of the server. */
function sqlState(error: unknown): string | null {
  const code = errorCode(error)
  return code !== null && /^[\dA-Z]{5}$/.test(code) && error instanceof Error && 'severity' in error
    ? code
    : null
}

const TROUBLES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'its host is not known',
  EAI_AGAIN: 'its host cannot be looked up',
  ENOENT: 'there is no such socket',
  ETIMEDOUT: 'its host does not answer',
  ECONNRESET: 'the connection was cut',
  '3D000': 'it does not exist',
  '28P01': 'the user or the password is refused',
}

/** The reason why the database cannot be used, as the end of a sentence. */
export function postgresTrouble(error: unknown): string {
  const file = unreadFile(error)
  if (file !== null) return file
  const known = TROUBLES[errorCode(error) ?? '']
  if (known !== undefined) return known
  const message = error instanceof Error ? error.message : String(error)
  return message === '' ? 'the connection failed' : message
}

/** A certificate or key that the URL names. */
function unreadFile(error: unknown): string | null {
  if (!(error instanceof Error && 'syscall' in error && 'path' in error) || error.syscall !== 'open')
    return null
  return `its file '${String(error.path)}' cannot be read (${errorCode(error)})`
}
