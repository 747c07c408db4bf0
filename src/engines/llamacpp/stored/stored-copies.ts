/**
 * The copies of a model on the disk, as its scheduler sees them: those of earlier runs, which it may ask for by number, and
 * the writing of what it holds. Owned by the runner; bytes live in the host copies as soon as they are read.
 */
import type { StoredPrefix, CopyState, HeldPrefix, StoredCopy } from '../../../protocol/model-runner.ts'
import { availableMemoryBytes } from '../../../checkpoints/memory/available-memory.ts'
import { type HostCopies, LEFT_FREE_BYTES, type PinnedState } from '../host-copies.ts'
import { type CopyFolder, removeFile, type StoredFile } from './copy-folder.ts'

export interface StoredCopiesOptions {
  readonly folder: CopyFolder
  readonly copies: HostCopies
  /** Of all files of the model. */
  readonly maxBytes: number
  /** Of this engine, which reads no more than it may hold. */
  readonly maxReadBytes: number
}

interface UnreadCopy {
  readonly file: StoredFile
  state: 'on-disk' | 'reading' | 'lost'
}

export class StoredCopies {
  readonly #options: StoredCopiesOptions
  /** By the scheduler's number, until they are in memory or forgotten. */
  readonly #unread = new Map<number, UnreadCopy>()
  /** What is known to be on the disk, by its path. */
  readonly #known = new Map<string, StoredPrefix>()
  readonly stored: readonly StoredCopy[]

  constructor(options: StoredCopiesOptions) {
    this.#options = options
    const files = newestThatFit(options.folder.list(), options.maxReadBytes)
    for (const [entryId, file] of files.entries()) {
      this.#unread.set(entryId, { file, state: 'on-disk' })
      this.#known.set(file.path, file.head)
    }
    this.stored = files.map(({ head }) => head)
  }

  /** As `HostRoom.fetch`. */
  fetch(entryId: number): CopyState {
    if (this.#options.copies.has(entryId)) return 'ready'
    const unread = this.#unread.get(entryId)
    if (unread === undefined) return 'lost'
    if (unread.state === 'lost') this.#unread.delete(entryId)
    if (unread.state === 'on-disk') void this.#read(entryId, unread)
    return unread.state === 'lost' ? 'lost' : 'reading'
  }

  /** The scheduler has forgotten it. False where it is in memory. */
  drop(entryId: number): boolean {
    return this.#unread.delete(entryId)
  }

  async #read(entryId: number, unread: UnreadCopy): Promise<void> {
    const { folder, copies } = this.#options
    const { file } = unread
    unread.state = 'lost'
    if (file.head.bytes + LEFT_FREE_BYTES > availableMemoryBytes()) return
    unread.state = 'reading'
    const copy = copies.allocate(file.head.bytes)
    const isWhole = await folder.read(file, copy.view)
    // It may have been dropped meanwhile.
    if (isWhole && this.#unread.delete(entryId)) {
      copies.enter(entryId, copy, () => void removeFile(file.path))
      return
    }
    copy.free()
    unread.state = 'lost'
    this.#known.delete(file.path)
  }

  /** As `ModelRunner.storePrefixes`. @throws what the system says where the disk takes no more */
  async store(held: () => readonly HeldPrefix[] | null): Promise<void> {
    const { folder, maxBytes } = this.#options
    const startedUnixMs = Date.now()
    for (;;) {
      const prefixes = newestHeld(held(), maxBytes, (prefix) => this.#bytesOf(prefix))
      if (prefixes === null) return
      const paths = prefixes.map((prefix) => folder.pathOf(prefix))
      const index = paths.findIndex((path) => !this.#known.has(path))
      const next = prefixes[index]
      const path = paths[index]
      if (next === undefined || path === undefined) return this.#tidy(prefixes, new Set(paths))
      using state = this.#stateOf(next)
      if (state !== null) await folder.write(next, state.view, startedUnixMs - index)
      this.#known.set(path, { ...next, cachedTokenIds: Int32Array.from(next.cachedTokenIds) })
    }
  }

  /** Removes what is the beginning of something that is held, and what has no room. */
  #tidy(prefixes: readonly HeldPrefix[], paths: ReadonlySet<string>): void {
    for (const [path, known] of this.#known) {
      if (paths.has(path)) continue
      this.#known.delete(path)
      if (prefixes.some((prefix) => continues(prefix, known))) removeFile(path)
    }
    this.#options.folder.prune(paths, this.#options.maxBytes)
  }

  /** Null for what is lost. */
  #bytesOf(prefix: HeldPrefix): number | null {
    const { copies } = this.#options
    if ('slotId' in prefix) return copies.slotBytes(prefix.slotId)
    const unread = this.#unread.get(prefix.entryId)
    if (unread !== undefined) return unread.state === 'lost' ? null : unread.file.head.bytes
    return copies.bytesOf(prefix.entryId)
  }

  /** Null for what is on the disk only. */
  #stateOf(prefix: HeldPrefix): PinnedState | null {
    const { copies } = this.#options
    if ('slotId' in prefix) return copies.copyOfSlot(prefix.slotId, prefix.cachedTokenIds.length)
    return this.#unread.has(prefix.entryId) ? null : copies.pin(prefix.entryId)
  }
}

/** The least recently used first, as they come. */
function newestThatFit(files: readonly StoredFile[], maxBytes: number): readonly StoredFile[] {
  let left = maxBytes
  const fitting = files.toReversed().filter(({ head }) => {
    if (head.bytes > left) return false
    left -= head.bytes
    return true
  })
  return fitting.toReversed()
}

function newestHeld(
  prefixes: readonly HeldPrefix[] | null,
  maxBytes: number,
  bytesOf: (prefix: HeldPrefix) => number | null,
): readonly HeldPrefix[] | null {
  let left = maxBytes
  return (
    prefixes?.filter((prefix) => {
      const bytes = bytesOf(prefix)
      if (bytes === null || bytes > left) return false
      left -= bytes
      return true
    }) ?? null
  )
}

function continues(prefix: StoredPrefix, { accountId, cachedTokenIds: known }: StoredPrefix): boolean {
  const { cachedTokenIds: tokenIds } = prefix
  if (prefix.accountId !== accountId || prefix.leastCut > known.length || known.length > tokenIds.length)
    return false
  return Array.prototype.every.call(known, (id: number, i: number) => tokenIds[i] === id)
}
