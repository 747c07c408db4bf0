/**
 * The plain answer is the fold of the stream: whatever a client reads from deltas is what it gets in one piece.
 * Used by every answer that is not streamed.
 */
import { InvariantError } from '../core/errors.ts'
import type { EngineEvent, FinishReason, SequenceError } from '../protocol/engine.ts'

export interface FoldedSequence {
  readonly text: string
  readonly tokenIds: readonly number[]
  readonly promptTokens: number
  readonly queueMs: number
  readonly finishReason: FinishReason
  /** Set when `finishReason` is `error`. */
  readonly error: SequenceError | null
}

interface OpenSequence {
  text: string
  tokenIds: number[]
  promptTokens: number
  queueMs: number
  finishReason: FinishReason | null
  error: SequenceError | null
}

export class SequenceFold {
  readonly #sequences: readonly OpenSequence[]

  constructor(count: number) {
    const sequences: OpenSequence[] = []
    while (sequences.length < count) sequences.push(createSequence())
    this.#sequences = sequences
  }

  /** @throws InvariantError for an event of a sequence that has ended or never was. */
  add(event: EngineEvent): void {
    const sequence = this.#sequences[event.index]
    if (sequence === undefined || sequence.finishReason !== null) {
      throw new InvariantError(`A ${event.type} of sequence ${event.index} came out of turn.`)
    }
    apply(event, sequence)
  }

  /** @throws InvariantError unless every sequence has ended. */
  finish(): readonly FoldedSequence[] {
    return this.#sequences.map(toFolded)
  }
}

function createSequence(): OpenSequence {
  return { text: '', tokenIds: [], promptTokens: 0, queueMs: 0, finishReason: null, error: null }
}

function apply(event: EngineEvent, sequence: OpenSequence): void {
  switch (event.type) {
    case 'sequence-start':
      sequence.promptTokens = event.promptTokens
      sequence.queueMs = event.queueMs
      break
    case 'text-delta':
      sequence.text += event.text
      for (const tokenId of event.tokenIds) sequence.tokenIds.push(tokenId)
      break
    case 'sequence-end':
      sequence.finishReason = event.finishReason
      sequence.error = event.error
      break
  }
}

function toFolded(sequence: OpenSequence, index: number): FoldedSequence {
  const { finishReason } = sequence
  if (finishReason === null) throw new InvariantError(`Sequence ${index} never ended.`)
  return { ...sequence, finishReason }
}
