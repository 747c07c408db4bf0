/** Opens the files of a model, and only files: opening a named pipe waits for a writer, for ever. */
import { type FileHandle, open, stat } from 'node:fs/promises'
import { badFile } from './file-errors.ts'

/** For reading. @throws StartError when it is no file; the system's error when it cannot be opened. */
export async function openFile(path: string): Promise<FileHandle> {
  await checkFile(path)
  return await open(path, 'r')
}

/** Fills `bytes` from a place of the file on. @throws StartError when the file ends before. */
export async function readExactly(
  handle: FileHandle,
  { path, bytes, position }: { readonly path: string; readonly bytes: Uint8Array; readonly position: number },
): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    const { bytesRead } = await handle.read(bytes, done, bytes.length - done, position + done)
    if (bytesRead === 0) throw badFile(path, 'became shorter while it was read')
    done += bytesRead
  }
}

/** Resolves with its size. @throws StartError when it is neither a file nor a link to one. */
export async function checkFile(path: string): Promise<number> {
  const stats = await stat(path)
  // A folder is refused with the system's own error when it is read.
  if (!stats.isFile() && !stats.isDirectory()) throw badFile(path, 'is not a file')
  return stats.size
}
