/**
 * Turns the chunks of one upstream answer into the events of its sequences. Used once, by `remote-engine.ts`.
 *
 * Tokens: an upstream tells their number at the end. Until then each piece counts as one, a piece late, so that what was counted
 * does not exceed what is told; the rest comes before the ends of the sequences, which all wait for the end of the stream.
 */
import { newId } from '../../core/ids.ts'
import type { AnswerEvent, ChosenLogprob, FinishReason } from '../../protocol/engine.ts'
import {
  upstreamChatLogprobs,
  upstreamCompletionLogprobs,
  countOf,
  isObject,
  type Json,
  objects,
  textOf,
} from './answer-chunk.ts'
import { answerLost, sentenceIn } from './upstream-errors.ts'

export interface UpstreamAnswerShape {
  readonly kind: 'chat' | 'completion'
  readonly choices: number
  /** Index of the first of its sequences in the engine's request. */
  readonly firstIndex: number
  /** Of each token, at most so many of the likeliest. */
  readonly topLogprobs: number
  /** Until the upstream tells. */
  readonly estimatedPromptTokens: number
}

interface Choice {
  /** Pieces whose tokens have not been counted yet: 0 or 1. */
  uncounted: number
  finishReason: FinishReason | null
  stopString: string | null
  /** Ours of each call, by the upstream's index. */
  readonly calls: Map<number, number>
}

export class AnswerReader {
  readonly #shape: UpstreamAnswerShape
  readonly #choices: readonly Choice[]
  #counted = 0
  #usage: Json | null = null
  #hasStarted = false

