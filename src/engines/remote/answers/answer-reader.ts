/**
 * Turns the chunks of one upstream answer into the events of its sequences. Used once, by `remote-engine.ts`.
 *
 * Tokens: an upstream tells their number at the end. Until then each piece counts as one, a piece late, so that what was counted
 * does not exceed what is told; the rest comes before the ends of the sequences, which all wait for the end of the stream.
 */
import { newId } from '../../../core/ids.ts'
import type { AnswerEvent, ChosenLogprob, FinishReason } from '../../../protocol/engine-events.ts'
import {
  upstreamChatLogprobs,
  upstreamCompletionLogprobs,
  countOf,
  isObject,
  type Json,
  objects,
  textOf,
} from './answer-chunk.ts'
import { ChunkPattern } from './chunk-pattern.ts'
import { answerLost, sentenceIn } from '../upstream-errors.ts'

export interface UpstreamAnswerShape {
  readonly kind: 'chat' | 'completion'
  readonly choices: number
  /** Index of the first of its sequences in the engine's request. */
  readonly firstIndex: number
  /** Of the request. */
  readonly stopStrings: readonly string[]
  /** Of each token, at most so many of the likeliest. */
  readonly topLogprobs: number
  /** Until the upstream tells. */
  readonly estimatedPromptTokens: number
  /** Where a sequence ends here, as its upstream was not told; Infinity where it was. */
  readonly maxTokens: number
}

interface Choice {
  /** Pieces, or tokens where log probabilities count them, that it may still have; text behind the last is left out. */
  left: number
  /** Pieces whose tokens have not been counted yet: 0 or 1. */
  uncounted: number
  /** Tokens of thoughts that were shown, a piece as one where nothing counts them. */
  thought: number
  finishReason: FinishReason | null
  stopString: string | null
  /** In our order: a call's index at the upstream, which calls may share, and its id there. */
  readonly calls: { readonly at: number; readonly id: string }[]
}

/** The starts of an answer's sequences: they bill the prompt, also of who leaves before anything has come. */
export function startsOf(
  shape: Pick<UpstreamAnswerShape, 'choices' | 'firstIndex' | 'estimatedPromptTokens'>,
): readonly AnswerEvent[] {
  const { choices, firstIndex, estimatedPromptTokens: promptTokens } = shape
  return Array.from({ length: choices }, (_, at) => ({
    ...{ type: 'sequence-start', index: firstIndex + at, promptTokens, cachedTokens: 0, queueMs: 0 },
    isEstimate: true,
  }))
}

export class AnswerReader {
  readonly #shape: UpstreamAnswerShape
  readonly #choices: readonly Choice[]
  #counted = 0
  #usage: Json | null = null
  #hasStarted = false
  /** Of the last chunk that had nothing but text; null where there was none. */
  #pattern: ChunkPattern | null = null
  #patternChoice = 0

