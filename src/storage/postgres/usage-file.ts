/**
 * Usage that waits on disk while its database is away: a bounded file of batches, one JSON line each, written through before
 * the requests of the batch are answered. Used by the usage store of PostgreSQL alone, which names each batch, so that one is
 * counted once however often it is written. Written out a piece at a time, while more is appended. Invariant: a batch is in the
 * file until `empty` has seen it written.
 */
import { type FileHandle, open } from 'node:fs/promises'
import path from 'node:path'
import { Mutex } from '../../core/concurrency/semaphore.ts'
import { makeFolder } from '../../core/make-folder.ts'
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

/** To parse as much takes some milliseconds, in which the process does nothing else. */
const PIECE_BYTES = 256 * 1024

type WriteBatches = (batches: readonly UsageBatch[]) => Promise<void>

export class UsageFile {
  readonly #location: string
  #file: FileHandle
  readonly #maxBytes: number
  readonly #mutex = new Mutex()
  #bytes: number
  /** So many of the first bytes need not be written again, while the process runs. */
  #writtenBytes = 0
  #emptying: Promise<void> | null = null
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

  /**
   * Gives all batches to `write`, some at a time, and removes them when all are written; keeps them when it rejects. Those who
   * ask at a time share one writing, and its failure.
   */
  async empty(write: WriteBatches): Promise<void> {
    // One that has begun leaves out what came since.
    await this.#emptying
    if (this.isEmpty) return
    this.#emptying ??= this.#writeAll(write).finally(() => (this.#emptying = null))
    await this.#emptying
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

  /** Others append meanwhile. */
  async #writeAll(write: WriteBatches): Promise<void> {
    const end = this.#bytes
    while (this.#writtenBytes < end) {
      const piece = await this.#mutex.run(() => this.#readLines(this.#writtenBytes, end))
      for (const batches of inGroups(piece.toString('utf8').split('\n').flatMap(parseBatch)))
        await write(batches)
      this.#writtenBytes += piece.length
    }
    await this.#mutex.run(() => this.#removeWritten())
  }

  async #removeWritten(): Promise<void> {
    if (this.#writtenBytes < this.#bytes) return
    await this.#file.truncate(0)
    this.#bytes = 0
    this.#writtenBytes = 0
    this.#isFull = false
  }

  /** Whole lines, one at least. */
  async #readLines(start: number, end: number): Promise<Buffer> {
    for (let length = PIECE_BYTES; start + length < end; length *= 2) {
      const piece = await this.#read(start, start + length)
      const linesEnd = piece.lastIndexOf('\n') + 1
      if (linesEnd > 0) return piece.subarray(0, linesEnd)
    }
    return await this.#read(start, end)
  }

  async #read(start: number, end: number): Promise<Buffer> {
    const content = Buffer.alloc(end - start)
    await this.#file.read(content, 0, content.length, start)
    return content
  }

  /** What was removed with its folder can still be read while it is open, and would end with the process. */
  async #restore(): Promise<void> {
    if ((await this.#file.stat()).nlink > 0) return
    makeFolder(path.dirname(this.#location), 0o700)
    const file = await openPrivate(this.#location)
    try {
      await file.appendFile(await this.#read(0, this.#bytes))
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
