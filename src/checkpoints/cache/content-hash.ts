/**
 * SHA-256 of files, with an index of known hashes. Hashing a checkpoint of 2 GB takes seconds at every start, so a file
 * beside the cache keeps each hash with the size, times and inode of its file; when any of them differs, the file is hashed
 * again. An index that is lost, damaged or not writable costs that time and nothing else.
 */
import { createHash } from 'node:crypto'
import { createReadStream, type BigIntStats } from 'node:fs'
import { readFile, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { badFile, fileError } from '../files/file-errors.ts'
import { isRecord } from '../files/json-file.ts'
import { checkFile } from '../files/open-file.ts'
import { writeWhole } from './whole-file.ts'

const INDEX_FILE = 'hashes.json'
/** The oldest entries are dropped first; far more than a machine has checkpoints. */
const MAX_ENTRIES = 1000
/** Files up to this size are read whole. */
const SMALL_BYTES = 2 ** 20

export class ContentHashes {
  readonly #indexPath: string
  readonly #entries: Map<string, string>
  #isChanged = false

  private constructor(indexPath: string, entries: Map<string, string>) {
    this.#indexPath = indexPath
    this.#entries = entries
  }

  static async open(folder: string): Promise<ContentHashes> {
    const indexPath = join(folder, INDEX_FILE)
    return new ContentHashes(indexPath, await readIndex(indexPath))
  }

  /** Hex SHA-256 of the file's content. */
  async hash(path: string, signal?: AbortSignal): Promise<string> {
    const key = resolve(path)
    try {
      await checkFile(path)
      const stats = await stat(path, { bigint: true })
      const before = identity(stats)
      const known = this.#entries.get(key)
      if (known?.startsWith(`${before} `) === true) return known.slice(before.length + 1)
      const hash = await hashFile(path, stats.size, signal)
      if (identity(await stat(path, { bigint: true })) !== before)
        throw badFile(path, 'changed while it was read')
      this.#entries.delete(key)
      this.#entries.set(key, `${before} ${hash}`)
      this.#isChanged = true
      return hash
    } catch (error) {
      throw fileError('read', path, error)
    }
  }

  /** Writes the index if it has changed. Two processes may overwrite each other's; the loser hashes again. */
  async save(): Promise<void> {
    if (!this.#isChanged) return
    const text = JSON.stringify(Object.fromEntries(Array.from(this.#entries).slice(-MAX_ENTRIES)), null, 1)
    try {
      await writeWhole(this.#indexPath, (temporaryPath) => writeFile(temporaryPath, text))
      this.#isChanged = false
    } catch {
      // The next start hashes again.
    }
  }
}

/** Another one whenever the content may have changed. */
export async function fileIdentity(path: string): Promise<string> {
  return identity(await stat(path, { bigint: true }))
}

/** A write that keeps size and mtime still moves ctime. */
function identity({ size, mtimeNs, ctimeNs, ino, dev }: BigIntStats): string {
  return [size, mtimeNs, ctimeNs, ino, dev].join(':')
}

async function hashFile(path: string, sizeBytes: bigint, signal: AbortSignal | undefined): Promise<string> {
  const hash = createHash('sha256')
  if (sizeBytes <= SMALL_BYTES) return hash.update(await readFile(path)).digest('hex')
  await pipeline(createReadStream(path, { highWaterMark: 2 ** 20 }), hash, { signal })
  return hash.digest('hex')
}

async function readIndex(indexPath: string): Promise<Map<string, string>> {
  try {
    const index: unknown = JSON.parse(await readFile(indexPath, 'utf8'))
    if (!isRecord(index)) return new Map()
    return new Map(
      Object.entries(index).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    )
  } catch {
    return new Map()
  }
}
