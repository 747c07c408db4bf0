/** Messages in one piece and as events: the same answer, in Anthropic's order. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/support/length-of.ts'
import { sequenceEnd, sequenceStart, textDelta } from '../../../../test/support/engines/scripted-engine.ts'
import { ServiceError } from '../../../core/errors.ts'
import type { GenerationEvent } from '../../../generation/generation.ts'
import {
  type DeltaEvent,
  type SequenceEvent,
  SequenceFold,
} from '../../../generation/events/sequence-fold.ts'
import { MessageFrames, toMessage } from './answers.ts'
import { anthropicEvent, anthropicMessage } from './schema.ts'

/** No sequence fails here, so those of an engine are those of a generation. */
type Event = SequenceEvent | GenerationEvent

const HEAD = { modelId: 'm' }

const reasoning = (text: string): DeltaEvent => ({ type: 'reasoning-delta', index: 0, text })
const call = (number: number, ...pieces: string[]): DeltaEvent[] => [
  { type: 'tool-call-start', index: 0, call: number, id: `call_${number}`, name: 'add' },
  ...pieces.map((piece) => ({ type: 'tool-call-delta' as const, index: 0, call: number, arguments: piece })),
]

function plainOf(events: readonly Event[], showsThinking = true) {
  const fold = new SequenceFold<ServiceError>()
  for (const event of events) fold.add(event as GenerationEvent)
  return toMessage(HEAD, fold.finish(), { showsThinking })
}

function framesOf(events: readonly Event[], showsThinking = true): string {
  const frames = new MessageFrames(HEAD, { requestId: 'r', showsThinking })
  const text = events.map((event) => {
    if (event.type === 'sequence-start') return frames.start(event)
    return event.type === 'sequence-end' ? frames.end(event) : frames.delta(event)
  })
  return text.join('') + frames.finish()
}

/** Data of the events, whose names are their types. */
function parse(frames: string) {
  return frames
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => {
      const [, name, data = ''] = /^event: (\w+)\ndata: (.+)$/s.exec(frame) ?? []
      const event = anthropicEvent.parse(JSON.parse(data))
      expect(name).toBe(event.type)
      return event
    })
}

type Message = ReturnType<typeof toMessage>

/** As a client gathers a stream. */
function gather(events: ReturnType<typeof parse>): Message {
  const blocks: Record<string, unknown>[] = []
  let message: object = {}
  for (const event of events) {
    if (event.type === 'message_start') message = event.message
    if (event.type === 'message_delta') message = { ...message, ...event.delta, usage: event.usage }
    if (event.type === 'content_block_start') {
      expect(event.index).toBe(blocks.length)
      blocks.push({ ...event.content_block, json: '' })
    }
    if (event.type !== 'content_block_delta') continue
    expect(event.index).toBe(blocks.length - 1)
    const block = blocks.at(-1) ?? {}
    const { type: _, ...delta } = event.delta
    for (const [key, value] of Object.entries(delta)) {
      const name = key === 'partial_json' ? 'json' : key
      block[name] = String(block[name]) + value
    }
  }
  const content = blocks.map(({ json, ...block }) =>
    block['type'] === 'tool_use' ? { ...block, input: parseOr(String(json), {}) } : block,
  )
  return anthropicMessage.parse({ ...message, content })
}

function parseOr(json: string, otherwise: object): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return otherwise
  }
}

const typesOf = (events: readonly Event[], showsThinking = true) =>
  parse(framesOf(events, showsThinking)).map((event) =>
    event.type === 'content_block_delta' ? event.delta.type : event.type,
  )

const ANSWER: readonly Event[] = [
  sequenceStart(0, 5),
  textDelta('', [1]),
  reasoning('A '),
  reasoning('sum.'),
  textDelta('I', [2]),
  textDelta(' add.', [3, 4]),
  ...call(0, '{"a"', ':1}'),
  textDelta('', [5]),
  ...call(1),
  sequenceEnd('stop'),
]

describe('a message', () => {
  it('has a block for each part of the answer', () => {
    expect(plainOf(ANSWER)).toEqual({
      id: expect.stringMatching(/^msg_[0-9a-f]{24}$/),
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: [
        { type: 'thinking', thinking: 'A sum.', signature: 'unsigned' },
        { type: 'text', text: 'I add.' },
        { type: 'tool_use', id: 'call_0', name: 'add', input: { a: 1 } },
        { type: 'tool_use', id: 'call_1', name: 'add', input: {} },
      ],
      stop_reason: 'tool_use',
      stop_sequence: null,
      usage: {
        input_tokens: 5,
        output_tokens: 5,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
      },
    })
  })

  it.each([
    [sequenceEnd('stop'), { stop_reason: 'end_turn', stop_sequence: null }],
    [sequenceEnd('length'), { stop_reason: 'max_tokens', stop_sequence: null }],
    [
      { ...sequenceEnd(), stopString: 'END' },
      { stop_reason: 'stop_sequence', stop_sequence: 'END' },
    ],
    [
      { ...sequenceEnd(), finishReason: 'content_filter' },
      { stop_reason: 'refusal', stop_sequence: null },
    ],
  ] as const)('says why it ended: %j', (end, stop) => {
    const events = [sequenceStart(), textDelta('a', [1]), end as GenerationEvent]

    expect(plainOf(events)).toMatchObject(stop)
    expect(gather(parse(framesOf(events)))).toMatchObject(stop)
  })

  it('leaves a call that was cut off without input', () => {
    const events = [sequenceStart(), ...call(0, '{"a":'), sequenceEnd('length')]

    expect(plainOf(events)).toMatchObject({
      content: [{ type: 'tool_use', input: {} }],
      stop_reason: 'max_tokens',
    })
  })

  it('has no block for nothing, and none for thoughts that are not shown', () => {
    expect(plainOf([sequenceStart(), textDelta('', [1]), sequenceEnd()]).content).toEqual([])
    expect(plainOf(ANSWER, false).content.map(({ type }) => type)).toEqual(['text', 'tool_use', 'tool_use'])
  })
})

