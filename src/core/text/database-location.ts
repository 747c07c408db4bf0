/** What the value of `--api-db` and `--usage-db` names: a URL of a PostgreSQL server, or a file. */

export function isPostgresUrl(location: string): boolean {
  return /^postgres(?:ql)?:\/\//i.test(location)
}

/** The location without the password that a URL may hold, for messages. */
export function shownLocation(location: string): string {
  if (!isPostgresUrl(location)) return location
  try {
    const shown = new URL(location)
    shown.password = ''
    shown.searchParams.delete('password')
    return shown.href
  } catch {
    return 'postgres://…'
  }
}
