/**
 * What is kept in host memory of sequences whose slot went to another: their tokens, and how many bytes their KV cache takes
 * there. Least recently used out. Pure bookkeeping, as of the slots: the runner copies what the plan says.
 * Invariant: `heldBytes` never passes `maxBytes`, not even between two moves of one start.
 */
import type { CopyState, HostRoom } from '../../protocol/model-runner.ts'
import { checkRule, type PrefixOwner } from '../sequence.ts'

/** What a slot or an entry holds, from position 0. */
export interface CachedPrefix {
  readonly cachedTokenIds: ArrayLike<number>
  /** Of the sequence that computed it. */
  readonly owner: PrefixOwner
  /** It can be cut to this many tokens or more, and to none. */
  readonly leastCut: number
}

export interface HostEntry extends CachedPrefix {
  readonly entryId: number
  readonly cachedTokenIds: Int32Array
  bytes: number
  /** Its room is kept, and its bytes are still on the disk. */
  isOnDisk: boolean
}

export class HostCache {
  readonly #room: HostRoom
  /** The least recently used first. */
  readonly #entries = new Map<number, HostEntry>()
  /** With the room that is kept for those on the disk. */
  #heldBytes = 0
  #bytesOnDisk = 0
  #nextId = 0

  constructor(room: HostRoom) {
    this.#room = room
    for (const copy of room.stored ?? []) {
      const { accountId, leastCut, bytes } = copy
      this.#enter({
        entryId: this.#nextId++,
        cachedTokenIds: Int32Array.from(copy.cachedTokenIds),
        owner: { accountId, adapterId: null },
        ...{ leastCut, bytes, isOnDisk: true },
      })
    }
  }

  /** Of what is in memory. */
  get heldBytes(): number {
    return this.#heldBytes - this.#bytesOnDisk
  }

  entries(): Iterable<HostEntry> {
    return this.#entries.values()
  }

  newestFirst(): readonly HostEntry[] {
    return [...this.#entries.values()].toReversed()
  }

  /**
   * Makes room for what a slot holds and enters it, or does nothing where it does not fit. Entries that it continues go.
   * @param isContinued whether the tokens of an entry are the beginning of it, and may be forgotten
   * @param restored the entry that takes its place in the slot, which stays until then
   */
  save(
    content: CachedPrefix,
    isContinued: (entry: HostEntry) => boolean,
    restored: HostEntry | null,
  ): { readonly entryId: number; readonly drop: readonly number[] } | null {
    const { maxBytes, roomBytes, copyBytes } = this.#room
    const tokens = content.cachedTokenIds.length
    const bytes = copyBytes(tokens)
    const room = Math.min(maxBytes, roomBytes?.(this.#heldBytes) ?? maxBytes)
    if (bytes + (restored?.bytes ?? 0) > room) return null
    const others = [...this.#entries.values()].filter((entry) => entry !== restored)
    const drop = others.filter(isContinued)
    let left = this.#heldBytes - drop.reduce((sum, entry) => sum + entry.bytes, 0)
    for (const entry of others) {
      if (left + bytes <= room) break
      if (drop.includes(entry)) continue
      drop.push(entry)
      left -= entry.bytes
    }
    for (const entry of drop) this.#forget(entry)
    const entryId = this.#nextId++
    this.#enter({
      entryId,
      cachedTokenIds: Int32Array.from(content.cachedTokenIds),
      owner: content.owner,
      leastCut: this.leastCutOfCopy(content),
      bytes,
      isOnDisk: false,
    })
    return { entryId, drop: drop.map((entry) => entry.entryId) }
  }

  /** What a copy of it can be cut to: one that lacks what a window has left behind is whole or nothing. */
  leastCutOfCopy({ cachedTokenIds: { length: tokens }, leastCut }: CachedPrefix): number {
    const { windowTokens } = this.#room
    return windowTokens !== null && tokens >= windowTokens ? tokens : leastCut
  }

  /** Whether its copy can be read into a slot by now; a lost one is forgotten. */
  fetch(entry: HostEntry): CopyState {
    const state = entry.isOnDisk ? (this.#room.fetch?.(entry.entryId) ?? 'lost') : 'ready'
    if (state === 'lost') this.#forget(entry)
    if (state === 'ready' && entry.isOnDisk) {
      entry.isOnDisk = false
      this.#bytesOnDisk -= entry.bytes
    }
    return state
  }

  /** Its copy has been made, and takes so many bytes. */
  recordBytes(entryId: number, bytes: number): void {
    const entry = this.#entries.get(entryId)
    if (entry === undefined) return
    this.#heldBytes += bytes - entry.bytes
    entry.bytes = bytes
  }

  /** Its copy is read into a slot; what the slot holds whole is not kept twice. */
  restore(entry: HostEntry, isForgotten: boolean): void {
    this.#forget(entry)
    if (!isForgotten) this.#enter(entry)
  }

  #enter(entry: HostEntry): void {
    this.#entries.set(entry.entryId, entry)
    this.#heldBytes += entry.bytes
    if (entry.isOnDisk) this.#bytesOnDisk += entry.bytes
  }

  #forget({ entryId, bytes, isOnDisk }: HostEntry): void {
    if (!this.#entries.delete(entryId)) return
    this.#heldBytes -= bytes
    if (isOnDisk) this.#bytesOnDisk -= bytes
  }

  /** @throws InvariantError when the books do not agree. */
  checkIntegrity(): void {
    const entries = [...this.#entries.values()]
    const sumOf = (some: readonly HostEntry[]): number => some.reduce((sum, entry) => sum + entry.bytes, 0)
    const bytes = sumOf(entries)
    checkRule(bytes === this.#heldBytes, 'the held bytes are those of the entries')
    const bytesOnDisk = sumOf(entries.filter(({ isOnDisk }) => isOnDisk))
    checkRule(bytesOnDisk === this.#bytesOnDisk, 'the bytes on the disk are those of the entries there')
    checkRule(bytes <= this.#room.maxBytes, 'the entries keep to their bytes')
  }
}