  constructor(shape: UpstreamAnswerShape) {
    this.#shape = shape
    this.#choices = Array.from({ length: shape.choices }, () => ({
      left: shape.maxTokens,
      uncounted: 0,
      thought: 0,
      finishReason: null,
      stopString: null,
      calls: [],
    }))
  }

  /** Whether nothing more is wanted, though the upstream goes on: all have ended, one or more at the limit here. */
  get isCut(): boolean {
    return this.#hasCut && this.#choices.every(({ finishReason }) => finishReason !== null)
  }

  get #hasCut(): boolean {
    return this.#choices.some(({ left }) => left <= 0)
  }

  /** @param data of one event; the caller leaves out `[DONE]` @param events get what it holds @throws ServiceError `engine_failed` */
  read(data: string, events: AnswerEvent[]): void {
    const known = this.#pattern?.textOf(data) ?? null
    if (known !== null) {
      const isCut = (this.#choices[this.#patternChoice]?.left ?? 0) <= 0
      if (known !== '' && !isCut) events.push(this.#text(this.#patternChoice, known, undefined))
      return
    }
    const chunk = parse(data)
    const { error, usage, choices } = chunk
    if (error !== undefined && error !== null)
      throw answerLost(`ended with an error: ${sentenceIn(error) ?? 'unknown'}`)
    if (isObject(usage)) this.#usage = usage
    this.begin(events)
    if (!Array.isArray(choices)) return
    for (const choice of choices as readonly unknown[]) if (isObject(choice)) this.#readChoice(choice, events)
    const [choice] = choices as readonly unknown[]
    if (choices.length === 1 && isObject(choice) && !isObject(usage)) this.#learn(data, choice)
  }

  /** Chunks that say the same of the same choice, with other text, need not be parsed. */
  #learn(data: string, { index, delta, logprobs, finish_reason: reason }: Json): void {
    if (this.#shape.kind !== 'chat' || !isObject(delta) || isObject(logprobs) || typeof reason === 'string')
      return
    const { content, reasoning_content: thought, reasoning, tool_calls: calls } = delta
    const isTextAlone = (textOf(thought) || textOf(reasoning)) === '' && objects(calls).length === 0
    if (!isTextAlone || typeof content !== 'string') return
    this.#pattern = ChunkPattern.of(data, content)
    this.#patternChoice = countOf(index) ?? 0
  }

  /** The stream has ended. @throws ServiceError `engine_failed` where a sequence has not */
  end(events: AnswerEvent[]): void {
    this.begin(events)
    if (this.#choices.some(({ finishReason }) => finishReason === null))
      throw answerLost('ended before its text did')
    // What was cut is among those that the upstream tells.
    const told = this.#hasCut ? null : this.#toldTokens()
    let left = told === null ? this.#choices.length : Math.max(0, told - this.#counted)
    for (const [index, choice] of this.#choices.entries()) {
      const isLast = index === this.#choices.length - 1
      const tokens = told !== null && isLast ? left : Math.min(choice.uncounted, left)
      left -= tokens
      choice.uncounted = 0
      if (tokens > 0) events.push(this.#tokens(index, tokens))
    }
    for (const [index, choice] of this.#choices.entries()) {
      const { finishReason, stopString } = choice
      if (finishReason === null) continue
      events.push({
        ...{ type: 'sequence-end', index: this.#indexOf(index), finishReason, error: null },
        ...(stopString !== null && { stopString }),
        ...(index === 0 && this.#corrections()),
        ...this.#thought(choice),
      })
    }
  }

  /** The stream has broken off: the pieces that were not counted yet. */
  uncounted(events: AnswerEvent[]): void {
    for (const [index, choice] of this.#choices.entries()) {
      if (choice.uncounted > 0) events.push(this.#tokens(index, choice.uncounted))
      choice.uncounted = 0
    }
  }

  /** The starts, where nothing has come yet. */
  begin(events: AnswerEvent[]): void {
    if (!this.#hasStarted) this.#start(events)
  }

  #start(events: AnswerEvent[]): void {
    this.#hasStarted = true
    events.push(...startsOf(this.#shape))
  }

  #readChoice(given: Json, events: AnswerEvent[]): void {
    const at = countOf(given['index']) ?? 0
    const choice = this.#choices[at]
    if (choice === undefined) throw answerLost(`has a choice ${at} that was not asked for`)
    if (choice.left <= 0) return
    if (this.#shape.kind === 'chat') this.#readDelta(at, given, events)
    else this.#readText(at, given, events)
    const reason = given['finish_reason']
    if (typeof reason === 'string') {
      choice.finishReason = toFinishReason(reason)
      choice.stopString = this.#stopStringIn(given)
    }
  }

  /** By vLLM's name or SGLang's; another text than the request's ends every turn of a template, and a number is a token. */
  #stopStringIn({ stop_reason: ofVllm, matched_stop: ofSglang }: Json): string | null {
    return this.#shape.stopStrings.find((stop) => stop === ofVllm || stop === ofSglang) ?? null
  }

  #readText(at: number, given: Json, events: AnswerEvent[]): void {
    const text = textOf(given['text'])
    const logprobs = upstreamCompletionLogprobs(given['logprobs'])
    if (text !== '' || logprobs !== undefined) events.push(this.#text(at, text, logprobs))
  }

  #readDelta(at: number, given: Json, events: AnswerEvent[]): void {
    const delta = isObject(given['delta']) ? given['delta'] : NO_DELTA
    const logprobs = upstreamChatLogprobs(given['logprobs'])
    const thought = textOf(delta['reasoning_content']) || textOf(delta['reasoning'])
    if (thought !== '') events.push({ type: 'reasoning-delta', index: this.#indexOf(at), text: thought })
    const text = textOf(delta['content'])
    const choice = this.#choices[at]
    if (thought !== '' && text === '' && choice !== undefined) choice.thought += logprobs?.length ?? 1
    const calls = objects(delta['tool_calls'])
    const callEvents = calls.length === 0 ? [] : calls.flatMap((call) => this.#readCall(at, call))
    if (text !== '' || (logprobs?.length ?? 0) > 0 || thought !== '' || callEvents.length > 0)
      events.push(this.#text(at, text, logprobs))
    if (callEvents.length > 0) events.push(...callEvents)
  }

  #readCall(choiceAt: number, given: Json): readonly AnswerEvent[] {
    const calls = this.#choices[choiceAt]?.calls ?? []
    const index = this.#indexOf(choiceAt)
    const at = countOf(given['index']) ?? 0
    const id = textOf(given['id'])
    const called = isObject(given['function']) ? given['function'] : {}
    const events: AnswerEvent[] = []
    // Ollama gives every call the index 0, whole and with an id of its own.
    let call = calls.findLastIndex((one) => one.at === at && (id === '' || one.id === id))
    if (call === -1) {
      call = calls.push({ at, id }) - 1
      const name = textOf(called['name']).slice(0, MAX_NAME_LENGTH).replace(NOT_IN_NAMES, '_')
      const shownId = CALL_ID.test(id) ? id : `call_${newId()}`
      events.push({ type: 'tool-call-start', index, call, id: shownId, name })
    }
    const more = textOf(called['arguments'])
    if (more !== '') events.push({ type: 'tool-call-delta', index, call, arguments: more })
    return events
  }

  /** With the tokens of the piece before it, or its own where their log probabilities count them. */
  #text(at: number, text: string, logprobs: readonly ChosenLogprob[] | undefined): AnswerEvent {
    const index = this.#indexOf(at)
    const choice = this.#choices[at]
    if (choice !== undefined) {
      choice.left -= logprobs?.length ?? 1
      if (choice.left <= 0) choice.finishReason = 'length'
    }
    if (logprobs === undefined) {
      const tokens = this.#takeUncounted(at)
      this.#counted += tokens
      return { type: 'text-delta', index, text, tokenIds: unknownTokens(tokens) }
    }
    const { topLogprobs } = this.#shape
    const given = logprobs.map((token) => ({ ...token, top: token.top.slice(0, topLogprobs) }))
    this.#counted += logprobs.length
    return { type: 'text-delta', index, text, tokenIds: unknownTokens(logprobs.length), logprobs: given }
  }

  /** This piece is counted with the next one. */
  #takeUncounted(at: number): number {
    const choice = this.#choices[at]
    if (choice === undefined) return 0
    const { uncounted } = choice
    choice.uncounted = 1
    return uncounted
  }

  #tokens(at: number, tokens: number): AnswerEvent {
    return { type: 'text-delta', index: this.#indexOf(at), text: '', tokenIds: unknownTokens(tokens) }
  }

  /** Of all choices; null where the upstream tells none, or more than any model makes. */
  #toldTokens(): number | null {
    const told = countOf(this.#usage?.['completion_tokens'])
    return told !== null && told <= MAX_ANSWER_TOKENS ? told : null
  }

  /** As the upstream tells it of one choice: of several it tells the sum alone. Else what was shown. */
  #thought({ thought }: Choice): { readonly reasoningTokens?: number } {
    const tokens = this.#hasCut || this.#choices.length > 1 ? null : this.#toldTokens()
    const details = this.#usage?.['completion_tokens_details']
    const told = tokens !== null && isObject(details) ? countOf(details['reasoning_tokens']) : null
    if (told === null && thought === 0) return {}
    return { reasoningTokens: Math.min(told ?? thought, tokens ?? Infinity) }
  }

  /** Of what the start said of the prompt, which is told once for all choices. */
  #corrections() {
    const { prompt_tokens: prompt, prompt_tokens_details: details } = this.#usage ?? NO_USAGE
    const told = promptCountOf(prompt)
    const promptTokensCorrection = told === null ? 0 : told - this.#shape.estimatedPromptTokens
    const cachedTokensCorrection = (isObject(details) ? promptCountOf(details['cached_tokens']) : null) ?? 0
    return {
      ...(promptTokensCorrection !== 0 && { promptTokensCorrection }),
      ...(cachedTokensCorrection !== 0 && { cachedTokensCorrection }),
    }
  }

  #indexOf(at: number): number {
    return this.#shape.firstIndex + at
  }
}

/** A model may call what nobody has defined, by any name: a client refuses that call, and the next request with it goes through. */
const NOT_IN_NAMES = /[^\w.:/-]/g
/** Of the names that a request may define. */
const MAX_NAME_LENGTH = 128
/** Another is not shown: clients send it back, and logs and terminals show it. */
const CALL_ID = /^\P{Cc}{1,256}$/u

/** Several times what any model makes in all choices. An id stands for each token, also for those that an upstream only tells. */
const MAX_ANSWER_TOKENS = 2 ** 20
/** The same of what it reads. */
const MAX_PROMPT_TOKENS = 2 ** 24

const NO_DELTA: Json = {}
const NO_USAGE: Json = {}
const NO_TOKENS: readonly number[] = []
const ONE_UNKNOWN: readonly number[] = [-1]

/** Nearly every chunk has one, and each stream many chunks. */
function unknownTokens(count: number): readonly number[] {
  if (count === 0) return NO_TOKENS
  return count === 1 ? ONE_UNKNOWN : Array<number>(count).fill(-1)
}

function promptCountOf(value: unknown): number | null {
  const told = countOf(value)
  return told !== null && told <= MAX_PROMPT_TOKENS ? told : null
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
