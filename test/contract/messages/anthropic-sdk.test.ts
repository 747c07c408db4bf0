/** Anthropic's own client against `/v1/messages`: what it sends is taken, what it reads is there. */
import Anthropic, {
  APIError,
  AuthenticationError,
  BadRequestError,
  InternalServerError,
  NotFoundError,
  RateLimitError,
} from '@anthropic-ai/sdk'
import { describe, expect, it, vi } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import {
  failInTheMiddle,
  hangUntilLeft,
  sayOk,
  ScriptedEngine,
} from '../../support/engines/scripted-engine.ts'
import { ADMIN_KEY, createTestApp, KEY, type TestAppOptions } from '../../support/servers/test-app.ts'

async function createClient(
  options: TestAppOptions = {},
  settings: { apiKey?: string; maxRetries?: number } = {},
) {
  const port = await createTestApp(options).listen()
  const { apiKey = KEY, maxRetries = 0 } = settings
  return new Anthropic({ baseURL: `http://127.0.0.1:${port}`, apiKey, authToken: null, maxRetries })
}

async function createClientOfModels(ids: readonly string[]): Promise<Anthropic> {
  const { call, listen } = createTestApp({ openEngine: async () => new ScriptedEngine(sayOk) })
  const headers = { authorization: `Bearer ${ADMIN_KEY}` }
  for (const id of ids) {
    const payload = { id, checkpoint: 'x.gguf' }
    const { statusCode } = await call({ method: 'POST', url: '/v1/admin/models', headers, payload })
    expect(statusCode).toBe(200)
  }
  return new Anthropic({ baseURL: `http://127.0.0.1:${await listen()}`, apiKey: KEY, authToken: null })
}

const REQUEST = {
  model: 'default',
  max_tokens: 64,
  messages: [{ role: 'user' as const, content: 'hello' }],
}

const failureOf = (asked: Promise<unknown>): Promise<unknown> =>
  asked.then(
    () => null,
    (error: unknown) => error,
  )

const failWith = (error: ServiceError) =>
  new ScriptedEngine(async function* () {
    yield* []
    throw error
  })

