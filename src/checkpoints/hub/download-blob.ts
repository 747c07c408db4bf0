/**
 * Downloads one file of a repository to its blob: resumes a partial download, tries again when the connection breaks,
 * and gives the blob its name only when its checksum is right.
 */
import { createHash, type Hash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { abortReason } from '../../core/abort.ts'
import { StartError } from '../../core/errors.ts'
import { fileSize, type HubCache } from './hub-cache.ts'
import type { HubClient, HubFile } from './hub-client.ts'
import { HubUnreachable } from './hub-errors.ts'
import { PartialFile } from './partial-file.ts'

export interface DownloadOptions {
  readonly client: HubClient
  readonly cache: HubCache
  readonly commit: string
  readonly signal: AbortSignal
  /** Called with the bytes of the file that are there. */
  readonly onBytes: (bytes: number) => void
  /** Before the second attempt; each further pause is twice as long, until bytes arrive again. */
  readonly retryPauseMs: number
}

/** Attempts in a row without a single byte. */
const MAX_VAIN_ATTEMPTS = 5

export async function downloadBlob(file: HubFile, options: DownloadOptions): Promise<void> {
  const { cache, signal, onBytes } = options
  const { hash, size } = file
  const partial = await PartialFile.claim({ cache, hash, size, signal, onBytes })
  if (partial === null) return
  let isSettled = false
  try {
    const digest = await fill(partial, file, options)
    isSettled = true
    if (digest !== hash) {
      await partial.discard()
      throw new StartError(
        `${file.path} arrived with a wrong checksum and was thrown away; pull it again, or ask whoever keeps it.`,
      )
    }
    const isMine = await partial.complete(cache.blobPath(hash))
    // Another process may have taken the part over, as after a sleep of this machine, and finished it.
    if (!isMine && (await fileSize(cache.blobPath(hash))) !== size) {
      throw new StartError(
        `What was downloaded of ${file.path} was taken away by another program; try again.`,
      )
    }
  } finally {
    if (!isSettled) await partial.release()
  }
}

/** Resolves with the digest of the finished file. */
async function fill(partial: PartialFile, file: HubFile, options: DownloadOptions): Promise<string> {
  const { client, commit, signal, onBytes, retryPauseMs } = options
  const hash = startHash(file)
  let offset = await hashStart(partial, file, hash)
  let vainAttempts = 0
  while (offset < file.size) {
    const offsetBefore = offset
    try {
      for await (const piece of client.read(commit, file, offset)) {
        if (offset + piece.length > file.size) return 'longer than it may be'
        await writeAll(partial, piece, offset)
        hash.update(piece)
        offset += piece.length
        onBytes(offset)
        if (signal.aborted) throw abortReason(signal)
      }
      if (offset < file.size)
        throw new HubUnreachable(`The download of ${file.path} ended too early; try again.`)
    } catch (error) {
      if (!(error instanceof HubUnreachable)) throw error
      vainAttempts = offset > offsetBefore ? 0 : vainAttempts + 1
      if (vainAttempts === MAX_VAIN_ATTEMPTS) throw error
      await pause(retryPauseMs * 2 ** vainAttempts, undefined, { signal })
    }
  }
  return hash.digest('hex')
}

/** As the Hub makes them: SHA-256 of a large file, git's own of a small one. */
function startHash({ hash, size }: HubFile): Hash {
  return hash.length === 64 ? createHash('sha256') : createHash('sha1').update(`blob ${size}\0`)
}

/** Hashes the bytes that are there already and resolves with their number. */
async function hashStart({ handle, startSize }: PartialFile, { size }: HubFile, hash: Hash): Promise<number> {
  if (startSize > size) {
    await handle.truncate(0)
    return 0
  }
  const buffer = Buffer.alloc(1 << 20)
  let offset = 0
  while (offset < startSize) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, startSize - offset), offset)
    if (bytesRead === 0) break
    hash.update(buffer.subarray(0, bytesRead))
    offset += bytesRead
  }
  return offset
}

/** At its own position, so that even two writers would write the same. */
async function writeAll({ handle }: PartialFile, piece: Uint8Array, position: number): Promise<void> {
  let written = 0
  while (written < piece.length) {
    const { bytesWritten } = await handle.write(piece, written, piece.length - written, position + written)
    written += bytesWritten
  }
}
