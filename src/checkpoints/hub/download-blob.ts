/**
 * Downloads one file of a repository to its blob: resumes a partial download, tries again when the connection breaks, and
 * renames the file to the blob's name only when its checksum is right. A partial download is a file beside the blob. The
 * process that downloads touches it every second; one that was not touched for a while has no owner, and the process that
 * renames it first resumes it. While another process downloads, this one waits for the blob.
 */
import { createHash, type Hash, randomBytes, randomInt } from 'node:crypto'
import { type FileHandle, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { abortReason } from '../../core/concurrency/abort.ts'
import { StartError } from '../../core/errors.ts'
import { makeFolder } from '../../core/make-folder.ts'
import { isMissing } from '../files/file-errors.ts'
import { fileSize, type HubCache } from './hub-cache.ts'
import type { HubClient, HubFile } from './hub-client.ts'
import { HubUnreachable } from './hub-errors.ts'

interface DownloadOptions {
  readonly client: HubClient
  readonly cache: HubCache
  readonly commit: string
  readonly signal: AbortSignal
  /** Called with the bytes of the file that are there, whichever process downloads it. */
  readonly onBytes: (bytes: number) => void
  /** Before the second attempt; each further pause is twice as long, until bytes arrive again. */
  readonly retryPauseMs: number
}

/** Attempts in a row without a single byte. */
const MAX_VAIN_ATTEMPTS = 5

export async function downloadBlob(file: HubFile, options: DownloadOptions): Promise<void> {
  const { cache } = options
  const { hash, size } = file
  const partial = await PartialFile.claim(file, options)
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

const TOUCH_MS = 1000
const OWNERLESS_MS = 10_000
const POLL_MS = 200

class PartialFile {
  readonly handle: FileHandle
  /** Bytes that were there when it was claimed. */
  readonly startSize: number
  readonly #path: string
  readonly #touching: NodeJS.Timeout

  private constructor(path: string, handle: FileHandle, startSize: number) {
    this.#path = path
    this.handle = handle
    this.startSize = startSize
    this.#touching = setInterval(() => {
      const now = new Date()
      // The file may be gone by now; `complete` notices that.
      handle.utimes(now, now).catch(() => {})
    }, TOUCH_MS)
    this.#touching.unref()
  }

  /** Null when the blob is there, or another process has finished it. */
  static async claim(
    file: HubFile,
    { cache, signal, onBytes }: DownloadOptions,
  ): Promise<PartialFile | null> {
    makeFolder(cache.blobsDir)
    for (;;) {
      const { parts, isThere } = await look(cache, file)
      if (isThere) return null
      const owned = parts.find(({ ageMs }) => ageMs < OWNERLESS_MS)
      if (owned === undefined) {
        const mine = path.join(cache.blobsDir, `${file.hash}.${randomBytes(6).toString('hex')}.incomplete`)
        const partial = await (parts.length === 0
          ? PartialFile.#begin(mine, () => look(cache, file))
          : PartialFile.#resume(parts, mine))
        if (partial !== null) return partial
      } else onBytes(owned.size)
      // At random, so that of two that stepped back one comes first.
      await pause(POLL_MS / 2 + randomInt(POLL_MS), undefined, { signal })
    }
  }

  /** Null when another process began at the same time: at least the later one of both sees the other. */
  static async #begin(mine: string, lookAgain: () => Promise<BlobState>): Promise<PartialFile | null> {
    const partial = new PartialFile(mine, await open(mine, 'wx+'), 0)
    const { parts, isThere } = await lookAgain()
    if (!isThere && parts.every(({ file }) => file === mine)) return partial
    await partial.discard()
    return null
  }

  /** Resumes the largest part; null when another process was faster. */
  static async #resume(ownerless: readonly Part[], mine: string): Promise<PartialFile | null> {
    const [largest, ...rest] = [...ownerless].sort((a, b) => b.size - a.size) as [Part, ...Part[]]
    await Promise.all(rest.map(({ file }) => rm(file, { force: true })))
    try {
      // Before the rename, so that no other process finds the new name ownerless.
      const now = new Date()
      await utimes(largest.file, now, now)
      await rename(largest.file, mine)
    } catch (error) {
      if (isMissing(error)) return null
      throw error
    }
    const handle = await open(mine, 'r+')
    return new PartialFile(mine, handle, (await handle.stat()).size)
  }

  /** Renames the part to its blob; false when another process has taken the part over. */
  async complete(blobPath: string): Promise<boolean> {
    await this.handle.sync()
    await this.#close()
    try {
      await rename(this.#path, blobPath)
      return true
    } catch (error) {
      if (isMissing(error)) return false
      throw error
    }
  }

  /** Makes the part ownerless at once. */
  async release(): Promise<void> {
    await this.#close()
    await utimes(this.#path, 0, 0).catch(() => {})
  }

  async discard(): Promise<void> {
    await this.#close()
    await rm(this.#path, { force: true })
  }

  async #close(): Promise<void> {
    clearInterval(this.#touching)
    await this.handle.close()
  }
}

interface Part {
  readonly file: string
  readonly size: number
  readonly ageMs: number
}

interface BlobState {
  readonly parts: readonly Part[]
  readonly isThere: boolean
}

/** The parts before the blob: one that is finished in between is seen as one of the two. */
async function look(cache: HubCache, { hash, size }: HubFile): Promise<BlobState> {
  const parts = await listParts(cache, hash)
  return { parts, isThere: (await fileSize(cache.blobPath(hash))) === size }
}

async function listParts({ blobsDir }: HubCache, hash: string): Promise<readonly Part[]> {
  const names = (await readdir(blobsDir)).filter(
    // Other tools name their parts differently.
    (name) => name.startsWith(`${hash}.`) && /^\.[0-9a-f]{12}\.incomplete$/.test(name.slice(hash.length)),
  )
  const parts = await Promise.all(
    names.map(async (name): Promise<Part | null> => {
      const file = path.join(blobsDir, name)
      const stats = await stat(file).catch(() => null)
      // Nor is one touched now whose time lies ahead: the clock was put back since.
      const ageMs = Math.abs(Date.now() - (stats?.mtimeMs ?? 0))
      return stats === null ? null : { file, size: stats.size, ageMs }
    }),
  )
  return parts.filter((part) => part !== null)
}