  constructor(shape: UpstreamAnswerShape) {
    this.#shape = shape
    this.#choices = Array.from({ length: shape.choices }, () => ({
      uncounted: 0,
      finishReason: null,
      stopString: null,
      calls: new Map(),
    }))
  }

  /** @param data of one event; the caller leaves out `[DONE]`. @throws ServiceError `engine_failed` */
  read(data: string): readonly AnswerEvent[] {
    const chunk = parse(data)
    if (chunk['error'] !== undefined && chunk['error'] !== null)
      throw answerLost(`ended with an error: ${sentenceIn(chunk['error']) ?? 'unknown'}`)
    if (isObject(chunk['usage'])) this.#usage = chunk['usage']
    return [...this.#start(), ...objects(chunk['choices']).flatMap((choice) => this.#readChoice(choice))]
  }

  /** The stream has ended. @throws ServiceError `engine_failed` where a sequence has not */
  end(): readonly AnswerEvent[] {
    const events: AnswerEvent[] = [...this.#start()]
    const told = countOf(this.#usage?.['completion_tokens'])
    let left = told === null ? this.#choices.length : Math.max(0, told - this.#counted)
    for (const [index, choice] of this.#choices.entries()) {
      const isLast = index === this.#choices.length - 1
      const tokens = told !== null && isLast ? left : Math.min(choice.uncounted, left)
      left -= tokens
      if (tokens > 0) events.push(this.#tokens(index, tokens))
    }
    for (const [index, { finishReason, stopString }] of this.#choices.entries()) {
      if (finishReason === null) throw answerLost('ended before its text did')
      const correction = index === 0 ? this.#promptCorrection() : 0
      events.push({
        ...{ type: 'sequence-end', index: this.#indexOf(index), finishReason, error: null },
        ...(stopString !== null && { stopString }),
        ...(correction !== 0 && { promptTokensCorrection: correction }),
      })
    }
    return events
  }

  /** The stream has broken off: the pieces that were not counted yet. */
  uncounted(): readonly AnswerEvent[] {
    return this.#choices.flatMap((choice, index) => {
      const { uncounted } = choice
      choice.uncounted = 0
      return uncounted === 0 ? [] : [this.#tokens(index, uncounted)]
    })
  }

  #start(): readonly AnswerEvent[] {
    if (this.#hasStarted) return []
    this.#hasStarted = true
    const { estimatedPromptTokens: promptTokens } = this.#shape
    return this.#choices.map((_, index) => ({
      ...{ type: 'sequence-start', index: this.#indexOf(index), promptTokens, cachedTokens: 0, queueMs: 0 },
    }))
  }

  #readChoice(given: Json): readonly AnswerEvent[] {
    const at = countOf(given['index']) ?? 0
    const choice = this.#choices[at]
    if (choice === undefined) throw answerLost(`has a choice ${at} that was not asked for`)
    const events =
      this.#shape.kind === 'chat' ? this.#readDelta(at, choice, given) : this.#readText(at, choice, given)
    const reason = given['finish_reason']
    if (typeof reason === 'string') {
      choice.finishReason = toFinishReason(reason)
      const stop = given['stop_reason']
      if (typeof stop === 'string') choice.stopString = stop
    }
    return events
  }

  #readText(at: number, choice: Choice, given: Json): readonly AnswerEvent[] {
    const text = textOf(given['text'])
    const logprobs = upstreamCompletionLogprobs(given['logprobs'])
    return text === '' && logprobs === undefined ? [] : [this.#text(at, choice, { text, logprobs })]
  }

  #readDelta(at: number, choice: Choice, given: Json): readonly AnswerEvent[] {
    const delta = isObject(given['delta']) ? given['delta'] : {}
    const logprobs = upstreamChatLogprobs(given['logprobs'])
    const index = this.#indexOf(at)
    const events: AnswerEvent[] = []
    const thought = textOf(delta['reasoning_content']) || textOf(delta['reasoning'])
    if (thought !== '') events.push({ type: 'reasoning-delta', index, text: thought })
    const text = textOf(delta['content'])
    const calls = objects(delta['tool_calls']).flatMap((call) => this.#readCall(index, choice, call))
    if (text !== '' || (logprobs?.length ?? 0) > 0 || thought !== '' || calls.length > 0)
      events.push(this.#text(at, choice, { text, logprobs }))
    return [...events, ...calls]
  }

  #readCall(index: number, choice: Choice, given: Json): readonly AnswerEvent[] {
    const at = countOf(given['index']) ?? 0
    const called = isObject(given['function']) ? given['function'] : {}
    const events: AnswerEvent[] = []
    let call = choice.calls.get(at)
    if (call === undefined) {
      call = choice.calls.size
      choice.calls.set(at, call)
      const id = textOf(given['id']) || `call_${newId()}`
      events.push({ type: 'tool-call-start', index, call, id, name: textOf(called['name']) })
    }
    const more = textOf(called['arguments'])
    if (more !== '') events.push({ type: 'tool-call-delta', index, call, arguments: more })
    return events
  }

  /** With the tokens of the piece before it, or its own where their log probabilities count them. */
  #text(
    at: number,
    choice: Choice,
    { text, logprobs }: { readonly text: string; readonly logprobs: readonly ChosenLogprob[] | undefined },
  ): AnswerEvent {
    const { topLogprobs } = this.#shape
    const given = logprobs?.map((token) => ({ ...token, top: token.top.slice(0, topLogprobs) }))
    const tokens = logprobs?.length ?? choice.uncounted
    if (logprobs === undefined) choice.uncounted = 1
    this.#counted += tokens
    const tokenIds = unknownTokens(tokens)
    return { type: 'text-delta', index: this.#indexOf(at), text, tokenIds, ...(given && { logprobs: given }) }
  }

  #tokens(at: number, tokens: number): AnswerEvent {
    return { type: 'text-delta', index: this.#indexOf(at), text: '', tokenIds: unknownTokens(tokens) }
  }

  #promptCorrection(): number {
    const told = countOf(this.#usage?.['prompt_tokens'])
    return told === null ? 0 : told - this.#shape.estimatedPromptTokens
  }

  #indexOf(at: number): number {
    return this.#shape.firstIndex + at
  }
}

const ONE_UNKNOWN: readonly number[] = [-1]

/** Nearly every chunk has one, and each stream many chunks. */
function unknownTokens(count: number): readonly number[] {
  return count === 1 ? ONE_UNKNOWN : Array<number>(count).fill(-1)
}

function parse(data: string): Json {
  try {
    const chunk: unknown = JSON.parse(data)
    if (isObject(chunk)) return chunk
  } catch (error) {
    throw answerLost('has an event that is no JSON', error)
  }
  throw answerLost('has an event that is no object')
}

function toFinishReason(reason: string): FinishReason {
  if (reason === 'length' || reason === 'content_filter') return reason
  if (reason === 'error' || reason === 'abort') throw answerLost(`ended with '${reason}'`)
  return 'stop'
}
