/**
 * Files that appear under their name only when they are whole: written under a temporary name, and renamed. The writer
 * touches its file every second; one that was not touched for a while was left by a killed process, and the next writer
 * in the folder removes it.
 */
import { readdir, rename, stat, unlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { newId } from '../../core/ids.ts'
import { isMissing } from '../file-errors.ts'

const TOUCH_MS = 1000
const OWNERLESS_MS = 15_000

/** `write` creates the file at the temporary path; what it leaves when it fails is removed. */
export async function writeWhole(
  path: string,
  write: (temporaryPath: string) => Promise<void>,
): Promise<void> {
  const temporaryPath = `${path}.${newId()}.tmp`
  const touching = setInterval(() => {
    const now = new Date()
    // It may not be there yet.
    utimes(temporaryPath, now, now).catch(() => {})
  }, TOUCH_MS)
  touching.unref()
  try {
    await write(temporaryPath)
    await rename(temporaryPath, path)
  } catch (error) {
    await unlink(temporaryPath).catch(() => {})
    throw error
  } finally {
    clearInterval(touching)
  }
}

export async function removeLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.tmp')) continue
    const path = join(folder, name)
    try {
      if (Date.now() - (await stat(path)).mtimeMs > OWNERLESS_MS) await unlink(path)
    } catch (error) {
      // Another process renamed or removed it in between.
      if (!isMissing(error)) throw error
    }
  }
}
