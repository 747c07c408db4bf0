/**
 * The slots of the engine's context and the tokens in each one's KV cache. A finished sequence's cache stays until its
 * slot is needed, and goes to host memory then; a new prompt takes the free slot, or copies the slot or the host's entry,
 * that already holds the most of it.
 * Pure bookkeeping: the runner does to the KV cache what the plan made from it says.
 */
import type { PrefixCacheScope } from '../../core/choices/prefix-cache-scope.ts'
import type {
  CopyState,
  HeldPrefix,
  HostMoves,
  HostRoom,
  SavedCopy,
  SlotCut,
} from '../../protocol/model-runner.ts'
import { type CachedPrefix, HostCache, type HostEntry } from './host-cache.ts'
import { SharedCells } from './shared-cells.ts'
import { checkRule, type PrefixOwner, type Sequence } from '../sequence.ts'
import { isPrefixOf, keptTokens, MIN_SHARED_TOKENS, type Shared, sharedPrefix } from './shared-prefix.ts'

/** Reading an entry back takes as long as computing at most this share of its tokens; less of it is computed again. */
const LEAST_RESTORED_SHARE = 1 / 8

const NO_OWNER: PrefixOwner = { accountId: '', adapterId: null }

export interface Slot extends CachedPrefix {
  readonly slotId: number
  sequence: Sequence | null
  /** Tokens in the KV cache, from position 0. */
  cachedTokenIds: number[]
  /** Those that hold these tokens, where all slots share one cache. */
  cells: number[]
  owner: PrefixOwner
  leastCut: number
  lastUsedOrder: number
}

export interface SlotChoice {
  readonly slot: Slot
  /** Prompt tokens that need not be computed. */
  readonly cachedTokens: number
  /** Slot to copy them from; null when they are the slot's own. */
  readonly copyFrom: Slot | null
  /** The host's entry to copy them from. */
  readonly restore: HostEntry | null
  /** Whether what the slot holds goes to host memory, if it fits. */
  readonly isSaved: boolean
}

export interface SlotTableOptions {
  readonly slots: number
  /** Whether a slot's KV cache can be cut at any token. */
  readonly canReusePrefixes: boolean
  /** Whether it can be continued whole where it cannot be cut; otherwise nothing is remembered of it. @default false */
  readonly canContinueSlots?: boolean
  readonly canCopySlots: boolean
  /** Tokens of one KV cache that all slots share; null where each has its own. @default null */
  readonly sharedTokens?: number | null
  /** Null keeps nothing outside the slots. @default null */
  readonly hostRoom?: HostRoom | null
  /** @default 'shared' */
  readonly scope?: PrefixCacheScope
}

export class SlotTable {
  readonly slots: readonly Slot[]
  readonly #options: SlotTableOptions
  readonly #host: HostCache | null
  readonly #cells: SharedCells | null
  /** Slots that hold tokens which nobody counts, and how many are counted. */
  readonly #uncounted = new Map<number, number>()
  readonly #remembers: boolean
  #useOrder = 0

  constructor(options: SlotTableOptions) {
    const { hostRoom = null, sharedTokens = null, canReusePrefixes, canContinueSlots = false } = options
    this.#remembers = canReusePrefixes || canContinueSlots
    this.#options = options
    this.#host = hostRoom === null || !this.#remembers ? null : new HostCache(hostRoom)
    this.#cells = sharedTokens === null ? null : new SharedCells(sharedTokens)
    this.slots = Array.from({ length: options.slots }, (_, slotId) => ({
      slotId,
      sequence: null,
      cachedTokenIds: [],
      cells: [],
      owner: NO_OWNER,
      leastCut: 0,
      lastUsedOrder: 0,
    }))
  }

  /** Bytes held in host memory. */
  get hostBytes(): number {
    return this.#host?.heldBytes ?? 0
  }

  /** Tokens that the shared cache still takes; without one there is no bound but that of each slot. */
  get freeTokens(): number {
    return this.#cells === null ? Number.POSITIVE_INFINITY : this.#cells.size - this.#cells.used
  }

  get free(): number {
    return this.slots.reduce((count, slot) => count + (slot.sequence === null ? 1 : 0), 0)
  }

  /**
   * Assigns a slot to a sequence. Keeps only the shared prefix of the slot's cache, of the other slot's or of the entry.
   * Gives what changes in host memory; null where nothing does.
   */
  take(choice: SlotChoice, sequence: Sequence): HostMoves | null {
    const { slot, cachedTokens, copyFrom, restore } = choice
    const moves = this.#moveToHost(choice)
    const holder = restore ?? copyFrom ?? slot
    this.#takeCells(choice)
    slot.cachedTokenIds = Array.from(holder.cachedTokenIds).slice(0, cachedTokens)
    slot.leastCut = cachedTokens === 0 ? 0 : holder.leastCut
    slot.owner = sequence.owner
    slot.sequence = sequence
    return moves
  }

