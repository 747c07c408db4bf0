/**
 * The output of a response while it comes: events of a generation become items (what was thought, said and called, in that
 * order or any other) and changes of them. A plain answer shows the items at the end; `answers.ts` makes frames of the changes.
 * As both are made here, the response that a stream ends with is the plain one.
 *
 * Invariant: one item is open at a time, and every item is closed once, at the latest by the end of the sequence.
 */
import { InvariantError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import { ReasoningTokens } from '../../../generation/events/reasoning-tokens.ts'
import type { GenerationEvent } from '../../../generation/generation.ts'
import type { ChosenLogprob, FinishReason } from '../../../protocol/engine-events.ts'
import { type CallEvent, CallsInTurn } from '../calls-in-turn.ts'

export type Item =
  | {
      /** As a summary it is shown to clients that asked for one: they read nothing else. */
      readonly kind: ReasoningKind
      readonly id: string
      text: string
      status: ItemStatus
    }
  | {
      readonly kind: 'message'
      readonly id: string
      text: string
      readonly logprobs: ChosenLogprob[]
      status: ItemStatus
    }
  | {
      readonly kind: 'call'
      readonly id: string
      readonly callId: string
      readonly name: string
      /** Of its arguments. */
      text: string
      status: ItemStatus
    }

export type ReasoningKind = 'reasoning' | 'summary'

type ItemStatus = 'in_progress' | 'completed' | 'incomplete'

export type ItemChange =
  | { readonly type: 'opened' | 'closed'; readonly item: Item; readonly index: number }
  | {
      readonly type: 'grown'
      readonly item: Item
      readonly index: number
      readonly delta: string
      /** Of a message; those of tokens before it that had no text yet included. */
      readonly logprobs: readonly ChosenLogprob[]
    }

export interface OutputUsage {
  readonly promptTokens: number
  readonly cachedTokens: number
  readonly completionTokens: number
  readonly reasoningTokens: number
}

const UNCHANGED: readonly ItemChange[] = []

export class Output {
  readonly items: Item[] = []
  readonly #reasoningKind: ReasoningKind
  readonly #calls = new CallsInTurn()
  #promptTokens = 0
  #cachedTokens = 0
  #completionTokens = 0
  readonly #reasoningTokens = new ReasoningTokens()
  #finishReason: FinishReason | null = null
  /** Of tokens that no text came of yet: a part of a character, or of what a chat format reads. */
  #unreadLogprobs: ChosenLogprob[] = []

  constructor(reasoningKind: ReasoningKind) {
    this.#reasoningKind = reasoningKind
  }

  /** Null until the sequence has ended. */
  get finishReason(): FinishReason | null {
    return this.#finishReason
  }

  get usage(): OutputUsage {
    return {
      promptTokens: this.#promptTokens,
      cachedTokens: this.#cachedTokens,
      completionTokens: this.#completionTokens,
      reasoningTokens: this.#reasoningTokens.count,
    }
  }

  /** What it changes, in order. */
  add(event: GenerationEvent): readonly ItemChange[] {
    this.#reasoningTokens.add(event)
    switch (event.type) {
      case 'sequence-start':
        this.#promptTokens = event.promptTokens
        this.#cachedTokens = event.cachedTokens
        return UNCHANGED
      case 'text-delta':
        this.#completionTokens += event.tokenIds.length
        this.#unreadLogprobs.push(...(event.logprobs ?? []))
        return event.text === '' ? UNCHANGED : this.#growMessage(event.text)
      case 'reasoning-delta':
        return event.text === '' ? UNCHANGED : this.#growReasoning(event.text)
      case 'tool-call-start':
      case 'tool-call-delta':
        this.#readLogprobs()
        return this.#showCalls(this.#calls.add(event))
      case 'sequence-end':
        this.#promptTokens += event.promptTokensCorrection ?? 0
        this.#cachedTokens += event.cachedTokensCorrection ?? 0
        this.#finishReason = event.finishReason
        return this.#end(event.finishReason === 'stop' ? 'completed' : 'incomplete')
    }
  }

  /** Nothing more comes, and no end of the sequence. */
  breakOff(): void {
    const item = this.items.at(-1)
    if (item?.status === 'in_progress') item.status = 'incomplete'
  }

  #growMessage(text: string): readonly ItemChange[] {
    const changes = this.#openKind('message')
    return [...changes, ...this.#grow(text, this.#readLogprobs())]
  }

  #growReasoning(text: string): readonly ItemChange[] {
    const changes = this.#openKind(this.#reasoningKind)
    this.#readLogprobs()
    return [...changes, ...this.#grow(text, [])]
  }

  /** A response without any item would look to clients as if none had come. */
  #end(status: ItemStatus): readonly ItemChange[] {
    const changes = this.items.length === 0 ? this.#openKind('message') : this.#showCalls(this.#calls.end())
    const isUnread = this.#unreadLogprobs.length > 0 && this.items.at(-1)?.kind === 'message'
    const unread = isUnread ? this.#grow('', this.#readLogprobs()) : UNCHANGED
    return [...changes, ...unread, ...this.#close(status)]
  }

  #openKind(kind: 'message' | ReasoningKind): readonly ItemChange[] {
    if (this.items.at(-1)?.kind === kind) return UNCHANGED
    const changes = this.#showCalls(this.#calls.end())
    const item = kind === 'message' ? { ...opened(kind, 'msg'), logprobs: [] } : opened(kind, 'rs')
    return [...changes, ...this.#open(item)]
  }

  #showCalls(events: readonly CallEvent[]): readonly ItemChange[] {
    return events.flatMap((event) =>
      event.type === 'tool-call-delta'
        ? this.#grow(event.arguments, [])
        : this.#open({ ...opened('call', 'fc'), callId: event.id, name: event.name }),
    )
  }

  #open(item: Item): readonly ItemChange[] {
    const changes = this.#close('completed')
    this.items.push(item)
    return [...changes, { type: 'opened', item, index: this.items.length - 1 }]
  }

  #close(status: ItemStatus): readonly ItemChange[] {
    const item = this.items.at(-1)
    if (item === undefined) return UNCHANGED
    item.status = status
    return [{ type: 'closed', item, index: this.items.length - 1 }]
  }

  #grow(delta: string, logprobs: readonly ChosenLogprob[]): readonly ItemChange[] {
    const item = this.items.at(-1)
    if (item === undefined) throw new InvariantError('Arguments came before the start of their call.')
    item.text += delta
    if (item.kind === 'message') item.logprobs.push(...logprobs)
    return [{ type: 'grown', item, index: this.items.length - 1, delta, logprobs }]
  }

  #readLogprobs(): readonly ChosenLogprob[] {
    const logprobs = this.#unreadLogprobs
    if (logprobs.length > 0) this.#unreadLogprobs = []
    return logprobs
  }
}

function opened<const Kind extends Item['kind']>(kind: Kind, prefix: string) {
  return { kind, id: `${prefix}_${newId()}`, text: '', status: 'in_progress' as ItemStatus }
}
