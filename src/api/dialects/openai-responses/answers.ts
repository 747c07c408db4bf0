/** A generation as `/v1/responses` answers it: a response object, or the events of a stream, which ends with that object. */
import type { Clock } from '../../../core/clock.ts'
import { InvariantError, type ServiceError } from '../../../core/errors.ts'
import { newId } from '../../../core/ids.ts'
import type { Generation } from '../../../generation/generation.ts'
import { toOpenAiError } from '../../../net/render-error.ts'
import { type AnswerOf, answerFinishReason, frame, type FrameFormat, splitFrame } from '../frames.ts'
import type { response } from './answer-schema.ts'
import { closingEvents, deltaEvent, type NewEvent, openingEvents, toOutputItem } from './items.ts'
import { type ItemChange, Output } from './output.ts'
import type { RequestEcho } from './request.ts'

type Response = AnswerOf<typeof response>
type Outcome = Pick<Response, 'status' | 'completed_at' | 'error' | 'incomplete_details' | 'usage'>

/** What an answer says of its generation and its request. */
export interface ResponseHead {
  readonly generation: Pick<Generation, 'modelId' | 'createdUnixSeconds'>
  readonly echo: RequestEcho
  readonly clock: Clock
}

/** The id is the same in all events of a stream. */
type IdentifiedHead = ResponseHead & { readonly id: string }

export function createOutput({ echo }: ResponseHead): Output {
  return new Output(echo.reasoning.summary === null ? 'reasoning' : 'summary')
}

/** The whole answer. @param output that has ended */
export function toResponse(head: ResponseHead, output: Output): Response {
  return createResponse({ ...head, id: newResponseId() }, output, endOf(output, head.clock))
}

/** The stream's events, each an event of its own name. OpenAI ends the stream without `[DONE]`. */
export function createResponseFrames(head: ResponseHead): FrameFormat {
  return new ResponseFrames(head)
}

class ResponseFrames implements FrameFormat {
  readonly #head: IdentifiedHead
  readonly #output: Output
  #nextNumber = 0
  /** Of the item that is open: what its deltas have in common. */
  #deltaFrame: readonly [string, string, string] | null = null

  constructor(head: ResponseHead) {
    this.#head = { ...head, id: newResponseId() }
    this.#output = createOutput(head)
  }

  start(event: Parameters<FrameFormat['start']>[0]): string {
    this.#output.add(event)
    return this.#begin()
  }

  delta(event: Parameters<FrameFormat['delta']>[0]): string {
    return this.#write(this.#output.add(event))
  }

  end(event: Parameters<FrameFormat['end']>[0]): string {
    return this.#write(this.#output.add(event))
  }

  finish(): string {
    const whole = createResponse(this.#head, this.#output, endOf(this.#output, this.#head.clock))
    const type = whole.status === 'completed' ? 'response.completed' : 'response.incomplete'
    return this.#frame({ type, response: whole })
  }

  /** `error` first: OpenAI's clients throw at it, and read no further. */
  fail(error: ServiceError): string {
    const begun = this.#nextNumber === 0 ? this.#begin() : ''
    const shown = toOpenAiError(error)
    const { code, message, param } = shown
    const failure = { type: 'error', code, message, param, error: shown, detail: message } as const
    this.#output.breakOff()
    const failed = createResponse(this.#head, this.#output, failureOf(error))
    return begun + this.#frame(failure) + this.#frame({ type: 'response.failed', response: failed })
  }

  #begin(): string {
    const begun = createResponse(this.#head, this.#output, IN_PROGRESS)
    return (
      this.#frame({ type: 'response.created', response: begun }) +
      this.#frame({ type: 'response.in_progress', response: begun })
    )
  }

  #write(changes: readonly ItemChange[]): string {
    let frames = ''
    for (const change of changes) frames += this.#writeChange(change)
    return frames
  }

  #writeChange(change: ItemChange): string {
    switch (change.type) {
      case 'opened':
        this.#deltaFrame = null
        return openingEvents(change)
          .map((event) => this.#frame(event))
          .join('')
      case 'closed':
        return closingEvents(change)
          .map((event) => this.#frame(event))
          .join('')
      case 'grown': {
        if (change.logprobs.length > 0) return this.#frame(deltaEvent(change))
        this.#deltaFrame ??= splitEvent(deltaEvent({ ...change, delta: '' }))
        const [head, beforeDelta, tail] = this.#deltaFrame
        return `${head}${this.#nextNumber++}${beforeDelta}${JSON.stringify(change.delta)}${tail}`
      }
    }
  }

  #frame(event: NewEvent): string {
    return `event: ${event.type}\n${frame(numbered(event, this.#nextNumber++))}`
  }
}

function numbered({ type, ...fields }: NewEvent, sequenceNumber: number) {
  return { type, sequence_number: sequenceNumber, ...fields }
}

function splitEvent(event: NewEvent): readonly [string, string, string] {
  const [head, beforeDelta, tail] = splitFrame(numbered(event, 0), ['sequence_number', 'delta'])
  return [`event: ${event.type}\n${head}`, beforeDelta, tail]
}

function newResponseId(): string {
  return `resp_${newId()}`
}

function createResponse(
  { generation, echo, id }: IdentifiedHead,
  output: Output,
  outcome: Outcome,
): Response {
  return {
    id,
    object: 'response',
    created_at: generation.createdUnixSeconds,
    ...outcome,
    model: generation.modelId,
    output: output.items.map(toOutputItem),
    ...echo,
    background: false,
    max_tool_calls: null,
    previous_response_id: null,
    service_tier: 'default',
    store: false,
    truncation: 'disabled',
  }
}

const IN_PROGRESS: Outcome = {
  status: 'in_progress',
  completed_at: null,
  error: null,
  incomplete_details: null,
  usage: null,
}

function endOf(output: Output, clock: Clock): Outcome {
  if (output.finishReason === null) throw new InvariantError('The output never ended.')
  const reason = answerFinishReason(output.finishReason)
  const { promptTokens, cachedTokens, completionTokens, reasoningTokens } = output.usage
  return {
    status: reason === 'stop' ? 'completed' : 'incomplete',
    completed_at: reason === 'stop' ? Math.floor(clock.unixSeconds()) : null,
    error: null,
    incomplete_details:
      reason === 'stop' ? null : { reason: reason === 'length' ? 'max_output_tokens' : reason },
    usage: {
      input_tokens: promptTokens,
      input_tokens_details: { cached_tokens: cachedTokens, cache_write_tokens: 0 },
      output_tokens: completionTokens,
      output_tokens_details: { reasoning_tokens: reasoningTokens },
      total_tokens: promptTokens + completionTokens,
    },
  }
}

/** OpenAI's clients know a few codes, and one for all that is not the caller's fault. */
function failureOf({ status, code, message }: ServiceError): Outcome {
  const error = { code: status >= 500 ? 'server_error' : code, message }
  return { ...IN_PROGRESS, status: 'failed', error }
}
