/** The file of `--output`: validated before any work, and renamed into place only when complete. */
import { constants, createReadStream, createWriteStream } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { requireRoom } from '../../checkpoints/files/disk-room.ts'
import { writeWhole } from '../../checkpoints/cache/whole-file.ts'
import { badFile, fileError, isMissing } from '../../checkpoints/files/file-errors.ts'

/** @throws StartError when it exists, or its folder cannot be written to. */
export async function checkOutputFile(output: string): Promise<void> {
  const folder = path.dirname(output)
  try {
    if (!(await stat(folder)).isDirectory()) throw badFile(folder, 'is no folder')
    await access(folder, constants.W_OK)
  } catch (error) {
    throw fileError('write to the folder', folder, error)
  }
  try {
    await stat(output)
  } catch (error) {
    if (isMissing(error)) return
    throw fileError('write', output, error)
  }
  throw badFile(output, 'exists already; --output must name a new file')
}

/** @throws StartError when the disk has no room for it. */
export async function checkOutputRoom(output: string, neededBytes: number): Promise<void> {
  await requireRoom({ work: 'Writing', folder: path.dirname(output), neededBytes })
}

/** @throws StartError; the signal's reason when it aborts. */
export async function copyToOutput(
  from: string,
  { output, signal }: { readonly output: string; readonly signal: AbortSignal },
): Promise<void> {
  try {
    await writeWhole(output, (temporaryPath) =>
      pipeline(createReadStream(from), createWriteStream(temporaryPath, { flags: 'wx' }), { signal }),
    )
  } catch (error) {
    throw fileError('write', output, error)
  }
}
