/**
 * Turns the text of an engine's events into text, reasoning and tool calls, by the format of the model. Stands behind the output
 * guard, which judges all of the text; opened by `generation.ts` for chats whose answers are more than text.
 *
 * Invariant: each token stands in exactly one text-delta, at once, also where its text is held back or read otherwise. Its log
 * probability comes with the first of its text, and never where all of it is read otherwise.
 */
import { InvariantError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { HeldTokens } from '../../core/text/held-tokens.ts'
import type { AnswerPart, PartReader } from '../../models/chat/reading/answer-part.ts'
import type { ChosenLogprob, EngineEvent, TextDeltaEvent } from '../../protocol/engine-events.ts'
import type { SequenceEvent } from './sequence-fold.ts'

interface ReadSequence {
  readonly reader: PartReader
  /** Calls so far. */
  calls: number
  readonly logprobs: HeldTokens<ChosenLogprob>
}

export class AnswerEvents {
  readonly #sequences: readonly ReadSequence[]

  constructor(createReader: () => PartReader, count: number) {
    this.#sequences = Array.from({ length: count }, () => ({
      reader: createReader(),
      calls: 0,
      logprobs: new HeldTokens(),
    }))
  }

  /** The events that leave instead of this one. */
  read(event: EngineEvent): readonly SequenceEvent[] {
    const sequence = this.#sequences[event.index]
    if (sequence === undefined) throw new InvariantError(`There is no sequence ${event.index}.`)
    switch (event.type) {
      case 'sequence-start':
        return [event]
      case 'text-delta':
        for (const logprob of event.logprobs ?? []) sequence.logprobs.add(logprob)
        return toEvents(sequence, sequence.reader.push(event.text), event)
      case 'sequence-end': {
        const rest = sequence.reader.end(event.finishReason !== 'stop')
        const { index } = event
        if (rest.length === 0) return [event]
        return [...toEvents(sequence, rest, { type: 'text-delta', index, text: '', tokenIds: [] }), event]
      }
    }
  }
}

const NO_TOKENS = { type: 'text-delta', tokenIds: [] } as const

/** Tokens stand with the first text, or in front of all where there is none. */
function toEvents(
  sequence: ReadSequence,
  parts: readonly AnswerPart[],
  { logprobs, ...delta }: TextDeltaEvent,
): readonly SequenceEvent[] {
  const { index } = delta
  const events: SequenceEvent[] = []
  let hasTokens = false
  for (const part of parts) {
    if (part.type === 'text') {
      const { text, at } = part
      const released = sequence.logprobs.releasePart(at, at + text.length)
      events.push({
        ...(hasTokens ? NO_TOKENS : delta),
        index,
        text,
        ...((logprobs !== undefined || released.length > 0) && { logprobs: released }),
      })
      hasTokens = true
    } else events.push(toEvent(sequence, part, index))
  }
  const isEmpty = hasTokens || (delta.tokenIds.length === 0 && parts.length > 0)
  return isEmpty ? events : [{ ...delta, text: '' }, ...events]
}

function toEvent(
  sequence: ReadSequence,
  part: Exclude<AnswerPart, { type: 'text' }>,
  index: number,
): SequenceEvent {
  switch (part.type) {
    case 'reasoning':
      return { type: 'reasoning-delta', index, text: part.text }
    case 'call':
      return {
        type: 'tool-call-start',
        index,
        call: sequence.calls++,
        id: `call_${newId()}`,
        name: part.name,
      }
    case 'arguments':
      return { type: 'tool-call-delta', index, call: sequence.calls - 1, arguments: part.text }
  }
}
