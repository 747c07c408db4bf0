/** The four endpoints that the full and the light server share: one suite, run on both. */
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import { SQL_INJECTIONS } from '../../support/servers/account-services.ts'
import { SERVERS } from '../../support/servers/both-servers.ts'
import { createObservedEngine } from '../../support/engines/observed-engine.ts'
import { openSocket, postBytes } from '../../support/net/raw-http.ts'
import { hang, sayOk, ScriptedEngine, sequenceStart } from '../../support/engines/scripted-engine.ts'
import { shared } from '../../support/shared.ts'

const PASSTHROUGH_MODEL = {
  id: 'default',
  object: 'model',
  created: 1_700_000_000,
  owned_by: 'sluice',
  meta: {
    architecture: 'passthrough',
    parameters: 0,
    size_mb: 0,
    quantization: 'none',
    max_seq_len: null,
    vocab_size: 256,
    engine: 'passthrough',
    capabilities: ['generate', 'chat'],
    state: 'ready',
    load_progress: 1,
    pinned: false,
    last_used: null,
    failure: null,
    note: 'The passthrough model: no checkpoint was given, so each prompt is continued with itself.',
  },
}

describe.each(SERVERS)('$name', ({ key, start }) => {
  const server = shared(() => start())

  describe('GET /v1/health', () => {
    it('has exactly the four fields of the interface and needs no key', async () => {
      const { call, clock } = await start()
      clock.advance(1500)

      const answer = await call('GET', '/v1/health', { headers: { authorization: '' } })

      expect(answer.status).toBe(200)
      expect(answer.json).toEqual({
        status: 'ok',
        version: '1.1.1',
        models_loaded: 1,
        uptime_seconds: 1.5,
      })
    })

    it('answers HEAD with the same head and no body', async () => {
      const { call } = server()

      const [get, head] = [await call('GET', '/v1/health'), await call('HEAD', '/v1/health')]

      expect([head.status, head.text]).toEqual([200, ''])
      expect(head.headers['content-length']).toBe(get.headers['content-length'])
    })
  })

  describe('GET /v1/models', () => {
    it('lists what is served, and answers one model with its list item', async () => {
      const { call } = server()

      expect((await call('GET', '/v1/models')).json).toEqual({ object: 'list', data: [PASSTHROUGH_MODEL] })
      expect((await call('GET', '/v1/models/default')).json).toEqual(PASSTHROUGH_MODEL)
    })

    it('shows the numbers of a model, and names it by its alias', async () => {
      const { call } = await start({ engine: new ScriptedEngine(sayOk) })

      const answer = await call('GET', '/v1/models/default')

      expect(answer.json.meta).toEqual({
        architecture: 'llama',
        parameters: 125_000_000,
        size_mb: 71.5,
        quantization: 'Q4_0',
        max_seq_len: 4096,
        vocab_size: 32_000,
        engine: 'llama.cpp',
        capabilities: ['generate', 'chat'],
        state: 'ready',
        load_progress: 1,
        pinned: false,
        last_used: null,
        failure: null,
      })
    })

    it.each(['nobody', 'org%2Fname', '%00', ...SQL_INJECTIONS.map(encodeURIComponent)])(
      'does not know %s, and says so as OpenAI does',
      async (id) => {
        const answer = await server().call('GET', `/v1/models/${id}`)

        const detail = `Model '${decodeURIComponent(id)}' does not exist.`
        expect(answer.status).toBe(404)
        expect(answer.headers['x-error-code']).toBe('model_not_found')
        expect(answer.json).toMatchObject({ detail, error: { message: detail, code: 'model_not_found' } })
      },
    )
  })

  describe('POST /v1/generate', () => {
    it('continues with the prompt itself on the passthrough model', async () => {
      const answer = await server().call('POST', '/v1/generate', { payload: { prompt: 'abc' } })

      expect(answer.status).toBe(200)
      expect(answer.json).toEqual({
        generated_text: 'abc',
        token_ids: [97, 98, 99],
        prompt_tokens: 3,
        completion_tokens: 3,
        total_tokens: 6,
        model: 'default',
        created: 1_700_000_000,
        finish_reason: 'stop',
      })
    })

    it.each([
      [
        { prompt: 'hello', max_new_tokens: 2 },
        { generated_text: 'he', finish_reason: 'length' },
      ],
      [
        { prompt: 'é', max_new_tokens: 1 },
        { token_ids: [0xc3], completion_tokens: 1 },
      ],
      [{ prompt: '' }, { generated_text: '', token_ids: [], total_tokens: 0 }],
      [{ prompt: 'a\0b' }, { generated_text: 'a\0b' }],
      [{ prompt: '😀' }, { generated_text: '😀', prompt_tokens: 4 }],
      [{ prompt: 'x', model: null, temperature: 0.01, top_k: 5, top_p: 0 }, { generated_text: 'x' }],
    ])('given %j', async (payload, expected) => {
      expect((await server().call('POST', '/v1/generate', { payload })).json).toMatchObject(expected)
    })

    it.each(SQL_INJECTIONS)('takes %j for text, and as a model for one that is not there', async (text) => {
      const { call } = server()

      const continued = await call('POST', '/v1/generate', { payload: { prompt: text } })
      const unknown = await call('POST', '/v1/generate', { payload: { prompt: 'a', model: text } })

      expect(continued.json.generated_text).toBe(text)
      expect([unknown.status, unknown.json.detail]).toEqual([404, `Model '${text}' does not exist.`])
    })

    it('passes the sampling fields on', async () => {
      const engine = new ScriptedEngine(sayOk)
      const { call } = await start({ engine })
      const payload = { prompt: 'a', max_new_tokens: 7, temperature: 0.5, top_k: 3, top_p: 0.9 }

      const answer = await call('POST', '/v1/generate', { payload })

      expect(answer.json).toMatchObject({ generated_text: 'ok', token_ids: [1], model: 'default' })
      expect(engine.requests[0]).toMatchObject({
        prompts: [{ pieces: ['a'], addSpecial: true }],
        options: { maxNewTokens: 7, sampling: { temperature: 0.5, topK: 3, topP: 0.9 }, stopStrings: [] },
      })
    })

    it('samples as the defaults say', async () => {
      const engine = new ScriptedEngine(sayOk)

      await (await start({ engine })).call('POST', '/v1/generate', { payload: { prompt: 'a' } })

      expect(engine.requests[0]?.options).toMatchObject({
        maxNewTokens: 256,
        sampling: { temperature: 1, topK: 0, topP: 1, repetitionPenalty: 1, seed: null },
      })
    })

    it.each([1, 3])('stops %i pipelined generations when their client leaves', async (count) => {
      const { engine, started, aborted } = createObservedEngine(hang)
      const { port } = await start({ engine })
      const socket = await openSocket(port)

      socket.write(postBytes('/v1/generate', { prompt: 'a' }, key).repeat(count))
      await started.reaches(count)
      socket.destroy()

      await aborted.reaches(count)
    })
  })

  describe('a key', () => {
    it.each(['', 'Bearer', 'Bearer ', 'Bearer wrong', `Basic ${key}`, key])(
      'is asked for, and is not %j, before anything of the body is read',
      async (authorization) => {
        const headers = { authorization, 'content-type': 'text/plain' }
        const answer = await server().call('POST', '/v1/generate', { headers, payload: '{' })

        expect(answer.status).toBe(401)
        expect(answer.headers).toMatchObject({
          'www-authenticate': 'Bearer',
          'x-error-code': 'unauthorized',
        })
        expect(answer.json.detail).toMatch(/^Missing or invalid API key\./)
      },
    )

    it.each([`bearer ${key}`, `BEARER  ${key}`, `Bearer ${key} `])(
      'may be sent as %j',
      async (authorization) => {
        const options = { headers: { authorization }, payload: { prompt: 'a' } }

        expect((await server().call('POST', '/v1/generate', options)).status).toBe(200)
      },
    )
  })

  describe('an unknown route', () => {
    it.each([
      ['GET', '/index'],
      ['GET', '/v1/nothing'],
      ['GET', '/v1/health/'],
      ['POST', '/v1/health'],
      ['GET', '/v1/generate'],
      ['PUT', '/v1/generate'],
      ['DELETE', '/v1/models/default'],
      ['OPTIONS', '/v1/generate'],
    ])('%s %s is 404 with or without a key', async (method, url) => {
      const { call } = server()

      for (const headers of [{}, { authorization: '' }]) {
        const answer = await call(method, `${url}?key=secret`, { headers })
        expect(answer.status).toBe(404)
        expect(answer.headers['x-error-code']).toBe('not_found')
        const hint = url === '/v1/health/' ? ': did you mean /v1/health?' : '.'
        const message = `There is no route ${method} ${url}${hint}`
        expect(answer.json).toEqual({
          detail: message,
          error: {
            message,
            type: 'invalid_request_error',
            param: null,
            code: 'not_found',
          },
        })
      }
    })

    it.each([
      ['GET', '/models', '/v1/models'],
      ['GET', '/models/x', '/v1/models/x'],
      ['GET', '/v1/v1/models', '/v1/models'],
      ['POST', '/generate', '/v1/generate'],
      ['POST', '/api/generate', '/v1/generate'],
      ['POST', '/v1/generat', '/v1/generate'],
      ['GET', '/api/tags', '/v1/models'],
    ])('%s %s says that %s was meant', async (method, url, meant) => {
      const { json } = await server().call(method, url)
      expect(json.detail).toBe(`There is no route ${method} ${url}: did you mean ${meant}?`)
    })
  })

  describe('an engine that fails', () => {
    const failWith = (error: unknown) =>
      new ScriptedEngine(async function* () {
        yield sequenceStart()
        throw error
      })

    it('passes on a full queue', async () => {
      const error = new ServiceError('queue_full', { waiting: 9, max: 9, given: 1 }, { retryAfterSeconds: 3 })
      const { call } = await start({ engine: failWith(error) })

      const answer = await call('POST', '/v1/generate', { payload: { prompt: 'a' } })

      expect(answer.status).toBe(429)
      expect(answer.headers).toMatchObject({ 'x-error-code': 'queue_full', 'retry-after': '3' })
    })

    it('shows nothing of an unknown failure', async () => {
      const { call } = await start({ engine: failWith(new Error('secret detail')) })

      const answer = await call('POST', '/v1/generate', { payload: { prompt: 'a' } })

      expect(answer.json.detail).toBe(
        `Internal server error. Request id: ${String(answer.headers['x-request-id'])}`,
      )
    })

    it('answers a prompt that it refuses with both numbers', async () => {
      const engine = new ScriptedEngine(async function* () {
        const error = { code: 'context_length_exceeded', params: { given: 5000, max: 4096 } } as const
        yield { type: 'sequence-end', index: 0, finishReason: 'error', error }
      })

      const answer = await (
        await start({ engine })
      ).call('POST', '/v1/generate', { payload: { prompt: 'a' } })

      expect([answer.status, answer.headers['x-error-code']]).toEqual([400, 'context_length_exceeded'])
      expect(answer.json.detail).toMatch(/maximum context length is 4096 tokens.*5000/)
    })

    it('is a 500 when a sequence never ends', async () => {
      const engine = new ScriptedEngine(async function* () {
        yield sequenceStart()
      })

      const answer = await (
        await start({ engine })
      ).call('POST', '/v1/generate', { payload: { prompt: 'a' } })

      expect(answer.status).toBe(500)
    })
  })

  it('lets no answer be kept by a cache', async () => {
    const { call } = server()
    const answers = [
      await call('GET', '/v1/health'),
      await call('GET', '/v1/models'),
      await call('POST', '/v1/generate', { payload: { prompt: 'a' } }),
      await call('POST', '/v1/generate', { payload: {} }),
      await call('GET', '/v1/nothing'),
    ]

    expect(answers.map(({ headers }) => headers['cache-control'])).toEqual(answers.map(() => 'no-store'))
    expect(answers.map(({ headers }) => headers['x-content-type-options'])).toEqual(
      answers.map(() => 'nosniff'),
    )
  })

  it.each(['/v1/health?x=%zz', '/v1/models?%'])('refuses the query of %s', async (url) => {
    const answer = await server().call('GET', url)

    expect([answer.status, answer.headers['x-error-code']]).toEqual([400, 'malformed_request'])
  })
})
