/**
 * Shows the output guard an answer that comes read from an upstream as it would see that of a model of this server: reasoning,
 * text, and the names and arguments of calls, as one text in their order. What the guard lets pass is split again. Opened by
 * `generation.ts` for chats that are sent as they are.
 *
 * Invariant: a part leaves no sooner than all that came before it has left, and a call starts no sooner than its name has passed.
 */
import { InvariantError } from '../../core/errors.ts'
import type {
  AnswerEvent,
  EngineEvent,
  TextDeltaEvent,
  ToolCallStartEvent,
} from '../../protocol/engine-events.ts'
import type { SequenceEvent } from './sequence-fold.ts'

interface TextSegment {
  readonly type: 'text' | 'reasoning' | 'arguments'
  /** Of arguments. */
  readonly call: number | null
  left: number
}

interface StartSegment {
  readonly type: 'start'
  readonly event: ToolCallStartEvent
  /** Of the name. */
  left: number
}

type Segment = TextSegment | StartSegment

export class JoinedAnswers {
  /** Of each sequence, what was joined and has not left. */
  readonly #segments: readonly Segment[][]
  readonly #lengthOf: (text: string) => number

  /** @param lengthOf of a text once the guard has cleaned it */
  constructor(count: number, lengthOf: (text: string) => number) {
    this.#segments = Array.from({ length: count }, () => [])
    this.#lengthOf = lengthOf
  }

  /** What leaves of an event. @param judge gives what the guard lets pass */
  pass(event: AnswerEvent, judge: (event: EngineEvent) => readonly EngineEvent[]): readonly SequenceEvent[] {
    if (event.type !== 'text-delta' || this.#of(event.index).length > 0)
      return this.#join(event)
        .flatMap(judge)
        .flatMap((one) => this.#split(one))
    const passed = judge(event)
    // Nearly all of an answer: text that passes as it is, with nothing in front of it that has not left.
    if (passed.length === 1 && passed[0] === event) return passed
    this.#join(event)
    return passed.flatMap((one) => this.#split(one))
  }

  /** The event as the guard reads it. */
  #join(event: AnswerEvent): readonly EngineEvent[] {
    const segments = this.#of(event.index)
    switch (event.type) {
      case 'sequence-start':
      case 'sequence-end':
        return [event]
      case 'text-delta':
        this.#grow(segments, { type: 'text', call: null, left: this.#lengthOf(event.text) })
        return [event]
      case 'reasoning-delta':
        this.#grow(segments, { type: 'reasoning', call: null, left: this.#lengthOf(event.text) })
        return [toText(event.index, event.text)]
      case 'tool-call-start':
        segments.push({ type: 'start', event, left: this.#lengthOf(event.name) })
        return [toText(event.index, event.name)]
      case 'tool-call-delta':
        this.#grow(segments, { type: 'arguments', call: event.call, left: this.#lengthOf(event.arguments) })
        return [toText(event.index, event.arguments)]
    }
  }

  /** What leaves of an event that the guard let pass. */
  #split(event: EngineEvent): readonly SequenceEvent[] {
    if (event.type === 'sequence-start') return [event]
    const segments = this.#of(event.index)
    if (event.type === 'sequence-end') {
      // A sequence that the guard has cut ends with what came before the cut.
      return event.finishReason === 'content_filter' ? [event] : [...takeStarts(segments), event]
    }
    const events: SequenceEvent[] = [...takeStarts(segments)]
    let { text } = event
    while (text !== '') {
      const [segment] = segments
      if (segment === undefined) throw new InvariantError('More text has left than was joined.')
      const piece = text.slice(0, segment.left)
      text = text.slice(piece.length)
      segment.left -= piece.length
      if (segment.type !== 'start') {
        if (segment.left === 0) segments.shift()
        events.push(toEvent(segment, event.index, piece))
      }
      events.push(...takeStarts(segments))
    }
    return withTokens(events, event)
  }

  #grow(segments: Segment[], segment: TextSegment): void {
    if (segment.left === 0) return
    const last = segments.at(-1)
    const isSame = last !== undefined && last.type !== 'start' && last.type === segment.type
    if (isSame && last.call === segment.call) last.left += segment.left
    else segments.push(segment)
  }

  #of(index: number): Segment[] {
    const segments = this.#segments[index]
    if (segments === undefined) throw new InvariantError(`There is no sequence ${index}.`)
    return segments
  }
}

function toText(index: number, text: string): TextDeltaEvent {
  return { type: 'text-delta', index, text, tokenIds: [] }
}

/** The starts of calls that stand before anything else, and whose names the guard has let pass. */
function takeStarts(segments: Segment[]): readonly ToolCallStartEvent[] {
  const next = segments.findIndex(({ type, left }) => type !== 'start' || left > 0)
  const starts = segments.splice(0, next === -1 ? segments.length : next)
  return starts.flatMap((segment) => (segment.type === 'start' ? [segment.event] : []))
}

function toEvent({ type, call }: TextSegment, index: number, text: string): SequenceEvent {
  if (call !== null) return { type: 'tool-call-delta', index, call, arguments: text }
  return type === 'reasoning' ? { type: 'reasoning-delta', index, text } : toText(index, text)
}

/** Tokens and their log probabilities come with the first text, or in front of all where there is none. */
function withTokens(
  events: SequenceEvent[],
  { index, tokenIds, logprobs }: TextDeltaEvent,
): readonly SequenceEvent[] {
  if (tokenIds.length === 0 && logprobs === undefined) return events
  const given = { tokenIds, ...(logprobs && { logprobs }) }
  const at = events.findIndex(({ type }) => type === 'text-delta')
  if (at === -1) return [{ ...toText(index, ''), ...given }, ...events]
  return events.map((event, position) =>
    position === at && event.type === 'text-delta' ? { ...event, ...given } : event,
  )
}
