/** Checks that a new file fits on the disk, before the minutes that writing it takes. */
import { statfs } from 'node:fs/promises'
import { StartError } from '../../core/errors.ts'

/** Left free beside the file itself. */
const SPARE_BYTES = 16 * 2 ** 20

interface NewFile {
  /** How the sentence begins. @default 'Converting' */
  readonly work?: string
  readonly folder: string
  readonly neededBytes: number
}

/** @throws StartError when the disk has no room for the new file. */
export async function requireRoom(file: NewFile): Promise<void> {
  const { bavail, bsize } = await statfs(file.folder)
  checkRoom(file, bavail * bsize)
}

/** The same for a known number of free bytes. */
export function checkRoom({ work = 'Converting', folder, neededBytes }: NewFile, freeBytes: number): void {
  if (neededBytes + SPARE_BYTES <= freeBytes) return
  throw new StartError(
    `${work} the model needs ${neededBytes} bytes in ${folder} and ${SPARE_BYTES} to spare, but only ${freeBytes} are free.`,
  )
}
