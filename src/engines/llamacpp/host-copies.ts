/**
 * Copies of slots in host memory, by the numbers that the scheduler gives them. Owned by the runner; which are kept, and for
 * how long, is the scheduler's to say.
 * Invariant: the memory of each copy is freed exactly once.
 */
import { InvariantError } from '../../core/errors.ts'
import type { HostMoves, HostRoom, SavedCopy } from '../../protocol/model-runner.ts'
import { availableMemoryBytes } from '../../checkpoints/memory/available-memory.ts'
import type { Context } from './context.ts'
import { allocateBytes, freeBytes } from './ffi/bindings.ts'
import type { Pointer } from './ffi/structs.ts'

/** Memory that copies leave to the system and to everything else in the container. */
const LEFT_FREE_BYTES = 512 * 1024 * 1024

interface Copy {
  readonly memory: Pointer
  readonly bytes: number
}

export class HostCopies {
  readonly #context: Context
  readonly #copies = new Map<number, Copy>()

  constructor(context: Context) {
    this.#context = context
  }

  /** What is to be done before a sequence takes the slot; gives the copy that was made. */
  apply(slotId: number, { drop, save, restore }: HostMoves): SavedCopy | null {
    for (const entryId of drop) this.#drop(entryId)
    if (save !== null) {
      // A sequence that was aborted in the middle of a step has left tokens that nobody counted.
      if (!this.#context.trimSlot(slotId, save.tokens))
        throw new InvariantError('A slot cannot be cut to be copied.')
      this.#save(slotId, save.entryId)
    }
    if (restore !== null) {
      const { memory, bytes } = this.#find(restore.entryId)
      this.#context.restoreSlot(slotId, memory, bytes)
      if (restore.isForgotten) this.#drop(restore.entryId)
    }
    return save === null ? null : { entryId: save.entryId, bytes: this.#find(save.entryId).bytes }
  }

  close(): void {
    for (const entryId of [...this.#copies.keys()]) this.#drop(entryId)
  }

  #save(slotId: number, entryId: number): void {
    const bytes = this.#context.slotBytes(slotId)
    const memory = allocateBytes(bytes)
    this.#copies.set(entryId, { memory, bytes })
    this.#context.saveSlot(slotId, memory, bytes)
  }

  #drop(entryId: number): void {
    freeBytes(this.#find(entryId).memory)
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
