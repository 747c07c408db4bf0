/**
 * Files that appear under their name only when they are whole: written under a temporary name, flushed to the disk, and
 * renamed. The temporary name says which process writes it, so that the next start removes what a killed one left.
 *
 *   <name>.<id>.<host>-<pid>.tmp
 *
 * A process that this one cannot see, in another container with the same data folder, proves itself by touching its file
 * every second.
 */
import { createHash } from 'node:crypto'
import { open, readdir, rename, stat, unlink, utimes } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { systemCallCode } from '../../core/system-error.ts'
import { newId } from '../../core/ids.ts'
import { isMissing } from '../files/file-errors.ts'

const TOUCH_MS = 1000
const OWNERLESS_MS = 15_000

/** Process ids mean something on one host, or in one container, alone. */
const HOST = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)
const TEMPORARY = /\.(?<host>[0-9a-f]{8})-(?<pid>\d+)\.tmp$/

/** Names of the files that this process writes now. */
const writing = new Set<string>()

/** `write` creates the file at the temporary path; what it leaves when it fails is removed. */
export async function writeWhole(
  path: string,
  write: (temporaryPath: string) => Promise<void>,
): Promise<void> {
  const temporaryPath = `${path}.${newId()}.${HOST}-${process.pid}.tmp`
  const name = basename(temporaryPath)
  writing.add(name)
  const touching = setInterval(() => {
    const now = new Date()
    // It may not be there yet.
    utimes(temporaryPath, now, now).catch(() => {})
  }, TOUCH_MS)
  touching.unref()
  try {
    await write(temporaryPath)
    await flush(temporaryPath)
    await rename(temporaryPath, path)
    await flushFolder(dirname(path))
  } catch (error) {
    await unlink(temporaryPath).catch(() => {})
    throw error
  } finally {
    clearInterval(touching)
    writing.delete(name)
  }
}

/** Removes what killed processes left in a folder; one that does not exist holds nothing. */
export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await namesIn(folder)) {
    if (!name.endsWith('.tmp') || writing.has(name)) continue
    const path = join(folder, name)
    try {
      if (isOfEndedProcess(name) || Date.now() - (await stat(path)).mtimeMs > OWNERLESS_MS) await unlink(path)
    } catch (error) {
      // Another process renamed or removed it in between.
      if (!isMissing(error)) throw error
    }
  }
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder)
  } catch (error) {
    if (isMissing(error)) return []
    throw error
  }
}

/** False where that cannot be known from here. A restarted container gives the same id again, hence the own one. */
function isOfEndedProcess(name: string): boolean {
  const { host, pid } = TEMPORARY.exec(name)?.groups ?? {}
  if (host !== HOST) return false
  if (Number(pid) === process.pid) return true
  try {
    process.kill(Number(pid), 0)
    return false
  } catch (error) {
    return systemCallCode(error) === 'ESRCH'
  }
}

/** Without it a power cut may leave the name and not the content. */
async function flush(path: string): Promise<void> {
  await using handle = await open(path, 'r+')
  await handle.sync()
}

/** So that the rename is on the disk too. Windows opens no folders. */
async function flushFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  await using handle = await open(folder, 'r')
  await handle.sync()
}
