/**
 * The part of a blob that has arrived, in a file of its own beside where the blob will stand. A process that downloads
 * touches its part every second; one that nobody has touched for a while has no owner, and whoever renames it first
 * goes on with it. While somebody else downloads, the others wait for the blob.
 */
import { randomBytes } from 'node:crypto'
import { type FileHandle, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { errorCode } from './hub-errors.ts'
import { fileSize, type HubCache } from './hub-cache.ts'

export interface ClaimOptions {
  readonly cache: HubCache
  readonly hash: string
  /** What the blob has when it is whole. */
  readonly size: number
  readonly signal: AbortSignal
  /** Told how much somebody else has, while that is waited for. */
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
      // The part may be gone by now; its owner finds that out when it is done.
      handle.utimes(now, now).catch(() => {})
    }, TOUCH_MS)
    this.#touching.unref()
  }

  /** Null when the blob is there, by whomever. */
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

  /** Goes on with the largest part, or begins one; null when another process was faster. */
  static async #take(ownerless: readonly Part[], mine: string): Promise<PartialFile | null> {
    const [largest, ...rest] = [...ownerless].sort((a, b) => b.size - a.size)
    await Promise.all(rest.map(({ file }) => rm(file, { force: true })))
    if (largest === undefined) return new PartialFile(mine, await open(mine, 'wx+'), 0)
    try {
      // Before the rename, so that nobody takes what is found under the new name for ownerless.
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

  /** Gives the whole blob its name. False when the part was taken away meanwhile. */
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

  /** Leaves what has arrived to whoever comes next, at once. */
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
    // Other tools have parts as well, with names of another form; those are theirs.
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
