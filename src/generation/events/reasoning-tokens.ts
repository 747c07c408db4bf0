/** How many tokens of a sequence were thought. Reasoning comes without its tokens: they stand in the text-deltas before it. */
import type { AnswerDeltaEvent, SequenceEndEvent, TextDeltaEvent } from '../../protocol/engine-events.ts'

type Event =
  | TextDeltaEvent
  | AnswerDeltaEvent
  | { readonly type: 'sequence-start' }
  | Pick<SequenceEndEvent, 'type' | 'reasoningTokens'>

export class ReasoningTokens {
  #count = 0
  /** Of which no text came yet. */
  #unread = 0
  #isReasoning = false

  /** Of the events so far. */
  get count(): number {
    return this.#count
  }

  add(event: Event): void {
    switch (event.type) {
      case 'sequence-start':
        return
      case 'text-delta':
        this.#unread += event.tokenIds.length
        if (event.text !== '') this.#read(false)
        return
      case 'reasoning-delta':
        if (event.text !== '') this.#read(true)
        return
      case 'tool-call-start':
      case 'tool-call-delta':
        return this.#read(false)
      case 'sequence-end':
        this.#read(this.#isReasoning)
        this.#count = event.reasoningTokens ?? this.#count
    }
  }

  #read(isReasoning: boolean): void {
    if (isReasoning) this.#count += this.#unread
    this.#unread = 0
    this.#isReasoning = isReasoning
  }
}