  #takeCells({ slot, cachedTokens, copyFrom, restore }: SlotChoice): void {
    if (this.#cells === null) return
    const shared = copyFrom === null ? null : this.#cells.share(copyFrom.cells, cachedTokens)
    this.#cells.cut(slot.cells, shared === null && restore === null ? cachedTokens : 0)
    if (shared !== null) slot.cells = shared
    if (restore !== null) for (let i = 0; i < cachedTokens; i++) slot.cells.push(this.#cells.allocate())
  }

  #moveToHost({ slot, restore, isSaved, cachedTokens }: SlotChoice): HostMoves | null {
    if (this.#host === null) return null
    const saved = isSaved ? this.#saveToHost(slot, restore) : null
    if (saved === null && restore === null) return null
    const isForgotten = restore !== null && restore.cachedTokenIds.length - cachedTokens < MIN_SHARED_TOKENS
    if (restore !== null) this.#host.restore(restore, isForgotten)
    return {
      ...(saved ?? { drop: [], save: null }),
      restore: restore && { entryId: restore.entryId, isForgotten },
    }
  }

  /** @param restored the entry that is read back after it, and stays until then */
  #saveToHost(slot: Slot, restored: HostEntry | null): Pick<HostMoves, 'drop' | 'save'> | null {
    const isContinued = (entry: HostEntry): boolean =>
      this.isOpenTo(slot.owner, entry.owner) && isPrefixOf(entry.cachedTokenIds, slot.cachedTokenIds)
    const saved = this.#host?.save(slot, isContinued, restored) ?? null
    return saved && { drop: saved.drop, save: { entryId: saved.entryId, tokens: slot.cachedTokenIds.length } }
  }

  /** What a start comes to that neither copies nor keeps anything, in the slot of a choice. */
  withoutCache({ slot }: SlotChoice): SlotChoice {
    return this.#toChoice(slot, 0)
  }

