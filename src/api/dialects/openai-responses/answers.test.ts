import fc from 'fast-check'
import { createParser } from 'eventsource-parser'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { VirtualClock } from '../../../core/clock.ts'
import { ServiceError } from '../../../core/errors.ts'
import type { GenerationEvent } from '../../../generation/generation.ts'
import type { DeltaEvent } from '../../../generation/events/sequence-fold.ts'
import type { ChosenLogprob } from '../../../protocol/engine-events.ts'
import { lengthOf } from '../../../../test/support/length-of.ts'
import { type outputItem, response } from './answer-schema.ts'
import { createOutput, createResponseFrames, type ResponseHead, toResponse } from './answers.ts'
import { responseEvent } from './event-schema.ts'
import { createResponsesRequest } from './request.ts'

type Event = z.output<typeof responseEvent>
type Response = z.output<typeof response>
type Item = z.output<typeof outputItem>

const START = { type: 'sequence-start', index: 0, promptTokens: 7, cachedTokens: 3, queueMs: 0 } as const
const end = (finishReason: 'stop' | 'length' | 'content_filter') =>
  ({ type: 'sequence-end', index: 0, finishReason, error: null }) as const
const text = (given: string, logprobs?: readonly ChosenLogprob[]): DeltaEvent => ({
  type: 'text-delta',
  index: 0,
  text: given,
  tokenIds: [1],
  ...(logprobs && { logprobs }),
})
const reasoning = (given: string): DeltaEvent => ({ type: 'reasoning-delta', index: 0, text: given })
const call = (number: number): DeltaEvent => ({
  type: 'tool-call-start',
  index: 0,
  call: number,
  id: `call_${number}`,
  name: 'f',
})
const callArguments = (number: number, given: string): DeltaEvent => ({
  type: 'tool-call-delta',
  index: 0,
  call: number,
  arguments: given,
})

function headOf(body: object = {}): ResponseHead {
  const { echo } = createResponsesRequest(256).parse({ input: 'hi', ...body })
  return { generation: { modelId: 'm', createdUnixSeconds: 5 }, echo, clock: new VirtualClock() }
}

function stream(events: readonly GenerationEvent[], head = headOf()): Event[] {
  const format = createResponseFrames(head)
  let body = ''
  for (const event of events) {
    if (event.type === 'sequence-start') body += format.start(event)
    else if (event.type === 'sequence-end') body += format.end(event) + format.finish()
    else body += format.delta(event)
  }
  return parse(body)
}

function parse(body: string): Event[] {
  const found: Event[] = []
  const parser = createParser({
    onEvent: ({ event, data }) => {
      const parsed = responseEvent.parse(JSON.parse(data))
      expect(parsed).toEqual(JSON.parse(data))
      expect(event).toBe(parsed.type)
      found.push(parsed)
    },
  })
  parser.feed(body)
  expect(found.map((one) => one.sequence_number)).toEqual([...found.keys()])
  return found
}

function plain(events: readonly GenerationEvent[], head = headOf()): Response {
  const output = createOutput(head)
  for (const event of events) output.add(event)
  const answer = toResponse(head, output)
  const parsed = response.parse(answer)
  expect(parsed).toEqual(answer)
  return parsed
}

/** What the stream ends with. */
function lastResponse(events: readonly Event[]): Response | null {
  const last = events.at(-1)
  return last !== undefined && 'response' in last ? last.response : null
}

/** Ids are random, and each answer has its own. */
function withoutIds(given: unknown): unknown {
  return JSON.parse(JSON.stringify(given).replaceAll(/"(resp|msg|rs|fc)_[0-9a-f]{24}"/g, '"$1"'))
}

const names = (events: readonly Event[]) => events.map(({ type }) => type.replace(/^response\./, ''))

