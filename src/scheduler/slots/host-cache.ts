/**
 * What is kept in host memory of sequences whose slot went to another: their tokens, and how many bytes their KV cache takes
 * there. Least recently used out. Pure bookkeeping, as of the slots: the runner copies what the plan says.
 * Invariant: `heldBytes` never passes `maxBytes`, not even between two moves of one start.
 */
import type { HostRoom } from '../../protocol/model-runner.ts'
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
}

export class HostCache {
  readonly #room: HostRoom
  /** The least recently used first. */
  readonly #entries = new Map<number, HostEntry>()
  #heldBytes = 0
  #nextId = 0

  constructor(room: HostRoom) {
    this.#room = room
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  entries(): Iterable<HostEntry> {
    return this.#entries.values()
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
    const { maxBytes, roomBytes, copyBytes, windowTokens } = this.#room
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
    this.#entries.set(entryId, {
      entryId,
      cachedTokenIds: Int32Array.from(content.cachedTokenIds),
      owner: content.owner,
      leastCut: windowTokens !== null && tokens >= windowTokens ? tokens : content.leastCut,
      bytes,
    })
    this.#heldBytes += bytes
    return { entryId, drop: drop.map((entry) => entry.entryId) }
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
    if (isForgotten) return
    this.#entries.set(entry.entryId, entry)
    this.#heldBytes += entry.bytes
  }

  #forget({ entryId, bytes }: HostEntry): void {
    if (this.#entries.delete(entryId)) this.#heldBytes -= bytes
  }

  /** @throws InvariantError when the books do not agree. */
  checkIntegrity(): void {
    const bytes = [...this.#entries.values()].reduce((sum, entry) => sum + entry.bytes, 0)
    checkRule(bytes === this.#heldBytes, 'the held bytes are those of the entries')
    checkRule(bytes <= this.#room.maxBytes, 'the entries keep to their bytes')
  }
}
