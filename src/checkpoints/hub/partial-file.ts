/**
 * A partial download of a blob, in a file of its own beside the blob's final place. The process that downloads touches
 * it every second; one that was not touched for a while has no owner, and the process that renames it first resumes it.
 * While another process downloads, this one waits for the blob.
 */
import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { errorCode } from '../../core/system-error.ts'
import { fileSize, type HubCache } from './hub-cache.ts'

export interface ClaimOptions {
  readonly cache: HubCache
  readonly hash: string
  /** Of the whole blob. */
  readonly size: number
  readonly signal: AbortSignal
  /** Called with the bytes that another process has, while this one waits for it. */
  readonly onBytes: (bytes: number) => void
}

const TOUCH_MS = 1000
const OWNERLESS_MS = 10_000
const POLL_MS = 200

export class PartialFile {
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
  static async claim({ cache, hash, size, signal, onBytes }: ClaimOptions): Promise<PartialFile | null> {
    await mkdir(cache.blobsDir, { recursive: true })
    while ((await fileSize(cache.blobPath(hash))) !== size) {
      const parts = await listParts(cache, hash)
      const owned = parts.find(({ ageMs }) => ageMs < OWNERLESS_MS)
      if (owned !== undefined) {
        onBytes(owned.size)
        await pause(POLL_MS, undefined, { signal })
        continue
      }
      const mine = path.join(cache.blobsDir, `${hash}.${randomBytes(6).toString('hex')}.incomplete`)
      const partial = await PartialFile.#take(parts, mine)
      if (partial !== null) return partial
    }
    return null
  }

  /** Resumes the largest part, or begins one; null when another process was faster. */
  static async #take(ownerless: readonly Part[], mine: string): Promise<PartialFile | null> {
    const [largest, ...rest] = [...ownerless].sort((a, b) => b.size - a.size)
    await Promise.all(rest.map(({ file }) => rm(file, { force: true })))
    if (largest === undefined) return new PartialFile(mine, await open(mine, 'wx+'), 0)
    try {
      // Before the rename, so that no other process finds the new name ownerless.
      const now = new Date()
      await utimes(largest.file, now, now)
      await rename(largest.file, mine)
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return null
      throw error
    }
    const handle = await open(mine, 'r+')
    return new PartialFile(mine, handle, (await handle.stat()).size)
  }

  /** Gives the whole blob its name; false when another process has taken the part over. */
  async complete(blobPath: string): Promise<boolean> {
    await this.handle.sync()
    await this.#close()
    try {
      await rename(this.#path, blobPath)
      return true
    } catch (error) {
      if (errorCode(error) === 'ENOENT') return false
      throw error
    }
  }

  /** Leaves the part to the next process, at once. */
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

async function listParts({ blobsDir }: HubCache, hash: string): Promise<readonly Part[]> {
  const names = (await readdir(blobsDir)).filter(
    // Other tools name their parts differently.
    (name) => name.startsWith(`${hash}.`) && /^\.[0-9a-f]{12}\.incomplete$/.test(name.slice(hash.length)),
  )
  const parts = await Promise.all(
    names.map(async (name): Promise<Part | null> => {
      const file = path.join(blobsDir, name)
      const stats = await stat(file).catch(() => null)
      return stats === null ? null : { file, size: stats.size, ageMs: Date.now() - stats.mtimeMs }
    }),
  )
  return parts.filter((part) => part !== null)
}
