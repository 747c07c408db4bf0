/**
 * Counts the events of a generation for its bill: the choices of a prompt count it once. Reports where the context leaves fewer
 * tokens than were asked for, as soon as the length of a prompt is known. Owned by `generation.ts`.
 */
import type { AnswerEvent } from '../../protocol/engine-events.ts'
import type { BilledContext } from '../billing.ts'
import { choicesOf, type GenerationRequest } from '../generation-request.ts'

export interface CapContext {
  /** Called, before the first event leaves, where the tier or a chat's context allows fewer tokens than were asked for. */
  readonly onTokensCapped: (maxNewTokens: number) => void
}

export interface EventCounterOptions {
  readonly input: GenerationRequest['input']
  /** Before the caller's tier lowered it. */
  readonly askedTokens: number
  /** After that. */
  readonly maxNewTokens: number
  /** Of the model's context; null where it has no limit. */
  readonly maxSeqLen: number | null
  readonly context: CapContext & Pick<BilledContext, 'timeline'>
}

export class EventCounter {
  readonly #options: EventCounterOptions
  /** Those of several choices, by their place in the input. */
  readonly #countedPrompts = new Set<number>()
  /** Tokens that the context leaves to the longest of the prompts so far. */
  #leastRoom = Number.POSITIVE_INFINITY

  constructor(options: EventCounterOptions) {
    this.#options = options
  }

  record(event: AnswerEvent): void {
    const { timeline } = this.#options.context
    if (event.type !== 'sequence-start') return timeline.record(event)
    const isCounted = this.#countsPrompt(event.index)
    timeline.record(isCounted ? event : { ...event, promptTokens: 0 })
    if (isCounted) this.#capByContext(event.promptTokens)
  }

  /** Whether it is the first of its prompt's sequences to start. */
  #countsPrompt(index: number): boolean {
    const choices = choicesOf(this.#options.input)
    if (choices === 1) return true
    const prompt = Math.floor(index / choices)
    const isNew = !this.#countedPrompts.has(prompt)
    this.#countedPrompts.add(prompt)
    return isNew
  }

  /** The engine ends a sequence where the context does; some callers learn it beforehand. */
  #capByContext(promptTokens: number): void {
    const { input, askedTokens, maxNewTokens, maxSeqLen, context } = this.#options
    const isReported = input.kind === 'chat' || input.reportsContextCap === true
    if (!isReported || maxSeqLen === null) return
    const room = Math.max(1, maxSeqLen - promptTokens)
    if (room >= Math.min(this.#leastRoom, maxNewTokens)) return
    this.#leastRoom = room
    reportCap(askedTokens, room, context)
  }
}

/** Not where as many as possible were asked for: then nothing is lowered. */
export function reportCap(asked: number, allowed: number, context: CapContext): void {
  if (allowed < asked && Number.isFinite(asked)) context.onTokensCapped(allowed)
}
