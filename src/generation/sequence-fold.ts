/**
 * Folds the events of one sequence into what they came to, so that a plain answer holds exactly what a stream would have
 * sent. The only fold there is: used by `generation.ts` and by the light server's worker threads. Imports nothing that
 * such a thread would have to load.
 */
import { InvariantError } from '../core/errors.ts'
import type {
  FinishReason,
  SequenceEndEvent,
  SequenceError,
  SequenceStartEvent,
  TextDeltaEvent,
} from '../protocol/engine.ts'

/** An engine's event, or one in which the failure is of another type. */
export type SequenceEvent<Failure = SequenceError> =
  | SequenceStartEvent
  | TextDeltaEvent
  | (Omit<SequenceEndEvent, 'error'> & { readonly error: Failure | null })

export interface FoldedSequence<Failure = SequenceError> {
  readonly text: string
  readonly tokenIds: readonly number[]
  readonly promptTokens: number
  readonly queueMs: number
  readonly finishReason: FinishReason
  /** Set when `finishReason` is `error`. */
  readonly error: Failure | null
}

export class SequenceFold<Failure = SequenceError> {
  #text = ''
  readonly #tokenIds: number[] = []
  #promptTokens = 0
  #queueMs = 0
  #end: Pick<FoldedSequence<Failure>, 'finishReason' | 'error'> | null = null

  get hasEnded(): boolean {
    return this.#end !== null
  }

  /** @throws InvariantError when the sequence has ended. */
  add(event: SequenceEvent<Failure>): void {
    if (this.#end !== null) throw new InvariantError(`A ${event.type} came after the end of its sequence.`)
    switch (event.type) {
      case 'sequence-start':
        this.#promptTokens = event.promptTokens
        this.#queueMs = event.queueMs
        break
      case 'text-delta':
        this.#text += event.text
        for (const tokenId of event.tokenIds) this.#tokenIds.push(tokenId)
        break
      case 'sequence-end':
        this.#end = { finishReason: event.finishReason, error: event.error }
        break
    }
  }

  /** @throws InvariantError unless the sequence has ended. */
  finish(): FoldedSequence<Failure> {
    if (this.#end === null) throw new InvariantError('The sequence never ended.')
    return {
      text: this.#text,
      tokenIds: this.#tokenIds,
      promptTokens: this.#promptTokens,
      queueMs: this.#queueMs,
      ...this.#end,
    }
  }
}

/** Of a prompt that was refused before it ran, or whose engine failed. */
export function failedSequence<Failure>(error: Failure): FoldedSequence<Failure> {
  return { text: '', tokenIds: [], promptTokens: 0, queueMs: 0, finishReason: 'error', error }
}
