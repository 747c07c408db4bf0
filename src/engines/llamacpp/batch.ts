/**
 * The tokens of one step, in llama.cpp's own memory: typed-array views over it make filling the batch free of native
 * calls. Owned by the context; each token belongs to exactly one slot.
 */
import { InvariantError } from '../../core/errors.ts'
import type { SlotRun } from '../../protocol/model-runner.ts'
import { type Bindings, viewInt32, viewInt8, viewPointers } from './ffi/bindings.ts'
import type { NativeBatch } from './ffi/structs.ts'

export class Batch {
  readonly #native: NativeBatch
  readonly #free: (batch: NativeBatch) => void
  readonly #maxTokens: number
  readonly #tokenIds: Int32Array
  readonly #positions: Int32Array
  readonly #slotIds: readonly Int32Array[]
  readonly #wantsLogits: Int8Array

  constructor(api: Bindings, maxTokens: number) {
    this.#native = api.batchInit(maxTokens, 0, 1)
    this.#free = api.batchFree
    this.#maxTokens = maxTokens
    this.#tokenIds = viewInt32(this.#native.token, maxTokens)
    this.#positions = viewInt32(this.#native.pos, maxTokens)
    this.#wantsLogits = viewInt8(this.#native.logits, maxTokens)
    this.#slotIds = Array.from(viewPointers(this.#native.seq_id, maxTokens), (pointer) =>
      viewInt32(pointer, 1),
    )
    viewInt32(this.#native.n_seq_id, maxTokens).fill(1)
  }

  /** Takes the runs of a step, in order; what it returns is good until the next call. */
  fill(runs: readonly SlotRun[]): NativeBatch {
    let count = 0
    for (const { slotId, position, tokenIds, wantsToken, draftTokens = 0 } of runs) {
      if (count + tokenIds.length > this.#maxTokens) {
        throw new InvariantError(`A step has more than ${this.#maxTokens} tokens.`)
      }
      for (let i = 0; i < tokenIds.length; i++) {
        this.#tokenIds[count] = tokenIds[i] as number
        this.#positions[count] = position + i
        ;(this.#slotIds[count] as Int32Array)[0] = slotId
        this.#wantsLogits[count] = 0
        count++
      }
      if (wantsToken) this.#wantsLogits.fill(1, count - 1 - draftTokens, count)
    }
    this.#native.n_tokens = count
    return this.#native
  }

  /** The same, with an output for every token: a pooled vector is made of all of them. */
  fillPooled(runs: readonly SlotRun[]): NativeBatch {
    const native = this.fill(runs)
    this.#wantsLogits.fill(1, 0, native.n_tokens)
    return native
  }

  close(): void {
    this.#free(this.#native)
  }
}
