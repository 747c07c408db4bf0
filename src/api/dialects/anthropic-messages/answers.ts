/**
 * A generation as `/v1/messages` answers it: Anthropic's `message` in one piece, or as the events of a stream, which are named
 * and end with `message_stop`. Both have a block for each part of the answer, in the order in which the model made them.
 */
import { newId } from '../../../core/ids.ts'
import type { ServiceError } from '../../../core/errors.ts'
import type { GeneratedSequence, Generation } from '../../../generation/generation.ts'
import type { DeltaEvent } from '../../../generation/events/sequence-fold.ts'
import { toAnthropicError } from '../../../net/render-error.ts'
import type { FinishReason, SequenceStartEvent } from '../../../protocol/engine-events.ts'
import { type CallEvent, CallsInTurn } from '../calls-in-turn.ts'
import {
  answerFinishReason,
  type AnswerOf,
  type FrameFormat,
  jsonOf,
  namedFrame,
  splitFrame,
} from '../frames.ts'
import type { anthropicEvent, anthropicMessage } from './schema.ts'

type Message = AnswerOf<typeof anthropicMessage>
type Block = Message['content'][number]
type StreamEvent = AnswerOf<typeof anthropicEvent>

/** Clients send a block of thinking back only where it has a signature. */
const SIGNATURE = 'unsigned'

type Head = Pick<Generation, 'modelId'>

export interface MessageOptions {
  readonly requestId: string
  readonly showsThinking: boolean
}

/** The last event of a stream that failed. */
export function failMessage(error: ServiceError, { requestId }: Pick<MessageOptions, 'requestId'>): string {
  return namedFrame(toAnthropicError(error, requestId))
}

export function toMessage(
  { modelId }: Head,
  sequence: GeneratedSequence,
  { showsThinking }: Pick<MessageOptions, 'showsThinking'>,
): Message {
  const { parts, promptTokens, tokenIds, toolCalls } = sequence
  const shown = showsThinking ? parts : parts.filter(({ type }) => type !== 'reasoning')
  return {
    ...openMessage(modelId, promptTokens),
    content: shown.map(toBlock),
    ...toStop(sequence, toolCalls.length > 0),
    usage: toUsage(promptTokens, tokenIds.length),
  }
}

function openMessage(modelId: string, promptTokens: number): Message {
  return {
    id: `msg_${newId()}`,
    type: 'message',
    role: 'assistant',
    model: modelId,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: toUsage(promptTokens, 0),
  }
}

function toUsage(promptTokens: number, completionTokens: number): Message['usage'] {
  return {
    input_tokens: promptTokens,
    output_tokens: completionTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
  }
}

function toBlock(part: GeneratedSequence['parts'][number]): Block {
  switch (part.type) {
    case 'text':
      return { type: 'text', text: part.text }
    case 'reasoning':
      return { type: 'thinking', thinking: part.text, signature: SIGNATURE }
    case 'tool-call':
      return {
        type: 'tool_use',
        id: part.call.id,
        name: part.call.name,
        input: parseInput(part.call.arguments),
      }
  }
}

