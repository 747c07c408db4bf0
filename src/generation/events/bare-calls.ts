/**
 * Gives calls that end without arguments those that parse: some upstreams write none for a function that takes none, and clients read
 * the arguments of every call as JSON. Opened by `generation.ts` for chats that are sent as they are.
 */
import type { ToolCallDeltaEvent } from '../../protocol/engine-events.ts'
import type { SequenceEvent } from './sequence-fold.ts'

export class BareCalls {
  /** Of each sequence, the calls of which no arguments have come. */
  readonly #calls: readonly Set<number>[]

  constructor(count: number) {
    this.#calls = Array.from({ length: count }, () => new Set())
  }

  /** The same events, with arguments in front of an end; of an answer that was cut, they are left unfinished. */
  complete(events: readonly SequenceEvent[]): readonly SequenceEvent[] {
    let hasBare = false
    for (const event of events) {
      const calls = this.#calls[event.index]
      if (event.type === 'tool-call-start') calls?.add(event.call)
      else if (event.type === 'tool-call-delta') calls?.delete(event.call)
      else if (event.type === 'sequence-end')
        hasBare ||= event.finishReason === 'stop' && (calls?.size ?? 0) > 0
    }
    if (!hasBare) return events
    return events.flatMap((event) =>
      event.type === 'sequence-end' && event.finishReason === 'stop'
        ? [...this.#argumentsOf(event.index), event]
        : [event],
    )
  }

  #argumentsOf(index: number): readonly ToolCallDeltaEvent[] {
    return [...(this.#calls[index] ?? [])].map((call) => ({
      type: 'tool-call-delta',
      index,
      call,
      arguments: '{}',
    }))
  }
}
