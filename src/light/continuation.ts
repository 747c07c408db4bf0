/** What a prompt came to: the fold of one sequence's events. Used on both sides of the thread's border. */
import { InvariantError, ServiceError } from '../core/errors.ts'
import type { EngineEvent, FinishReason, SequenceError } from '../protocol/engine.ts'

export interface Continuation {
  readonly text: string
  readonly tokenIds: readonly number[]
  readonly promptTokens: number
  readonly finishReason: FinishReason
}

export class ContinuationFold {
  #text = ''
  readonly #tokenIds: number[] = []
  #promptTokens = 0
  #finishReason: FinishReason | null = null
  #error: SequenceError | null = null

  add(event: EngineEvent): void {
    switch (event.type) {
      case 'sequence-start':
        this.#promptTokens = event.promptTokens
        break
      case 'text-delta':
        this.#text += event.text
        for (const tokenId of event.tokenIds) this.#tokenIds.push(tokenId)
        break
      case 'sequence-end':
        this.#finishReason = event.finishReason
        this.#error = event.error
        break
    }
  }

  get hasEnded(): boolean {
    return this.#finishReason !== null
  }

  /** Why the sequence could not run; null when it did. */
  get error(): SequenceError | null {
    return this.#error
  }

  /** @throws InvariantError when the sequence has not ended. */
  get result(): Continuation {
    if (this.#finishReason === null) throw new InvariantError('The sequence never ended.')
    return {
      text: this.#text,
      tokenIds: this.#tokenIds,
      promptTokens: this.#promptTokens,
      finishReason: this.#finishReason,
    }
  }
}

export function toServiceError({ code, params }: SequenceError, requestId: string): ServiceError {
  return new ServiceError(code, { requestId, ...params })
}