/** A call that was cut off by `max_tokens` has no input that could be read. */
function parseInput(json: string): Readonly<Record<string, unknown>> {
  try {
    const input: unknown = JSON.parse(json)
    return isObject(input) ? input : {}
  } catch {
    return {}
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

interface Ending {
  readonly promptTokensCorrection?: number
  readonly finishReason: FinishReason
  readonly stopString?: string | null
}

function toStop(
  { finishReason, stopString = null }: Ending,
  hasCalls: boolean,
): Pick<Message, 'stop_reason' | 'stop_sequence'> {
  switch (answerFinishReason(finishReason)) {
    case 'length':
      return { stop_reason: 'max_tokens', stop_sequence: null }
    case 'content_filter':
      return { stop_reason: 'refusal', stop_sequence: null }
    case 'stop':
      if (stopString !== null) return { stop_reason: 'stop_sequence', stop_sequence: stopString }
      return { stop_reason: hasCalls ? 'tool_use' : 'end_turn', stop_sequence: null }
  }
}

/** Frames of a stream with one answer. */
export class MessageFrames implements FrameFormat {
  readonly ping = toFrame({ type: 'ping' })
  readonly #modelId: string
  readonly #options: MessageOptions
  /** The kind of the block that is open. */
  #open: Block['type'] | null = null
  /** Of the open block, or of the next one. */
  #index = 0
  readonly #calls = new CallsInTurn()
  #hasCalls = false
  #promptTokens = 0
  #completionTokens = 0

  constructor({ modelId }: Head, options: MessageOptions) {
    this.#modelId = modelId
    this.#options = options
  }

  start({ promptTokens }: SequenceStartEvent): string {
    this.#promptTokens = promptTokens
    return toFrame({ type: 'message_start', message: openMessage(this.#modelId, promptTokens) })
  }

  delta(event: DeltaEvent): string {
    switch (event.type) {
      case 'text-delta':
        this.#completionTokens += event.tokenIds.length
        return event.text === '' ? '' : this.#continue(EMPTY_TEXT) + this.#textFrame(event.text)
      case 'reasoning-delta':
        return event.text === '' ? '' : this.#thinkingFrames(event.text)
      case 'tool-call-start':
      case 'tool-call-delta':
        this.#hasCalls = true
        return this.#callFrames(this.#calls.add(event))
    }
  }

  end(event: Ending): string {
    this.#promptTokens += event.promptTokensCorrection ?? 0
    const delta = toStop(event, this.#hasCalls)
    const usage = toUsage(this.#promptTokens, this.#completionTokens)
    return this.#close() + toFrame({ type: 'message_delta', delta, usage })
  }

  finish(): string {
    return toFrame({ type: 'message_stop' })
  }

  fail(error: ServiceError): string {
    return failMessage(error, this.#options)
  }

  /** Thinking that is not shown still ends the block before it, as it does in an answer in one piece. */
  #thinkingFrames(thinking: string): string {
    if (!this.#options.showsThinking) return this.#close()
    return this.#continue(EMPTY_THINKING) + this.#deltaFrame({ type: 'thinking_delta', thinking })
  }

  #callFrames(events: readonly CallEvent[]): string {
    return events.map((event) => this.#callFrame(event)).join('')
  }

  #callFrame(event: CallEvent): string {
    if (event.type === 'tool-call-delta')
      return this.#deltaFrame({ type: 'input_json_delta', partial_json: event.arguments })
    const { id, name } = event
    return this.#closeBlock() + this.#begin({ type: 'tool_use', id, name, input: {} })
  }

  /** Goes on with the open block where it is of that kind. */
  #continue(block: Block): string {
    return this.#open === block.type ? '' : this.#close() + this.#begin(block)
  }

  #begin(block: Block): string {
    this.#open = block.type
    return toFrame({ type: 'content_block_start', index: this.#index, content_block: block })
  }

  /** Calls that waited for the open one come before what follows it. */
  #close(): string {
    return this.#callFrames(this.#calls.end()) + this.#closeBlock()
  }

  #closeBlock(): string {
    if (this.#open === null) return ''
    const isThinking = this.#open === 'thinking'
    const signature = isThinking ? this.#deltaFrame({ type: 'signature_delta', signature: SIGNATURE }) : ''
    this.#open = null
    return signature + toFrame({ type: 'content_block_stop', index: this.#index++ })
  }

  #textFrame(text: string): string {
    return `${TEXT_HEAD}${this.#index}${BEFORE_TEXT}${jsonOf(text)}${TEXT_TAIL}`
  }

  #deltaFrame(delta: Extract<StreamEvent, { type: 'content_block_delta' }>['delta']): string {
    return toFrame({ type: 'content_block_delta', index: this.#index, delta })
  }
}

const toFrame: (event: StreamEvent) => string = namedFrame

const EMPTY_TEXT: Block = { type: 'text', text: '' }
const EMPTY_THINKING: Block = { type: 'thinking', thinking: '', signature: '' }

const [TEXT_HEAD, BEFORE_TEXT, TEXT_TAIL] = splitFrame(
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: '' } },
  ['index', 'text'],
  toFrame,
)
