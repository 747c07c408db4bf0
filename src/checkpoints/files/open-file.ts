/** Opens the files of a model, and only files: opening a named pipe waits for a writer, for ever. */
import { type FileHandle, open, stat } from 'node:fs/promises'
import { badFile, fileError } from './file-errors.ts'

/** For reading. @throws StartError when it is no file; the system's error when it cannot be opened. */
export async function openFile(path: string): Promise<FileHandle> {
  await checkFile(path)
  return await open(path, 'r')
}

export interface FileRange {
  readonly filePath: string
  readonly offsetBytes: number
  readonly sizeBytes: number
}

/**
 * Reads a range in chunks of `chunkBytes`, the last one shorter. A chunk is overwritten by the next. It starts at
 * offset 0 of its own memory, so any typed array may view it.
 * @throws StartError when the file ends before the range does.
 */
export async function* readFileChunks(range: FileRange, chunkBytes: number): AsyncGenerator<Uint8Array> {
  const { filePath, offsetBytes, sizeBytes } = range
  try {
    await using handle = await openFile(filePath)
    const buffer = new Uint8Array(Math.min(chunkBytes, sizeBytes))
    for (let done = 0; done < sizeBytes;) {
      const bytes = buffer.subarray(0, Math.min(chunkBytes, sizeBytes - done))
      for (let filled = 0; filled < bytes.length;) {
        const { bytesRead } = await handle.read(
          bytes,
          filled,
          bytes.length - filled,
          offsetBytes + done + filled,
        )
        if (bytesRead === 0) throw badFile(filePath, 'became shorter while it was read')
        filled += bytesRead
      }
      yield bytes
      done += bytes.length
    }
  } catch (error) {
    throw fileError('read', filePath, error)
  }
}

/** Resolves with its size. @throws StartError when it is neither a file nor a link to one. */
export async function checkFile(path: string): Promise<number> {
  const stats = await stat(path)
  // A folder is refused with the system's own error when it is read.
  if (!stats.isFile() && !stats.isDirectory()) throw badFile(path, 'is not a file')
  return stats.size
}