describe("Anthropic's client", () => {
  it('gets a message', async () => {
    const client = await createClient()

    const { data, request_id } = await client.messages.create(REQUEST).withResponse()

    expect(data).toMatchObject({
      type: 'message',
      role: 'assistant',
      model: 'default',
      content: [{ type: 'text', text: 'hello' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 5, output_tokens: 5 },
    })
    expect(request_id).toMatch(/^[0-9a-f]{24}$/)
  })

  it.each([false, true])(
    'runs tools, without the thread that it asks for first (streamed: %s)',
    async (stream) => {
      const client = await createClient()
      const run = vi.fn<() => string>(() => 'sunny')
      const input_schema = { type: 'object' as const, properties: {} }
      const tools = [{ type: 'custom' as const, name: 'weather', input_schema, run, parse: () => ({}) }]
      const runner = client.beta.messages.toolRunner({ ...REQUEST, stream, tools })

      expect((await runner.runUntilDone()).content).toMatchObject([{ type: 'text', text: 'hello' }])
      expect(run).not.toHaveBeenCalled()
    },
  )

  it('gathers a stream into the same message', async () => {
    const client = await createClient()
    const request = { ...REQUEST, stop_sequences: ['lo'], system: 'Be brief.' }

    const stream = client.messages.stream(request)
    let text = ''
    stream.on('text', (delta) => (text += delta))
    const { id: _, ...streamed } = await stream.finalMessage()
    const { id: __, ...plain } = await client.messages.create(request)

    // The client's own.
    expect(streamed).toEqual({ ...plain, parsed_output: null })
    expect(plain).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'lo' })
    expect(text).toBe('hel')
  })

  it('reads raw events, to the last', async () => {
    const client = await createClient()
    const types: string[] = []
    for await (const event of await client.messages.create({ ...REQUEST, stream: true }))
      types.push(event.type)

    expect(types).toEqual([
      'message_start',
      'content_block_start',
      ...'hello'.split('').map(() => 'content_block_delta'),
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  it('counts the tokens that a message is then asked with', async () => {
    const client = await createClient()
    const { max_tokens: _, ...asked } = REQUEST

    const { input_tokens } = await client.messages.countTokens(asked)

    expect(input_tokens).toBe((await client.messages.create(REQUEST)).usage.input_tokens)
    expect(await failureOf(client.messages.countTokens({ ...asked, model: 'claude' }))).toBeInstanceOf(
      NotFoundError,
    )
  })

  it('may use the beta interface, and a bearer token', async () => {
    const port = await createTestApp().listen()
    const client = new Anthropic({ baseURL: `http://127.0.0.1:${port}`, apiKey: null, authToken: KEY })

    const { content } = await client.beta.messages.create({ ...REQUEST, betas: ['some-beta-2026-01-01'] })

    expect(content).toEqual([{ type: 'text', text: 'hello' }])
  })

  it('lists and reads models', async () => {
    const client = await createClient()

    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['default'])
    expect(await client.models.retrieve('default')).toMatchObject({
      id: 'default',
      type: 'model',
      display_name: 'default',
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      max_input_tokens: null,
    })
  })

  it('pages through models in both directions', async () => {
    const client = await createClientOfModels(['a', 'b', 'c', 'd', 'e'])
    const idsOf = async (models: AsyncIterable<{ id: string }>) => {
      const ids: string[] = []
      for await (const { id } of models) ids.push(id)
      return ids
    }

    expect(await idsOf(client.models.list({ limit: 2 }))).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(await idsOf(client.models.list({ limit: 1, after_id: 'c' }))).toEqual(['d', 'e'])
    expect(await idsOf(client.beta.models.list({ limit: 2, before_id: 'd' }))).toEqual(['b', 'c', 'a'])
    expect(await client.models.list({ limit: 5 })).toMatchObject({
      has_more: false,
      first_id: 'a',
      last_id: 'e',
    })
    expect((await client.models.list({ after_id: 'e' })).data).toEqual([])
    const unknown = await failureOf(client.models.list({ after_id: 'x' }))
    expect(unknown).toBeInstanceOf(BadRequestError)
    expect(String(unknown)).toContain('after_id must be the id of a model of the list, but was \\"x\\".')
  })

  it('reads errors as what they are', async () => {
    const ask = async (client: Anthropic, fields: object = {}) =>
      failureOf(client.messages.create({ ...REQUEST, ...fields }))

    const bad = await ask(await createClient(), { max_tokens: 0 })
    expect(bad).toBeInstanceOf(BadRequestError)
    expect(bad).toMatchObject({
      status: 400,
      type: 'invalid_request_error',
      requestID: expect.stringMatching(/^[0-9a-f]{24}$/),
      error: {
        type: 'error',
        error: {
          type: 'invalid_request_error',
          message: 'max_tokens must be an integer of at least 1, but was 0.',
        },
        request_id: expect.any(String),
        detail: 'max_tokens must be an integer of at least 1, but was 0.',
      },
    })
    const wrongKey = await ask(await createClient({}, { apiKey: 'wrong' }))
    expect(wrongKey).toBeInstanceOf(AuthenticationError)
    expect(wrongKey).toMatchObject({ type: 'authentication_error' })
    const unknownModel = await ask(await createClient(), { model: 'claude' })
    expect(unknownModel).toBeInstanceOf(NotFoundError)
    expect(unknownModel).toMatchObject({ type: 'not_found_error' })
    const full = await ask(await createClient({ engine: failWith(new ServiceError('queue_full')) }))
    expect(full).toBeInstanceOf(RateLimitError)
    expect(full).toMatchObject({ type: 'rate_limit_error' })
    const gone = await ask(await createClient({ engine: failWith(new ServiceError('engine_unavailable')) }))
    expect(gone).toBeInstanceOf(InternalServerError)
    expect(gone).toMatchObject({ status: 503, type: 'overloaded_error' })
    expect(await ask(await createClient({ isDraining: () => true }))).toMatchObject({ status: 503 })
  })

  it('tries again what is refused for now', async () => {
    let tries = 0
    const engine = new ScriptedEngine(async function* (request) {
      if (++tries === 1) throw new ServiceError('queue_full', {}, { retryAfterSeconds: 1 })
      yield* sayOk(request)
    })
    const client = await createClient({ engine }, { maxRetries: 1 })

    expect((await client.messages.create(REQUEST)).content).toEqual([{ type: 'text', text: 'ok' }])
    expect(tries).toBe(2)
  })

  it('reads an error in the middle of a stream', async () => {
    const engine = failInTheMiddle()
    const client = await createClient({ engine })

    const error = await failureOf(client.messages.stream(REQUEST).finalMessage())

    expect(error).toBeInstanceOf(APIError)
    expect(error).toMatchObject({ type: 'api_error', requestID: expect.stringMatching(/^[0-9a-f]{24}$/) })
    expect(String(error)).toContain('The engine stopped')
  })

  it.each(['leaving its loop', 'abort'])('ends the work of the engine by %s', async (way) => {
    const { engine, left } = hangUntilLeft()
    const client = await createClient({ engine })

    if (way === 'abort') {
      const stream = client.messages.stream(REQUEST)
      stream.on('text', () => stream.abort())
      expect(await failureOf(stream.finalMessage())).toMatchObject({ message: 'Request was aborted.' })
    } else {
      for await (const _ of await client.messages.create({ ...REQUEST, stream: true })) break
    }

    await left
  })
})
