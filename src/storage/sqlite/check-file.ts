/** Whether a database's file could be opened by a start; only looks. */
import { accessSync, constants, existsSync } from 'node:fs'
import path from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { StartError } from '../../core/errors.ts'
import {
  type DatabaseKind,
  describeDatabase,
  IN_MEMORY,
  refuseForeign,
  requireUsableFile,
  refuseWhenUnusable,
} from './open-database.ts'

/** False where there is none yet. @throws StartError where it cannot be used */
export async function checkDatabaseFile(location: string, kind: DatabaseKind): Promise<boolean> {
  if (location === IN_MEMORY) return false
  return await refuseWhenUnusable(location, kind, () => {
    if (!existsSync(location)) {
      requireWritableFolder(location, kind)
      return false
    }
    requireUsableFile(location)
    const database = new DatabaseSync(path.resolve(location), { readOnly: true, timeout: BUSY_TIMEOUT_MS })
    try {
      refuseForeign(database, location, kind)
      return true
    } finally {
      database.close()
    }
  })
}

const BUSY_TIMEOUT_MS = 1000

/** The folder, or the nearest above it that is there, as the start makes those of the data folder. */
function requireWritableFolder(location: string, kind: DatabaseKind): void {
  let folder = path.dirname(path.resolve(location))
  while (!existsSync(folder)) folder = path.dirname(folder)
  try {
    accessSync(folder, constants.W_OK)
  } catch {
    throw new StartError(
      `${describeDatabase(location, kind)} cannot be made: writing in ${folder} is not permitted.`,
    )
  }
}
