// @ts-check
/** The programs that some tests start where they are installed, and what does not run where they are not. */
import { existsSync } from 'node:fs'
import path from 'node:path'

/** Folders that an ordinary user's PATH lacks are looked through as well. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin']

/** Null where it is not installed. @param {string} name */
function findProgram(name) {
  return FOLDERS.map((folder) => path.join(folder, name)).find((file) => existsSync(file)) ?? null
}

export const NGINX = findProgram('nginx')
export const SYSTEMD_ANALYZE = findProgram('systemd-analyze')

/** One line for each kind of test that is left out. */
export function describeLeftOut() {
  return [
    ...(NGINX === null
      ? ['not run: the tests behind nginx, which is not installed (Debian package nginx)']
      : []),
    ...(SYSTEMD_ANALYZE === null ? ['not run: the check of the systemd unit (Debian package systemd)'] : []),
  ]
}