describe('a stream', () => {
  it('has every event of an answer that thinks, speaks and calls, in order', () => {
    const events = stream([
      START,
      reasoning('Hm'),
      text('Hi'),
      text(' you'),
      call(0),
      callArguments(0, '{"a":'),
      callArguments(0, '1}'),
      end('stop'),
    ])

    expect(names(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'reasoning_text.delta',
      'reasoning_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
      'completed',
    ])
    expect(lastResponse(events)?.output).toMatchObject([
      { type: 'reasoning', status: 'completed', summary: [], content: [{ text: 'Hm' }] },
      { type: 'message', status: 'completed', content: [{ text: 'Hi you', annotations: [] }] },
      { type: 'function_call', status: 'completed', call_id: 'call_0', name: 'f', arguments: '{"a":1}' },
    ])
  })

  it('shows what was thought as a summary where one was asked for', () => {
    const events = stream(
      [START, reasoning('Hm'), text('Hi'), end('stop')],
      headOf({ reasoning: { summary: 'auto' } }),
    )

    expect(names(events).slice(2, 8)).toEqual([
      'output_item.added',
      'reasoning_summary_part.added',
      'reasoning_summary_text.delta',
      'reasoning_summary_text.done',
      'reasoning_summary_part.done',
      'output_item.done',
    ])
    expect(lastResponse(events)?.output[0]).toEqual({
      id: expect.stringMatching(/^rs_/),
      type: 'reasoning',
      status: 'completed',
      summary: [{ type: 'summary_text', text: 'Hm' }],
      encrypted_content: null,
    })
  })

  it('has one call after the other where an upstream sends their arguments in turns', () => {
    const events = [
      ...[START, call(0), call(1), callArguments(0, '{"a":"}'), callArguments(1, '{"b"')],
      ...[callArguments(0, '"}'), callArguments(1, ':1}'), call(2), text('Hi'), end('stop')],
    ] as const

    const streamed = stream(events)

    const ofCall = (deltas: number) => [
      'output_item.added',
      ...Array<string>(deltas).fill('function_call_arguments.delta'),
      ...['function_call_arguments.done', 'output_item.done'],
    ]
    expect(names(streamed).slice(2, 15)).toEqual([...ofCall(2), ...ofCall(2), ...ofCall(0)])
    const output = [
      { type: 'function_call', call_id: 'call_0', arguments: '{"a":"}"}' },
      { type: 'function_call', call_id: 'call_1', arguments: '{"b":1}' },
      { type: 'function_call', call_id: 'call_2', arguments: '' },
      { type: 'message', content: [{ text: 'Hi' }] },
    ]
    expect(lastResponse(streamed)?.output).toMatchObject(output)
    expect(plain(events).output).toMatchObject(output)
  })

  it('ends as incomplete, with the item that was cut off', () => {
    const events = stream([START, text('Hi'), call(0), callArguments(0, '{"a'), end('length')])

    expect(events.at(-1)).toMatchObject({
      type: 'response.incomplete',
      response: {
        status: 'incomplete',
        completed_at: null,
        incomplete_details: { reason: 'max_output_tokens' },
        output: [{ status: 'completed' }, { status: 'incomplete', arguments: '{"a' }],
      },
    })
  })

  it('tells that a guard ended it', () => {
    expect(plain([START, text('Hi'), end('content_filter')])).toMatchObject({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
    })
  })

  it('has an empty message where nothing came', () => {
    const events = stream([START, end('stop')])

    expect(names(events)).toEqual([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ])
  })

  it('gives the log probabilities of tokens with the text that they belong to', () => {
    const logprob = (bytes: number[]) => ({
      tokenId: 1,
      logprob: -1,
      bytes,
      top: [{ tokenId: 2, logprob: -2, bytes: [98] }],
    })
    const events = stream([START, text('', [logprob([195])]), text('ü', [logprob([188])]), end('stop')])

    const logprobs = events.flatMap((event) =>
      event.type === 'response.output_text.delta' ? event.logprobs : [],
    )
    expect(logprobs).toEqual([
      {
        token: '\uFFFD',
        bytes: [195],
        logprob: -1,
        top_logprobs: [{ token: 'b', bytes: [98], logprob: -2 }],
      },
      {
        token: '\uFFFD',
        bytes: [188],
        logprob: -1,
        top_logprobs: [{ token: 'b', bytes: [98], logprob: -2 }],
      },
    ])
    expect(lastResponse(events)?.output[0]).toMatchObject({ content: [{ logprobs }] })
  })

  it('gives those of tokens that no text came of, as the ends that were ignored, with the last text', () => {
    const logprob = { tokenId: 1, logprob: -1, bytes: [], top: [] }
    const events = stream([START, text('hi', [logprob]), text('', [logprob]), end('length')])

    const given = events.flatMap((event) =>
      event.type === 'response.output_text.delta' ? event.logprobs : [],
    )
    expect(given).toHaveLength(2)
    expect(lastResponse(events)?.output[0]).toMatchObject({ content: [{ text: 'hi', logprobs: given }] })
  })

  it('counts the tokens that were thought', () => {
    const events = [
      START,
      text(''),
      reasoning('a'),
      text(''),
      reasoning('b'),
      text('c'),
      end('stop'),
    ] as const

    expect(plain(events).usage).toEqual({
      input_tokens: 7,
      input_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 },
      output_tokens: 3,
      output_tokens_details: { reasoning_tokens: 2 },
      total_tokens: 10,
    })
  })

  it('ends with error and then failed, also where nothing has begun', () => {
    const error = new ServiceError('engine_failed')

    const events = parse(createResponseFrames(headOf()).fail(error))

    expect(names(events)).toEqual(['created', 'in_progress', 'error', 'failed'])
    expect(events[2]).toMatchObject({
      code: 'engine_failed',
      message: error.message,
      param: null,
      error: { message: error.message, code: 'engine_failed' },
      detail: error.message,
    })
    expect(lastResponse(events)).toMatchObject({
      status: 'failed',
      error: { code: 'server_error', message: error.message },
    })
  })
})

