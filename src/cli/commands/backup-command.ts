/** `sluice backup`: copies the databases of a server, which may be running, into a folder. */
import { existsSync, statSync } from 'node:fs'
import path from 'node:path'
import { StartError } from '../../core/errors.ts'
import { folderTrouble, makeFolder } from '../../core/make-folder.ts'
import { errorCode } from '../../core/system-error.ts'
import { databaseTrouble, sqliteCode } from '../../storage/database-errors.ts'
import { backUpDatabase } from '../../storage/sqlite/back-up.ts'
import type { CommandContext } from '../terminal/terminal.ts'

interface Source {
  readonly holds: string
  readonly option: string
  readonly location: string
  /** In the folder of copies; that of the data folder, so that a copy of the folder is a data folder. */
  readonly fileName: string
}

/** Resolves with the exit code. @throws StartError; a database that cannot be copied leaves the copies of those before it. */
export async function runBackupCommand(
  folder: string,
  { config, terminal }: CommandContext<'apiDb' | 'usageDb' | 'dataDir'>,
): Promise<number> {
  const { apiDb, usageDb, dataDir } = config
  const sources: readonly Source[] = [
    {
      holds: 'accounts and keys',
      option: '--api-db',
      location: apiDb ?? path.join(dataDir, 'api.db'),
      fileName: 'api.db',
    },
    {
      holds: 'usage',
      option: '--usage-db',
      location: usageDb ?? path.join(dataDir, 'usage.db'),
      fileName: 'usage.db',
    },
  ]
  for (const source of sources) requireCopyable(source, folder)
  makeCopyFolder(folder)
  for (const source of sources) {
    const copy = path.join(folder, source.fileName)
    copyDatabase(source, copy)
    terminal.print(`The database of ${source.holds} is in ${copy} (${statSync(copy).size} bytes).`)
  }
  return 0
}

/** Before anything is written. @throws StartError */
function requireCopyable({ location, fileName, ...named }: Source, folder: string): void {
  const database = describeDatabase({ location, ...named })
  if (/^\w+:\/\//.test(location)) {
    throw new StartError(
      `The database of ${named.holds} (${named.option}) is a server's: use its own tool, pg_dump.`,
      2,
    )
  }
  if (location === ':memory:') {
    throw new StartError(`${database} is in the server's memory, where no other process can copy it.`, 2)
  }
  if (!existsSync(location)) throw new StartError(`${database} does not exist.`, 1)
  const copy = path.join(folder, fileName)
  if (existsSync(copy)) throw new StartError(`${copy} exists already; name another folder for the copies.`, 1)
}

function describeDatabase({ holds, location, option }: Omit<Source, 'fileName'>): string {
  return `The database of ${holds} '${location}' (${option}, --data-dir)`
}

function makeCopyFolder(folder: string): void {
  try {
    makeFolder(folder, 0o700)
  } catch (error) {
    throw new StartError(`The folder for the copies '${folder}' cannot be made: ${folderTrouble(error)}.`, 1)
  }
}

function copyDatabase(source: Source, copy: string): void {
  try {
    backUpDatabase(source.location, copy)
  } catch (error) {
    const trouble = sqliteCode(error) === null ? String(errorCode(error)) : databaseTrouble(error)
    throw new StartError(`${describeDatabase(source)} cannot be copied to ${copy}: ${trouble}.`, 1)
  }
}
