/**
 * Folds the events of one sequence into what they came to, so that a plain answer holds exactly what a stream would have
 * sent. The only fold there is: used by `generation.ts` and by the light server's worker threads. Imports nothing that
 * such a thread would have to load.
 */
import { InvariantError } from '../../core/errors.ts'
import type { ToolCall } from '../../protocol/chat.ts'
import type {
  AnswerDeltaEvent,
  ChosenLogprob,
  FinishReason,
  SequenceEndEvent,
  SequenceError,
  SequenceStartEvent,
  TextDeltaEvent,
  ToolCallDeltaEvent,
} from '../../protocol/engine-events.ts'
import { ReasoningTokens } from './reasoning-tokens.ts'

/** What comes between the start of a sequence and its end. Each token stands in a text-delta, whose text is empty where it is read otherwise. */
export type DeltaEvent = TextDeltaEvent | AnswerDeltaEvent

/** An engine's event, or one that a model's chat format read from its text; the failure may be of another type. */
export type SequenceEvent<Failure = SequenceError> =
  | SequenceStartEvent
  | DeltaEvent
  | (Omit<SequenceEndEvent, 'error'> & {
      readonly error: Failure | null
    })

type AnswerPart =
  | { readonly type: 'text' | 'reasoning'; readonly text: string }
  | { readonly type: 'tool-call'; readonly call: ToolCall }

export interface FoldedSequence<Failure = SequenceError> {
  readonly text: string
  readonly reasoning: string
  readonly toolCalls: readonly ToolCall[]
  /** The same text, reasoning and calls in the order in which they came; no text of it is empty. */
  readonly parts: readonly AnswerPart[]
  /** All that were generated. */
  readonly tokenIds: readonly number[]
  readonly reasoningTokens: number
  /** Of the text; empty where none were asked for. */
  readonly logprobs: readonly ChosenLogprob[]
  readonly promptTokens: number
  /** Those of the prompt that were in the KV cache. */
  readonly cachedTokens: number
  readonly queueMs: number
  readonly finishReason: FinishReason
  /** The stop string that ended it; null where none did. */
  readonly stopString: string | null
  /** Set when `finishReason` is `error`. */
  readonly error: Failure | null
}

interface TextPart {
  readonly type: 'text' | 'reasoning'
  text: string
}

export class SequenceFold<Failure = SequenceError> {
  readonly #parts: (TextPart | { readonly type: 'tool-call'; readonly call: ToolCall })[] = []
  readonly #toolCalls: { id: string; name: string; arguments: string }[] = []
  readonly #logprobs: ChosenLogprob[] = []
  readonly #tokenIds: number[] = []
  readonly #reasoningTokens = new ReasoningTokens()
  #hasBegun = false
  #promptTokens = 0
  #cachedTokens = 0
  #queueMs = 0
  #end: Pick<FoldedSequence<Failure>, 'finishReason' | 'stopString' | 'error'> | null = null

  get hasBegun(): boolean {
    return this.#hasBegun
  }

  get hasEnded(): boolean {
    return this.#end !== null
  }

  /** @throws InvariantError when the sequence has ended. */
  add(event: SequenceEvent<Failure>): void {
    if (this.#end !== null) throw new InvariantError(`A ${event.type} came after the end of its sequence.`)
    this.#hasBegun = true
    this.#reasoningTokens.add(event)
    switch (event.type) {
      case 'sequence-start':
        this.#promptTokens = event.promptTokens
        this.#cachedTokens = event.cachedTokens
        this.#queueMs = event.queueMs
        break
      case 'text-delta':
        this.#addText('text', event.text)
        for (const tokenId of event.tokenIds) this.#tokenIds.push(tokenId)
        for (const logprob of event.logprobs ?? []) this.#logprobs.push(logprob)
        break
      case 'reasoning-delta':
        this.#addText('reasoning', event.text)
        break
      case 'tool-call-start': {
        const call = { id: event.id, name: event.name, arguments: '' }
        this.#toolCalls.push(call)
        this.#parts.push({ type: 'tool-call', call })
        break
      }
      case 'tool-call-delta':
        this.#callOf(event).arguments += event.arguments
        break
      case 'sequence-end': {
        const { finishReason, stopString = null, error } = event
        this.#promptTokens += event.promptTokensCorrection ?? 0
        this.#cachedTokens += event.cachedTokensCorrection ?? 0
        this.#end = { finishReason, stopString, error }
        break
      }
    }
  }

  /** What had come of a sequence that ends with its engine: its text is dropped, its tokens were computed. */
  fail(error: Failure): FoldedSequence<Failure> {
    this.#parts.length = 0
    this.#toolCalls.length = 0
    this.#logprobs.length = 0
    this.#end = { finishReason: 'error', stopString: null, error }
    return this.finish()
  }

  /** @throws InvariantError unless the sequence has ended. */
  finish(): FoldedSequence<Failure> {
    if (this.#end === null) throw new InvariantError('The sequence never ended.')
    return {
      text: this.#textOf('text'),
      reasoning: this.#textOf('reasoning'),
      toolCalls: this.#toolCalls,
      parts: this.#parts,
      tokenIds: this.#tokenIds,
      reasoningTokens: this.#reasoningTokens.count,
      logprobs: this.#logprobs,
      promptTokens: this.#promptTokens,
      cachedTokens: this.#cachedTokens,
      queueMs: this.#queueMs,
      ...this.#end,
    }
  }

  #addText(type: TextPart['type'], text: string): void {
    if (text === '') return
    const last = this.#parts.at(-1)
    if (last?.type === type) last.text += text
    else this.#parts.push({ type, text })
  }

  #textOf(type: TextPart['type']): string {
    return this.#parts.map((part) => (part.type === type ? part.text : '')).join('')
  }

  #callOf({ call }: ToolCallDeltaEvent): { arguments: string } {
    const found = this.#toolCalls[call]
    if (found === undefined) throw new InvariantError(`Arguments came before the start of call ${call}.`)
    return found
  }
}

/** Of a prompt that was refused before it ran, or whose engine failed. */
export function failedSequence<Failure>(error: Failure): FoldedSequence<Failure> {
  return {
    text: '',
    reasoning: '',
    toolCalls: [],
    parts: [],
    tokenIds: [],
    reasoningTokens: 0,
    logprobs: [],
    promptTokens: 0,
    cachedTokens: 0,
    queueMs: 0,
    finishReason: 'error',
    stopString: null,
    error,
  }
}