describe('a stream', () => {
  it('opens and closes each block before the next', () => {
    expect(typesOf(ANSWER)).toEqual([
      'message_start',
      ...['content_block_start', 'thinking_delta', 'thinking_delta', 'signature_delta', 'content_block_stop'],
      ...['content_block_start', 'text_delta', 'text_delta', 'content_block_stop'],
      ...['content_block_start', 'input_json_delta', 'input_json_delta', 'content_block_stop'],
      ...['content_block_start', 'content_block_stop'],
      ...['message_delta', 'message_stop'],
    ])
  })

  it('has one call after the other where an upstream sends their arguments in turns', () => {
    const inputs = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })
    const whole = inputs.map((input) => JSON.stringify(input))
    const json = fc.tuple(whole, fc.nat(2)).map(([text, missing]) => text.slice(0, text.length - missing))
    const turns = fc.array(fc.nat(3), { maxLength: 50 })
    fc.assert(
      fc.property(fc.array(json, { maxLength: 4 }), turns, fc.boolean(), (texts, order, hasText) => {
        const calls = texts.map((text, number) => call(number, ...text.split('')))
        const starts = calls.flatMap((events) => events.splice(0, 1))
        const inTurns = order.flatMap((number) => calls[number]?.splice(0, 1) ?? [])
        const said = hasText ? [textDelta('a', [1])] : []
        const events = [sequenceStart(), ...starts, ...inTurns, ...calls.flat(), ...said, sequenceEnd()]
        const { id: _, ...plain } = plainOf(events)
        const { id: __, ...streamed } = gather(parse(framesOf(events)))
        expect(streamed).toEqual(plain)
      }),
      { numRuns: lengthOf({ test: 100, soak: 10_000 }) },
    )
  })

  it('begins with the length of the prompt', () => {
    expect(parse(framesOf(ANSWER))[0]).toMatchObject({
      message: { content: [], stop_reason: null, usage: { input_tokens: 5, output_tokens: 0 } },
    })
  })

  it('ends with an error where one comes', () => {
    const frames = new MessageFrames(HEAD, { requestId: 'r-1', showsThinking: true })

    const message = 'The engine stopped while it worked on this request. Try again.'
    const data = { type: 'error', error: { type: 'api_error', message }, request_id: 'r-1', detail: message }
    expect(frames.fail(new ServiceError('engine_failed'))).toBe(
      `event: error\ndata: ${JSON.stringify(data)}\n\n`,
    )
  })

  it('says what the message in one piece says, whatever the answer is', () => {
    const words = fc.string({ unit: 'binary', maxLength: 5 })
    const tokens = fc.array(fc.nat(99), { maxLength: 3 })
    const json = fc.tuple(fc.dictionary(words, fc.jsonValue()), fc.nat(5)).map(([input, missing]) => {
      const text = JSON.stringify(input)
      return text.slice(0, text.length - missing)
    })
    const part = fc.oneof(
      fc.tuple(words, tokens).map(([text, tokenIds]) => ({ kind: 'text' as const, text, tokenIds })),
      words.map((text) => ({ kind: 'reasoning' as const, text })),
      fc.tuple(json, fc.nat(9)).map(([text, cut]) => ({ kind: 'call' as const, text, cut })),
    )
    const end = fc.oneof(
      fc.constantFrom('stop', 'length', 'content_filter').map((finishReason) => ({ finishReason })),
      fc.constant({ finishReason: 'stop', stopString: 'END' }),
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), end, fc.boolean(), (parts, ending, showsThinking) => {
        let calls = 0
        const deltas = parts.flatMap((one): DeltaEvent[] => {
          if (one.kind === 'text') return [{ type: 'text-delta', index: 0, ...one }]
          if (one.kind === 'reasoning') return [reasoning(one.text)]
          return call(calls++, one.text.slice(0, one.cut), one.text.slice(one.cut))
        })
        const events = [sequenceStart(0, 3), ...deltas, { ...sequenceEnd(), ...ending } as GenerationEvent]
        const { id, ...plain } = plainOf(events, showsThinking)
        const { id: streamedId, ...streamed } = gather(parse(framesOf(events, showsThinking)))
        expect(streamed).toEqual(plain)
        expect(streamedId.length).toBe(id.length)
        expect(anthropicMessage.parse(plainOf(events, showsThinking)).content).toEqual(plain.content)
      }),
      { numRuns: lengthOf({ test: 100, soak: 10_000 }) },
    )
  })
})