it('a stream that failed leaves nothing in progress', () => {
  const format = createResponseFrames(headOf())
  const begun = format.start(START) + format.delta(text('a')) + format.delta(call(0))
  const failed = lastResponse(parse(begun + format.fail(new ServiceError('engine_failed'))))

  expect(failed?.output.map(({ status }) => status)).toEqual(['completed', 'incomplete'])
})

describe('the plain answer', () => {
  const delta = fc.oneof(
    fc.string().map((given) => text(given)),
    fc.string().map(reasoning),
    fc.constantFrom('call' as const),
    fc.string().map((given) => callArguments(0, given)),
  )

  /** Calls in their order, arguments only within a call. */
  function toEvents(deltas: readonly (DeltaEvent | 'call')[]): DeltaEvent[] {
    let calls = 0
    let isInCall = false
    return deltas.flatMap((one) => {
      if (one === 'call') {
        isInCall = true
        return [call(calls++)]
      }
      if (one.type === 'tool-call-delta') return isInCall ? [{ ...one, call: calls - 1 }] : []
      if (one.type !== 'text-delta' || one.text !== '') isInCall = false
      return [one]
    })
  }

  it('is the fold of the stream, and the response that the stream ends with', () => {
    fc.assert(
      fc.property(
        fc.array(delta, { maxLength: 30 }),
        fc.constantFrom('stop' as const, 'length' as const, 'content_filter' as const),
        fc.constantFrom({}, { reasoning: { summary: 'auto' } }),
        (deltas, finishReason, body) => {
          const events = [START, ...toEvents(deltas), end(finishReason)]

          const streamed = stream(events, headOf(body))

          const whole = plain(events, headOf(body))
          expect(withoutIds(lastResponse(streamed))).toEqual(withoutIds(whole))
          expect(joinDeltas(streamed)).toEqual(whole.output.map(textOf))
        },
      ),
      { numRuns: lengthOf({ test: 100, soak: 5000 }) },
    )
  })
})

/** As a client that reads nothing but deltas. */
function joinDeltas(events: readonly Event[]): readonly string[] {
  const texts: string[] = []
  for (const event of events) {
    if (event.type === 'response.output_item.added') texts.push('')
    if ('delta' in event) texts[event.output_index] += event.delta
  }
  return texts
}

function textOf(item: Item): string | undefined {
  if (item.type === 'function_call') return item.arguments
  return item.type === 'message' ? item.content[0]?.text : (item.content ?? item.summary)[0]?.text
}
