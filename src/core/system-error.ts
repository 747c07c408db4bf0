/**
 * Codes of errors, which are told by their fields: to an application in a context of its own, as a test runner makes them, Node's errors
 * are no instances of its `Error`.
 */

/** The code of an error that Node or the system made, such as `ENOENT`; null for any other. */
export function errorCode(thrown: unknown): string | null {
  return isObject(thrown) && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null
}

/** The code of a failed system call, on a file or a socket; null for any other error. */
export function systemCallCode(thrown: unknown): string | null {
  return isObject(thrown) && 'syscall' in thrown ? errorCode(thrown) : null
}

function isObject(thrown: unknown): thrown is object {
  return typeof thrown === 'object' && thrown !== null
}
