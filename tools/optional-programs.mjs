// @ts-check
/** The programs that some tests start where they are installed, and what does not run where they are not. */
import { existsSync, readdirSync } from 'node:fs'
import path from 'node:path'

/** Folders that an ordinary user's PATH lacks are looked through as well. */
const FOLDERS = [...(process.env['PATH'] ?? '').split(path.delimiter), '/usr/sbin', '/usr/local/sbin']

/** Null where it is not installed. @param {string} name */
function findProgram(name) {
  return FOLDERS.map((folder) => path.join(folder, name)).find((file) => existsSync(file)) ?? null
}

export const NGINX = findProgram('nginx')
export const HAPROXY = findProgram('haproxy')
export const REDIS_SERVER = findProgram('redis-server')
/** Debian's name, and those of other systems. */
export const CHROMIUM =
  ['chromium', 'chromium-browser', 'google-chrome'].map(findProgram).find(Boolean) ?? null
export const PROMTOOL = findProgram('promtool')
export const SYSTEMD_ANALYZE = findProgram('systemd-analyze')

/** Debian keeps the programs of each version of PostgreSQL in a folder of their own. */
const POSTGRES_FOLDER = '/usr/lib/postgresql'

/** The folder of `initdb` and `postgres`; null where they are not installed. */
export const POSTGRES_BIN = findPostgres()

function findPostgres() {
  const versions = existsSync(POSTGRES_FOLDER) ? readdirSync(POSTGRES_FOLDER) : []
  const newestFirst = versions.sort((one, other) => Number(other) - Number(one))
  const folders = newestFirst.map((version) => path.join(POSTGRES_FOLDER, version, 'bin'))
  return [...folders, ...FOLDERS].find((folder) => existsSync(path.join(folder, 'initdb'))) ?? null
}

/** One line for each kind of test that is left out. */
export function describeLeftOut() {
  return [
    ...(NGINX === null
      ? ['not run: the tests behind nginx, which is not installed (Debian package nginx)']
      : []),
    ...(HAPROXY === null
      ? ['not run: the tests behind HAProxy, which is not installed (Debian package haproxy)']
      : []),
    ...(CHROMIUM === null
      ? ['not run: the tests of the console in a browser, which is not installed (Debian package chromium)']
      : []),
    ...(SYSTEMD_ANALYZE === null ? ['not run: the check of the systemd unit (Debian package systemd)'] : []),
    ...(PROMTOOL === null
      ? [
          'not run: the check of alerts and dashboard by promtool, which is not installed (Debian package prometheus)',
        ]
      : []),
    ...(POSTGRES_BIN === null
      ? ['not run: the tests on PostgreSQL, which is not installed (Debian package postgresql)']
      : []),
    ...(REDIS_SERVER === null
      ? ['not run: the tests on Redis, which is not installed (Debian package redis-server)']
      : []),
  ]
}
