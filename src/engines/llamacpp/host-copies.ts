/**
 * Copies of slots in host memory, by the numbers that the scheduler gives them. Owned by the runner; which are kept, and for
 * how long, is the scheduler's to say.
 * Invariant: the memory of each copy is freed exactly once, and not while it is written to the disk.
 */
import { InvariantError } from '../../core/errors.ts'
import type { HostMoves, HostRoom, SavedCopy } from '../../protocol/model-runner.ts'
import { availableMemoryBytes } from '../../checkpoints/memory/available-memory.ts'
import type { Context } from './context.ts'
import { allocateBytes, freeBytes, viewBytes } from './ffi/bindings.ts'
import type { Pointer } from './ffi/structs.ts'

/** Memory that copies leave to the system and to everything else in the container. */
export const LEFT_FREE_BYTES = 512 * 1024 * 1024

/** The bytes of a copy, which stay until it is disposed. */
export interface PinnedState extends Disposable {
  readonly view: Uint8Array
}

class Copy {
  readonly memory: Pointer
  readonly bytes: number
  /** The copy's owner, and who reads its bytes. */
  #holders = 1
  /** What removes the file that it was read from. */
  discardFile: (() => void) | null = null

  constructor(bytes: number) {
    this.memory = allocateBytes(bytes)
    this.bytes = bytes
  }

  get view(): Uint8Array {
    return viewBytes(this.memory, this.bytes)
  }

  pin(): PinnedState {
    this.#holders++
    return { view: this.view, [Symbol.dispose]: () => this.free() }
  }

  free(): void {
    if (--this.#holders === 0) freeBytes(this.memory)
  }
}

export class HostCopies {
  readonly #context: Context
  readonly #copies = new Map<number, Copy>()

  constructor(context: Context) {
    this.#context = context
  }

  has(entryId: number): boolean {
    return this.#copies.has(entryId)
  }

  bytesOf(entryId: number): number {
    return this.#find(entryId).bytes
  }

  slotBytes(slotId: number): number {
    return this.#context.slotBytes(slotId)
  }

  /** Memory for a copy that is read from a file; the caller enters or frees it. */
  allocate(bytes: number): Copy {
    return new Copy(bytes)
  }

  /** @param discardFile removes its file, where llama.cpp does not take it */
  enter(entryId: number, copy: Copy, discardFile: () => void): void {
    copy.discardFile = discardFile
    this.#copies.set(entryId, copy)
  }

  pin(entryId: number): PinnedState {
    return this.#find(entryId).pin()
  }

  /** A copy that no sequence can ask for. */
  copyOfSlot(slotId: number, tokens: number): PinnedState {
    const copy = this.#copyOf(slotId, tokens)
    return { view: copy.view, [Symbol.dispose]: () => copy.free() }
  }

  /** What is to be done before a sequence takes the slot; gives the copy that was made. */
  apply(slotId: number, { drop, save, restore }: HostMoves): SavedCopy | null {
    for (const entryId of drop) this.#drop(entryId)
    if (save !== null) this.#copies.set(save.entryId, this.#copyOf(slotId, save.tokens))
    if (restore !== null) {
      this.#restore(slotId, this.#find(restore.entryId))
      if (restore.isForgotten) this.#drop(restore.entryId)
    }
    return save === null ? null : { entryId: save.entryId, bytes: this.#find(save.entryId).bytes }
  }

  close(): void {
    for (const entryId of [...this.#copies.keys()]) this.#drop(entryId)
  }

  #copyOf(slotId: number, tokens: number): Copy {
    // A sequence that was aborted in the middle of a step has left tokens that nobody counted.
    if (!this.#context.trimSlot(slotId, tokens))
      throw new InvariantError('A slot cannot be cut to be copied.')
    const copy = new Copy(this.#context.slotBytes(slotId))
    try {
      this.#context.saveSlot(slotId, copy.memory, copy.bytes)
      return copy
    } catch (error) {
      copy.free()
      throw error
    }
  }

  #restore(slotId: number, { memory, bytes, discardFile }: Copy): void {
    try {
      this.#context.restoreSlot(slotId, memory, bytes)
    } catch (error) {
      // The process ends of it: the next one must not read the same file again.
      discardFile?.()
      throw error
    }
  }

  #drop(entryId: number): void {
    this.#find(entryId).free()
    this.#copies.delete(entryId)
  }

  #find(entryId: number): Copy {
    const copy = this.#copies.get(entryId)
    if (copy === undefined) throw new InvariantError(`There is no copy ${entryId} in host memory.`)
    return copy
  }
}

/** The bytes of a slot's copy; they grow by the same for each token. */
export interface SlotSizes {
  readonly ofThreeTokens: number
  readonly ofFourTokens: number
}

export function hostRoomOf(
  { ofThreeTokens, ofFourTokens }: SlotSizes,
  { maxBytes, windowTokens }: Pick<HostRoom, 'maxBytes' | 'windowTokens'>,
): HostRoom {
  const tokenBytes = ofFourTokens - ofThreeTokens
  return {
    maxBytes,
    windowTokens,
    copyBytes: (tokens) => ofThreeTokens + (tokens - 3) * tokenBytes,
    roomBytes: (heldBytes) => heldBytes + availableMemoryBytes() - LEFT_FREE_BYTES,
  }
}
