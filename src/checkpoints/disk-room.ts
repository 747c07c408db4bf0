/** Whether a new file fits on the disk, asked before the minutes it takes to write it. */
import { StartError } from '../core/errors.ts'

/** Left free beside the file itself. */
const SPARE_BYTES = 16 * 2 ** 20

interface Room {
  /** How the sentence begins. @default 'Converting' */
  readonly work?: string
  readonly folder: string
  readonly neededBytes: number
  readonly freeBytes: number
}

/** @throws StartError when the disk has no room for the new file. */
export function checkRoom({ work = 'Converting', folder, neededBytes, freeBytes }: Room): void {
  if (neededBytes + SPARE_BYTES <= freeBytes) return
  throw new StartError(
    `${work} the model needs ${neededBytes} bytes in ${folder} and ${SPARE_BYTES} to spare, but only ${freeBytes} are free.`,
    1,
  )
}