  /**
   * How many cells a start needs beyond those in use, of a sequence whose tokens before the next one are `length`. A copy of
   * host memory is read back whole before it is cut.
   */
  cellsToStart({ slot, cachedTokens, copyFrom, restore }: SlotChoice, length: number): number {
    if (this.#cells === null) return 0
    const own = copyFrom === null && restore === null ? cachedTokens : 0
    const freed = this.#cells.freedByCut(slot.cells, own)
    if (restore !== null) return Math.max(length, restore.cachedTokenIds.length) - freed
    return length - cachedTokens - freed
  }

  /** How many cells are in use after such a start at least, where all that no sequence runs in is cut. */
  leastCells({ slot, cachedTokens, copyFrom, restore }: SlotChoice, length: number): number {
    if (this.#cells === null) return 0
    const running = this.slots.filter(({ sequence }) => sequence !== null).map(({ cells }) => cells)
    if (restore !== null)
      return this.#cells.countDistinct(running) + Math.max(length, restore.cachedTokenIds.length)
    const kept = (copyFrom ?? slot).cells.slice(0, cachedTokens)
    return this.#cells.countDistinct([...running, kept]) + length - cachedTokens
  }

  /**
   * Cuts the slot that was used least recently of those without a sequence, and keeps in host memory what fits there. Null
   * where none holds anything that may go: a choice keeps its own slot and what it copies.
   */
  cutIdle(choice: SlotChoice | null = null): SlotCut | null {
    const keptOf = (slot: Slot): number => (slot === choice?.copyFrom ? choice.cachedTokens : 0)
    const idle = this.slots.filter(
      (slot) => slot.sequence === null && slot !== choice?.slot && slot.cells.length > keptOf(slot),
    )
    idle.sort((a, b) => a.lastUsedOrder - b.lastUsedOrder)
    const [slot] = idle
    if (slot === undefined) return null
    const tokens = keptOf(slot)
    const isSaved = this.#isWorthSaving(slot, tokens)
    const restore = choice?.restore ?? null
    const saved = isSaved ? this.#saveToHost(slot, restore) : null
    this.#forget(slot, tokens)
    return { slotId: slot.slotId, tokens, ...(saved !== null && { host: { ...saved, restore: null } }) }
  }

  /** The slot's KV cache has grown by these tokens. */
  recordComputed(slot: Slot, tokenIds: ArrayLike<number>): void {
    if (!this.#remembers) return
    for (let i = 0; i < tokenIds.length; i++) {
      slot.cachedTokenIds.push(tokenIds[i] ?? 0)
      if (this.#cells !== null) slot.cells.push(this.#cells.allocate())
    }
    if (!this.#options.canReusePrefixes) slot.leastCut = slot.cachedTokenIds.length
  }

  /** The slot's KV cache has grown by tokens of an aborted sequence, which would have to be cut off. */
  recordUncounted(slotId: number): void {
    const slot = this.slots[slotId]
    if (slot === undefined) return
    if (!this.#options.canReusePrefixes) this.#forget(slot, 0)
    if (this.#cells !== null) this.#uncounted.set(slotId, slot.cachedTokenIds.length)
  }

  /** What a shared cache holds that nobody counts is cut off with the next step. */
  takeUncounted(): SlotCut[] {
    const cuts = Array.from(this.#uncounted, ([slotId, tokens]) => ({ slotId, tokens }))
    this.#uncounted.clear()
    return cuts
  }

  #forget(slot: Slot, keptTokens: number): void {
    this.#cells?.cut(slot.cells, keptTokens)
    slot.cachedTokenIds.length = keptTokens
    slot.leastCut = Math.min(slot.leastCut, keptTokens)
    // Nothing is lost with an empty slot.
    if (keptTokens === 0 && slot.sequence === null) slot.lastUsedOrder = 0
  }

  /** Whether what is to be copied back is in memory by now. */
  fetch({ restore }: SlotChoice): CopyState {
    return restore === null || this.#host === null ? 'ready' : this.#host.fetch(restore)
  }

  /**
   * What is held of sequences that have ended, and by nothing else: the most recently used first, slots before copies. Without
   * those of adapters, whose numbers mean nothing to another process.
   */
  held(): readonly HeldPrefix[] {
    const host = this.#host
    if (host === null) return []
    const free = this.slots.filter((slot) => slot.sequence === null && this.#isWorthSaving(slot, 0))
    free.sort((a, b) => b.lastUsedOrder - a.lastUsedOrder)
    const slots = free.map((slot) => ({ ...slot, leastCut: host.leastCutOfCopy(slot) }))
    return [...slots, ...host.newestFirst()].flatMap(toHeldPrefix)
  }

  /** A copy has been made in host memory. */
  recordSaved({ entryId, bytes }: SavedCopy): void {
    this.#host?.recordBytes(entryId, bytes)
  }

  /** The slot's sequence has ended; its cache stays. */
  release(slot: Slot): void {
    slot.sequence = null
    slot.lastUsedOrder = ++this.#useOrder
  }

  /** Whether a prompt of one owner may use what a sequence of another has computed. */
  isOpenTo(one: PrefixOwner, other: PrefixOwner): boolean {
    const isOfScope = this.#options.scope !== 'account' || one.accountId === other.accountId
    return isOfScope && one.adapterId === other.adapterId
  }

  /**
   * How many tokens a prompt has in common with those of another owner, as far as it may use them: of another account whole
   * blocks alone. Who sees how many were found would spell out the other's text token by token.
   */
  openTokens({ prefillTokenIds, owner }: Sequence, tokenIds: ArrayLike<number>, of: PrefixOwner): number {
    if (!this.isOpenTo(owner, of)) return 0
    const tokens = sharedPrefix(prefillTokenIds, tokenIds)
    return owner.accountId === of.accountId ? tokens : tokens - (tokens % MIN_SHARED_TOKENS)
  }

  /** The best slot for a sequence; null when no slot is free. */
  choose(sequence: Sequence): SlotChoice | null {
    // A seeded sequence is repeatable only in the same slot, so cached prefixes must not choose it.
    if (sequence.needsFixedChunks) return this.#lowestFree()
    const spare = this.#spareSlot()
    if (spare === null) return null
    const best = this.#remembers ? this.#longestShared(sequence) : null
    const own = best ?? { holder: spare, tokens: this.#sharedTokens(sequence, spare) }
    const entry = this.#worthRestoring(sequence, own.tokens)
    if (entry !== null) return this.#toChoice(spare, keptTokens(sequence, entry), { restore: entry.holder })
    const cachedTokens = keptTokens(sequence, own)
    const { holder: slot, tokens } = own
    // Taking a slot drops what it holds beyond the shared part: not worth it for the smaller half of a long cache.
    const isWorthTaking = slot === spare || tokens * 2 >= slot.cachedTokenIds.length
    if (slot.sequence === null && (isWorthTaking || !this.#options.canCopySlots)) {
      return this.#toChoice(slot, cachedTokens)
    }
    return this.#toChoice(spare, cachedTokens, { copyFrom: slot })
  }

  #toChoice(
    slot: Slot,
    cachedTokens: number,
    from: Partial<Pick<SlotChoice, 'copyFrom' | 'restore'>> = {},
  ): SlotChoice {
    const { copyFrom = null, restore = null } = from
    const keptTokens = copyFrom === null && restore === null ? cachedTokens : 0
    return { slot, cachedTokens, copyFrom, restore, isSaved: this.#isWorthSaving(slot, keptTokens) }
  }

  #lowestFree(): SlotChoice | null {
    const slot = this.slots.find(({ sequence }) => sequence === null)
    return slot === undefined ? null : this.#toChoice(slot, 0)
  }

  /** Whether enough is lost with all but the first tokens of a slot's cache that nothing else holds. */
  #isWorthSaving(slot: Slot, keptTokens: number): boolean {
    if (this.#host === null || slot.cachedTokenIds.length - keptTokens < MIN_SHARED_TOKENS) return false
    const holds = (other: CachedPrefix): boolean =>
      other !== slot &&
      this.isOpenTo(slot.owner, other.owner) &&
      other.leastCut <= slot.cachedTokenIds.length &&
      isPrefixOf(slot.cachedTokenIds, other.cachedTokenIds)
    return !this.slots.some(holds) && !Array.from(this.#host.entries()).some(holds)
  }

  /** Tokens that a prompt may take from a slot or an entry. */
  #sharedTokens(sequence: Sequence, holder: CachedPrefix): number {
    const tokens = this.openTokens(sequence, holder.cachedTokenIds, holder.owner)
    return tokens < holder.leastCut ? 0 : tokens
  }

  #longestShared(sequence: Sequence): Shared<Slot> | null {
    let best: Shared<Slot> | null = null
    for (const slot of this.slots) {
      if (slot.sequence !== null && !this.#options.canCopySlots) continue
      const tokens = this.#sharedTokens(sequence, slot)
      const isBetter =
        best === null ||
        tokens > best.tokens ||
        // Equal parts: a free slot needs no copy.
        (tokens === best.tokens && slot.sequence === null && best.holder.sequence !== null)
      if (tokens >= MIN_SHARED_TOKENS && isBetter) best = { holder: slot, tokens }
    }
    return best
  }

  /** The entry that holds the most of a prompt, where reading it back takes less time than computing what no slot holds. */
  #worthRestoring(sequence: Sequence, tokensInSlots: number): Shared<HostEntry> | null {
    let best: Shared<HostEntry> | null = null
    for (const entry of this.#host?.entries() ?? []) {
      const tokens = this.#sharedTokens(sequence, entry)
      const gained = tokens - tokensInSlots
      const leastGained = Math.max(MIN_SHARED_TOKENS, entry.cachedTokenIds.length * LEAST_RESTORED_SHARE)
      if (gained >= leastGained && tokens > (best?.tokens ?? 0)) best = { holder: entry, tokens }
    }
    return best
  }

  /**
   * The free slot whose cache is given up: of the half that was used least recently the one with the most running
   * neighbours, because llama.cpp computes sequences of neighbouring slots together and all others apart. In a shared cache
   * there are no neighbours.
   */
  #spareSlot(): Slot | null {
    const free = this.slots.filter(({ sequence }) => sequence === null)
    free.sort((a, b) => a.lastUsedOrder - b.lastUsedOrder)
    if (this.#cells !== null) return free[0] ?? null
    const older = free.slice(0, Math.ceil(free.length / 2))
    older.sort((a, b) => this.#runningNeighbours(b) - this.#runningNeighbours(a))
    return older[0] ?? null
  }

  /** @throws InvariantError when the books do not agree. */
  checkIntegrity(): void {
    this.#host?.checkIntegrity()
    this.#cells?.checkIntegrity(this.slots.map(({ cells }) => cells))
    for (const { cells, cachedTokenIds } of this.slots)
      checkRule(this.#cells === null || cells.length === cachedTokenIds.length, 'each token has its cell')
    for (const { leastCut, cachedTokenIds } of this.slots)
      checkRule(leastCut <= cachedTokenIds.length, 'a slot holds what it cannot be cut below')
  }

  #runningNeighbours({ slotId }: Slot): number {
    const isRunning = (id: number): number => (this.slots[id]?.sequence == null ? 0 : 1)
    return isRunning(slotId - 1) + isRunning(slotId + 1)
  }
}

function toHeldPrefix(
  holder: CachedPrefix & ({ readonly slotId: number } | { readonly entryId: number }),
): readonly HeldPrefix[] {
  const { cachedTokenIds, owner, leastCut } = holder
  if (owner.adapterId !== null) return []
  const place = 'slotId' in holder ? { slotId: holder.slotId } : { entryId: holder.entryId }
  return [{ cachedTokenIds, accountId: owner.accountId, leastCut, ...place }]
}
