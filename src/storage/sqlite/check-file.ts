/** Whether a database's file could be opened by a start; only looks. */
import { accessSync, constants, existsSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { StartError } from '../../core/errors.ts'
import {
  type DatabaseKind,
  describeDatabase,
  IN_MEMORY,
  olderProblem,
  refuseForeign,
  requireUsableFile,
  refuseWhenUnusable,
} from './open-database.ts'
import { findLockHolder } from './server-lock.ts'

export type DatabaseFile =
  /** Older: of an earlier version, which the start brings up to date. */
  | { readonly state: 'missing' | 'there' | 'older' }
  /** By a server, in words. */
  | { readonly state: 'in use'; readonly holder: string }

interface CheckFileOptions {
  /** Whether a start makes the folder where it is not there. */
  readonly makesFolder: boolean
}

/** @throws StartError where it cannot be used */
export async function checkDatabaseFile(
  location: string,
  kind: DatabaseKind,
  { makesFolder }: CheckFileOptions,
): Promise<DatabaseFile> {
  if (location === IN_MEMORY) return { state: 'missing' }
  return await refuseWhenUnusable(location, kind, () => {
    if (!existsSync(location)) {
      requireWritableFolder(location, kind, makesFolder)
      return { state: 'missing' }
    }
    requireUsableFile(location)
    const database = new DatabaseSync(path.resolve(location), { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    try {
      refuseForeign(database, location, kind)
      const holder = findLockHolder(realpathSync(location))
      if (holder !== null) return { state: 'in use', holder }
      return { state: olderProblem(database, kind) === null ? 'there' : 'older' }
    } finally {
      database.close()
    }
  })
}

const BUSY_TIMEOUT_MS = 1000

/** The folder, or the nearest above it that is there, where the start makes the others. */
function requireWritableFolder(location: string, kind: DatabaseKind, makesFolder: boolean): void {
  let folder = path.dirname(path.resolve(location))
  if (!existsSync(folder) && !makesFolder)
    throw new StartError(`${describeDatabase(location, kind)} cannot be made: there is no folder ${folder}.`)
  while (!existsSync(folder)) folder = path.dirname(folder)
  try {
    accessSync(folder, constants.W_OK)
  } catch {
    throw new StartError(
      `${describeDatabase(location, kind)} cannot be made: writing in ${folder} is not permitted.`,
    )
  }
}
