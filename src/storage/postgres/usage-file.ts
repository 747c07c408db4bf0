/**
 * Usage that waits on disk while its database is away: a bounded file of batches, one JSON line each, written through before
 * the requests of the batch are answered. Used by the usage store of PostgreSQL alone, which names each batch, so that one is
 * counted once however often it is written. Invariant: a batch is in the file until `empty` has seen it written.
 */
import { type FileHandle, mkdir, open } from 'node:fs/promises'
import path from 'node:path'
import { Mutex } from '../../core/concurrency/semaphore.ts'
import type { UsageEntry } from '../usage-store.ts'

/** Rows that are committed together. */
export interface UsageBatch {
  /** A UUID. */
  readonly id: string
  readonly createdAtUnixSeconds: number
  readonly entries: readonly UsageEntry[]
}

/** Of 300,000 requests, about. */
const MAX_WAITING_BYTES = 64 * 1024 * 1024

export class UsageFile {
  readonly #location: string
  #file: FileHandle
  readonly #maxBytes: number
  readonly #mutex = new Mutex()
  #bytes: number
  #isFull = false

  private constructor(place: FilePlace, bytes: number, maxBytes: number) {
    this.#location = place.location
    this.#file = place.file
    this.#bytes = bytes
    this.#maxBytes = maxBytes
  }

  /** Creates it when it is missing; no other user of the machine may read it. */
  static async open(location: string, maxBytes: number = MAX_WAITING_BYTES): Promise<UsageFile> {
    const file = await openPrivate(location)
    return new UsageFile({ location, file }, (await file.stat()).size, maxBytes)
  }

  get isEmpty(): boolean {
    return this.#bytes === 0
  }

  /** Whether a batch has found no room since it was empty. */
  get isFull(): boolean {
    return this.#isFull
  }

  /** Resolves with false, and nothing is written, where there is no room. */
  async append(batch: UsageBatch): Promise<boolean> {
    // A line of its own even after one that a crash cut off.
    const line = Buffer.from(`\n${JSON.stringify(batch)}\n`)
    return await this.#mutex.run(async () => {
      this.#isFull = this.#bytes + line.length > this.#maxBytes
      if (this.#isFull) return false
      await this.#restore()
      try {
        await this.#file.appendFile(line)
        await this.#file.datasync()
        return true
      } finally {
        // A full disk may have taken a part of the line.
        this.#bytes = (await this.#file.stat()).size
      }
    })
  }

  /** Gives all batches to `write`, some at a time, and removes them when all are written; keeps them when it rejects. */
  async empty(write: (batches: readonly UsageBatch[]) => Promise<void>): Promise<void> {
    await this.#mutex.run(async () => {
      if (this.#bytes === 0) return
      const content = await this.#read()
      for (const batches of inGroups(content.toString('utf8').split('\n').flatMap(parseBatch)))
        await write(batches)
      await this.#file.truncate(0)
      this.#bytes = 0
      this.#isFull = false
    })
  }

  close(): Promise<void> {
    return this.#mutex.run(async () => {
      try {
        if (this.#bytes > 0) await this.#restore()
      } finally {
        await this.#file.close()
      }
    })
  }

  async #read(): Promise<Buffer> {
    const content = Buffer.alloc(this.#bytes)
    await this.#file.read(content, 0, content.length, 0)
    return content
  }

  /** What was removed with its folder can still be read while it is open, and would end with the process. */
  async #restore(): Promise<void> {
    if ((await this.#file.stat()).nlink > 0) return
    await mkdir(path.dirname(this.#location), { recursive: true, mode: 0o700 })
    const file = await openPrivate(this.#location)
    try {
      await file.appendFile(await this.#read())
      await file.datasync()
    } catch (error) {
      await file.close()
      throw error
    }
    await this.#file.close()
    this.#file = file
    this.#bytes = (await file.stat()).size
  }
}

interface FilePlace {
  readonly location: string
  readonly file: FileHandle
}

function openPrivate(location: string): Promise<FileHandle> {
  return open(location, 'a+', 0o600)
}

/** Nothing for a line that a crash cut off: its requests were not answered. */
function parseBatch(line: string): readonly UsageBatch[] {
  if (line === '') return []
  try {
    return [JSON.parse(line) as UsageBatch]
  } catch {
    return []
  }
}

const MAX_GROUP = 200

function inGroups(batches: readonly UsageBatch[]): readonly (readonly UsageBatch[])[] {
  const count = Math.ceil(batches.length / MAX_GROUP)
  return Array.from({ length: count }, (_, index) =>
    batches.slice(index * MAX_GROUP, (index + 1) * MAX_GROUP),
  )
}
