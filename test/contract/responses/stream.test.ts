/** `/v1/responses` over HTTP: its stream, that the plain answer says the same, and that guards and limits hold as for a chat. */
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { z } from 'zod'
import { response } from '../../../src/api/dialects/openai-responses/answer-schema.ts'
import { responseEvent } from '../../../src/api/dialects/openai-responses/event-schema.ts'
import { lengthOf } from '../../support/length-of.ts'
import { failInTheMiddle, ScriptedEngine } from '../../support/engines/scripted-engine.ts'
import { createTestApp, type TestApp } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const URL = '/v1/responses'
const testApp = shared(() => createTestApp())

type Event = z.output<typeof responseEvent>

async function stream(body: object, { post }: TestApp = testApp()) {
  const answer = await post(URL, { input: 'ab', ...body, stream: true })
  const events: Event[] = []
  const parser = createParser({
    onEvent: ({ event, data }) => {
      const parsed = responseEvent.parse(JSON.parse(data))
      expect(event).toBe(parsed.type)
      events.push(parsed)
    },
  })
  parser.feed(answer.body)
  const last = events.at(-1)
  return { answer, events, whole: last !== undefined && 'response' in last ? last.response : null }
}

/** Ids are random, and each answer has its own. */
const withoutIds = (given: unknown): unknown =>
  JSON.parse(JSON.stringify(given).replaceAll(/"(resp|msg)_[0-9a-f]{24}"/g, '"$1"'))

describe('the stream', () => {
  it('is server-sent events with their names and numbers, without [DONE]', async () => {
    const { answer, events } = await stream({})

    expect(answer.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    })
    expect(answer.body).not.toContain('[DONE]')
    expect(events.map(({ type, sequence_number: number }) => [number, type])).toEqual(
      [
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.delta',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.completed',
      ].map((type, number) => [number, type]),
    )
  })

  it('ends with the plain answer, for random requests', async () => {
    const bodies = fc.record(
      {
        input: fc.string({ minLength: 1, unit: 'grapheme' }),
        instructions: fc.option(fc.string()),
        max_output_tokens: fc.integer({ min: 1, max: 20 }),
        temperature: fc.constantFrom(0, 1, 2),
        stop: fc.array(fc.string({ minLength: 1, maxLength: 2 }), { maxLength: 2 }),
        metadata: fc.dictionary(fc.string(), fc.string(), { maxKeys: 2 }),
        user: fc.option(fc.string()),
        reasoning: fc.constantFrom(null, {}, { effort: null, summary: 'auto' }),
      },
      { requiredKeys: ['input'] },
    )
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const plain = await testApp().post(URL, body)
        const { whole } = await stream(body)

        expect([plain.statusCode, plain.body]).toEqual([200, expect.any(String)])
        expect(response.parse(plain.json())).toEqual(plain.json())
        expect(withoutIds(whole)).toEqual(withoutIds(plain.json()))
      }),
      { numRuns: lengthOf({ test: 60, soak: 1000 }) },
    )
  })

  it('tells an error with error and response.failed', async () => {
    const engine = failInTheMiddle()

    const { events } = await stream({}, createTestApp({ engine }))

    expect(events.slice(-2)).toMatchObject([
      { type: 'error', code: 'engine_failed' },
      { type: 'response.failed', response: { status: 'failed', error: { code: 'server_error' } } },
    ])
  })
})

describe('the plain answer', () => {
  it('has every field of the response', async () => {
    const answer = await testApp().post(URL, {
      input: 'ab',
      instructions: 'i',
      metadata: { k: 'v' },
      user: 'u',
    })

    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^resp_\w{24}$/),
      object: 'response',
      created_at: 1_700_000_000,
      completed_at: 1_700_000_000,
      status: 'completed',
      error: null,
      incomplete_details: null,
      model: 'default',
      output: [
        {
          id: expect.stringMatching(/^msg_\w{24}$/),
          type: 'message',
          status: 'completed',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'ab', annotations: [], logprobs: [] }],
        },
      ],
      usage: {
        input_tokens: 2,
        input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
        output_tokens: 2,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 4,
      },
      instructions: 'i',
      max_output_tokens: null,
      metadata: { k: 'v' },
      parallel_tool_calls: true,
      temperature: 1,
      top_p: 1,
      presence_penalty: 0,
      frequency_penalty: 0,
      top_logprobs: 0,
      tool_choice: 'auto',
      tools: [],
      text: { format: { type: 'text' }, verbosity: 'medium' },
      reasoning: { effort: null, summary: null },
      safety_identifier: null,
      prompt_cache_key: null,
      user: 'u',
      background: false,
      max_tool_calls: null,
      previous_response_id: null,
      service_tier: 'default',
      store: false,
      truncation: 'disabled',
    })
  })

  it('says that it is incomplete', async () => {
    const answer = await testApp().post(URL, { input: 'ab', max_output_tokens: 1 })

    expect(answer.json()).toMatchObject({
      status: 'incomplete',
      completed_at: null,
      incomplete_details: { reason: 'max_output_tokens' },
      output: [{ status: 'incomplete', content: [{ text: 'a' }] }],
    })
  })
})

describe('a conversation that is too long', () => {
  it('is refused with both numbers, and the name of the input', async () => {
    const engine = new ScriptedEngine(async function* () {
      const error = { code: 'context_length_exceeded', params: { given: 5000, max: 4096 } } as const
      yield { type: 'sequence-end', index: 0, finishReason: 'error', error }
    })

    const answer = await createTestApp({ engine }).post(URL, { input: 'ab' })

    expect(answer.statusCode).toBe(400)
    expect(answer.json().error).toMatchObject({
      message: "This model's maximum context length is 4096 tokens, but the prompt is 5000 tokens long.",
      code: 'context_length_exceeded',
      param: 'input',
    })
  })

  it('is refused before it is rendered, where its length proves it', async () => {
    const engine = new ScriptedEngine(async function* () {}, { maxTokenBytes: 1 })

    const answer = await createTestApp({ engine }).post(URL, { input: 'a'.repeat(5000) })

    expect([answer.statusCode, answer.json().error.param]).toEqual([400, 'input'])
    expect(engine.requests).toEqual([])
  })
})
