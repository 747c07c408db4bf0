/** The code of an error that Node or the system made, such as `ENOENT`; null for any other. */
export function errorCode(thrown: unknown): string | null {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null
}

/** The code of a failed system call, on a file or a socket; null for any other error. */
export function systemCallCode(thrown: unknown): string | null {
  return thrown instanceof Error && 'syscall' in thrown ? errorCode(thrown) : null
}
