/**
 * What the sequences of each model do in this process: how many wait and run, the tokens that those that run hold in the KV cache,
 * and what was found there of their prompts. Told by `QueuedEngine`, so it is the same for every kind of engine; read by the metrics.
 * In a service with workers each of them counts its own.
 */
import type { AnswerEvent } from '../protocol/engine-events.ts'
import type { ModelInfo } from '../protocol/model-info.ts'

/** Of one model, over all that was loaded under its id. */
export interface ModelSequences {
  readonly model: string
  waiting: number
  running: number
  /** Tokens of those that run, prompts included; not of beams, which have a cache of their own. */
  heldTokens: number
  /** Tokens that the KV cache of what serves now has room for; null where it has none, or an upstream has it. */
  capacityTokens: number | null
  /** Tokens of prompts that were looked for in the prefix cache, since the start. */
  queriedTokens: number
  /** Those of them that were found. */
  cachedTokens: number
  /** Those of them that were copied back from host memory. */
  restoredTokens: number
}

export class SequenceCounts {
  readonly #models = new Map<string, ModelSequences>()
  /** How many are loaded under an id: while one takes the place of another, both. */
  readonly #loaded = new Map<string, number>()

  /** Call for each model that is loaded, and `forget` when its engine has closed. */
  of(model: string, info: Pick<ModelInfo, 'kvCacheTokens'>): ModelSequences {
    const capacityTokens = info.kvCacheTokens ?? null
    this.#loaded.set(model, (this.#loaded.get(model) ?? 0) + 1)
    const known = this.#models.get(model)
    if (known !== undefined) {
      known.capacityTokens = capacityTokens
      return known
    }
    const counts = {
      waiting: 0,
      running: 0,
      heldTokens: 0,
      queriedTokens: 0,
      cachedTokens: 0,
      restoredTokens: 0,
    }
    const sequences = { model, ...counts, capacityTokens }
    this.#models.set(model, sequences)
    return sequences
  }

  forget(model: string): void {
    const left = (this.#loaded.get(model) ?? 0) - 1
    if (left > 0) this.#loaded.set(model, left)
    else {
      this.#loaded.delete(model)
      this.#models.delete(model)
    }
  }

  list(): readonly ModelSequences[] {
    return [...this.#models.values()]
  }
}

/** The sequences of one request, from their entry into the queue. The caller ends it. */
export class CountedSequences {
  readonly #counts: ModelSequences
  readonly #holdsTokens: boolean
  #waiting: number
  /** Tokens of each that runs, by its index. */
  readonly #running = new Map<number, number>()

  constructor(
    counts: ModelSequences,
    { waiting, holdsTokens }: { readonly waiting: number; readonly holdsTokens: boolean },
  ) {
    this.#counts = counts
    this.#holdsTokens = holdsTokens
    this.#waiting = waiting
    counts.waiting += waiting
  }

  get waiting(): number {
    return this.#waiting
  }

  get running(): number {
    return this.#running.size
  }

  /** What the event did to its sequence; one that leaves ends without having run. */
  record(event: AnswerEvent): 'began' | 'ended' | 'left' | null {
    const counts = this.#counts
    switch (event.type) {
      case 'sequence-start':
        this.#wait(-1)
        counts.running++
        counts.queriedTokens += event.promptTokens
        counts.cachedTokens += event.cachedTokens
        counts.restoredTokens += event.restoredTokens ?? 0
        this.#running.set(event.index, 0)
        this.#hold(event.index, event.promptTokens)
        return 'began'
      case 'text-delta':
        this.#hold(event.index, event.tokenIds.length)
        return null
      case 'sequence-end':
        if (this.#end(event.index)) return 'ended'
        this.#wait(-1)
        return 'left'
      case 'reasoning-delta':
      case 'tool-call-start':
      case 'tool-call-delta':
        return null
    }
  }

  /** What has not ended by now, has. */
  end(): void {
    this.#wait(-this.#waiting)
    for (const index of this.#running.keys()) this.#end(index)
  }

  #wait(more: number): void {
    this.#waiting += more
    this.#counts.waiting += more
  }

  #hold(index: number, tokens: number): void {
    const held = this.#running.get(index)
    if (held === undefined || !this.#holdsTokens) return
    this.#running.set(index, held + tokens)
    this.#counts.heldTokens += tokens
  }

  /** Whether it ran. */
  #end(index: number): boolean {
    const held = this.#running.get(index)
    if (held === undefined) return false
    this.#running.delete(index)
    this.#counts.running--
    this.#counts.heldTokens -= held
    return true
  }
}
