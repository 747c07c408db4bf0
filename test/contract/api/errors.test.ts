/** How errors look and who gets them: credentials, unknown routes, tiers, a server that shuts down, an engine that fails. */
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import { ScriptedEngine, sayOk, sequenceStart } from '../../support/engines/scripted-engine.ts'
import { createTestApp, createTierAuthenticator, KEY, ADMIN_KEY } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const MESSAGES = { messages: [{ role: 'user', content: 'ab' }] }

const KEYED_ROUTES = [
  ['GET', '/v1/models'],
  ['GET', '/v1/models/default'],
  ['POST', '/v1/generate'],
  ['POST', '/v1/generate/batch'],
  ['POST', '/v1/generate/stream'],
  ['POST', '/v1/generate/continuous-batch'],
  ['POST', '/v1/chat/completions'],
  ['POST', '/v1/responses'],
  ['POST', '/v1/responses/input_tokens'],
  ['GET', '/v1/responses/resp_1'],
  ['POST', '/v1/completions'],
  ['POST', '/v1/messages'],
  ['POST', '/v1/messages/count_tokens'],
  ['POST', '/tokenize'],
  ['POST', '/v1/detokenize'],
] as const

/** Paths of another base URL, of another server, or misspelt, and those that were meant. */
const MEANT: Readonly<Record<string, string>> = {
  '/completions': '/v1/completions',
  '/v1/v1/models': '/v1/models',
  '/chat/completions': '/v1/chat/completions',
  '/models': '/v1/models',
  '/models/a/b': '/v1/models/a/b',
  '/v2/models': '/v1/models',
  '/v1/health/': '/v1/health',
  '/v1/model': '/v1/models',
  '/v1/completion': '/v1/completions',
  '/completion': '/v1/completions',
  '/v1/chat/completion/': '/v1/chat/completions',
  '/v1/embedding': '/v1/embeddings',
  '/openai/v1/chat/completions': '/v1/chat/completions',
  '/openai/chat/completions': '/v1/chat/completions',
  '/api/chat': '/v1/chat/completions',
  '/api/generate': '/v1/generate',
  '/api/tags': '/v1/models',
  '/props': '/v1/models',
  '/messages?beta=true': '/v1/messages',
  '/v1/v1/messages': '/v1/messages',
  '/v1/message': '/v1/messages',
  '/anthropic/v1/messages': '/v1/messages',
  '/v1/complete': '/v1/messages',
}

function hintOf(url: string): string {
  const meant = MEANT[url]
  return meant === undefined ? '.' : `: did you mean ${meant}?`
}

const testApp = shared(() => createTestApp())

describe('credentials', () => {
  it.each(KEYED_ROUTES)('%s %s needs a key, before anything of the body is read', async (method, url) => {
    const { app } = testApp()

    for (const authorization of [undefined, '', 'Bearer', 'Bearer ', 'Bearer wrong', `Basic ${KEY}`, KEY]) {
      const answer = await app.inject({
        method,
        url,
        headers: { 'content-type': 'text/plain', ...(authorization !== undefined && { authorization }) },
        ...(method === 'POST' && { payload: '{' }),
      })
      expect([authorization, answer.statusCode]).toEqual([authorization, 401])
      expect(answer.headers['www-authenticate']).toBe('Bearer')
      expect(answer.headers['x-error-code']).toBe('unauthorized')
      expect(answer.json().detail).toBe(
        'Missing or invalid API key. Send it as "Authorization: Bearer <key>" or "x-api-key: <key>".',
      )
    }
  })

  it.each([`bearer ${KEY}`, `BEARER  ${KEY}`, `Bearer ${KEY} `])('takes %j', async (authorization) => {
    const answer = await testApp().app.inject({ url: '/v1/models', headers: { authorization } })

    expect(answer.statusCode).toBe(200)
  })

  it.each(KEYED_ROUTES)('%s %s takes the key as x-api-key too', async (method, url) => {
    const { app } = testApp()
    const statusOf = async (headers: Record<string, string>) =>
      (await app.inject({ method, url, headers })).statusCode

    expect(await statusOf({ 'x-api-key': KEY })).not.toBe(401)
    expect(await statusOf({ 'x-api-key': KEY, authorization: 'Basic eDp5' })).not.toBe(401)
    for (const key of ['', 'wrong', `Bearer ${KEY}`, `${KEY}, ${KEY}`]) {
      expect([key, await statusOf({ 'x-api-key': key })]).toEqual([key, 401])
    }
    expect(await statusOf({ 'x-api-key': KEY, authorization: 'Bearer wrong' })).toBe(401)
  })

  it('takes an admin key as a bearer secret only', async () => {
    const { app } = testApp()
    const statusOf = async (headers: Record<string, string>) =>
      (await app.inject({ url: '/v1/admin/bans', headers })).statusCode
    const refused = 'Missing or invalid API key. Send it as "Authorization: Bearer <key>".'

    expect((await app.inject('/v1/admin/bans')).json().detail).toBe(refused)
    expect(await statusOf({ authorization: `Bearer ${ADMIN_KEY}` })).toBe(404)
    expect(await statusOf({ 'x-api-key': ADMIN_KEY })).toBe(401)
  })

  it('answers 500, not 401, when keys cannot be looked up', async () => {
    const authenticator = { authenticate: () => Promise.reject(new Error('database is locked')) }
    const { call, logLines } = createTestApp({ authenticator })

    const answer = await call({ url: '/v1/models', headers: { 'x-request-id': 'r-1' } })

    expect(answer.statusCode).toBe(500)
    expect(answer.json().detail).toBe('Internal server error. Request id: r-1')
    expect(answer.body).not.toContain('locked')
    expect(logLines).toContainEqual(
      expect.objectContaining({
        requestId: 'r-1',
        err: expect.objectContaining({ message: 'database is locked' }),
      }),
    )
  })
})

describe('unknown routes', () => {
  it.each([
    ['GET', '/index'],
    ['GET', '/v1/nothing'],
    ['GET', '/v1/health/'],
    ['POST', '/v1/health'],
    ['GET', '/v1/generate'],
    ['PUT', '/v1/generate'],
    ['DELETE', '/v1/models/default'],
    ['OPTIONS', '/v1/generate'],
    ['TRACE', '/v1/health'],
  ] as const)('%s %s is 404 with or without a key', async (method, url) => {
    const { app, call } = testApp()

    for (const answer of [
      await app.inject({ method: method as 'GET', url }),
      await call({ method: method as 'GET', url }),
    ]) {
      expect(answer.statusCode).toBe(404)
      expect(answer.headers['x-error-code']).toBe('not_found')
      const hint = method === 'GET' ? hintOf(url) : '.'
      expect(answer.json()).toMatchObject({ detail: `There is no route ${method} ${url}${hint}` })
    }
  })

  it.each([
    ['POST', '/v1/responses/resp_1/cancel'],
    ['POST', '/v1/images/generations?a=1'],
    ['GET', '/v1/completions'],
    ['POST', '/completions'],
    ['GET', '/v1/chat/completions'],
    ['DELETE', '/v1/models/default'],
    ['POST', '/v1/audio/speech'],
    ['GET', '/v1/fine_tuning/jobs'],
    ['GET', '/v1'],
    ['GET', '/v1/v1/models'],
    ['POST', '/chat/completions'],
    ['GET', '/models'],
    ['GET', '/models/a/b'],
    ['GET', '/index'],
    ['GET', '/v2/models'],
    ['GET', '/v1/nothing'],
    ['POST', '/v1/foo'],
    ['GET', '/v1/models-of-mine'],
    ['GET', '/v1/generate'],
    ['GET', '/v1/keys/x'],
    ['GET', '/v1/admin/nothing'],
    ['GET', '/v1/health/'],
    ['GET', '/v1/model'],
    ['POST', '/v1/completion'],
    ['POST', '/completion'],
    ['POST', '/v1/chat/completion/'],
    ['POST', '/v1/embedding'],
    ['POST', '/openai/v1/chat/completions'],
    ['POST', '/openai/chat/completions'],
    ['POST', '/infill'],
    ['GET', '/props'],
  ] as const)("%s %s has OpenAI's error object too", async (method, url) => {
    const answer = await testApp().call({ method, url })

    expect(answer.statusCode).toBe(404)
    const message = `There is no route ${method} ${url.split('?')[0]}${hintOf(url)}`
    expect(answer.json()).toEqual({
      detail: message,
      error: { message, type: 'invalid_request_error', param: null, code: 'not_found' },
    })
  })

  it.each([
    ['POST', '/api/chat'],
    ['POST', '/api/generate'],
    ['POST', '/api/show'],
    ['GET', '/api/tags'],
  ] as const)("%s %s has the text that Ollama's clients show", async (method, url) => {
    const answer = await testApp().call({ method, url })

    expect(answer.statusCode).toBe(404)
    const message = `There is no route ${method} ${url}${hintOf(url)}`
    expect(answer.json()).toEqual({ detail: message, error: message })
  })

  it.each([
    ['POST', '/v1/messages/batches'],
    ['GET', '/v1/messages'],
    ['POST', '/messages?beta=true'],
    ['POST', '/v1/complete'],
    ['POST', '/v1/message'],
    ['POST', '/v1/v1/messages'],
    ['POST', '/anthropic/v1/messages'],
  ] as const)("%s %s has Anthropic's error object too", async (method, url) => {
    const answer = await testApp().call({ method, url, headers: { 'x-request-id': 'r-1' } })

    expect(answer.statusCode).toBe(404)
    expect(answer.headers['request-id']).toBe('r-1')
    const message = `There is no route ${method} ${url.split('?')[0]}${hintOf(url)}`
    expect(answer.json()).toEqual({
      detail: message,
      type: 'error',
      error: { type: 'not_found_error', message },
      request_id: 'r-1',
    })
  })

  it.each([
    ['/v1/foo', 'There is no route GET /v1/foo.'],
    ['/v1/files', 'There is no route GET /v1/files.'],
    ['/v1/models/x', "Model 'x' does not exist."],
  ])("%s has Anthropic's error object for its clients", async (url, message) => {
    const headers = { 'anthropic-version': '2023-06-01', 'x-request-id': 'r-1' }

    expect((await testApp().call({ url, headers })).json()).toEqual({
      detail: message,
      type: 'error',
      error: { type: 'not_found_error', message },
      request_id: 'r-1',
    })
  })

  it('keeps the query out of the sentence', async () => {
    const answer = await testApp().app.inject('/v1/nothing?key=secret')

    expect(answer.body).not.toContain('secret')
  })

  it('is 404 whatever the body is', async () => {
    const answer = await testApp().call({
      method: 'POST',
      url: '/v1/nothing',
      headers: { 'content-type': 'application/json' },
      payload: '{',
    })

    expect(answer.statusCode).toBe(404)
  })
})

describe('unknown models', () => {
  it.each([
    ['/v1/generate', { prompt: 'a' }],
    ['/v1/generate/stream', { prompt: 'a' }],
    ['/v1/generate/batch', { prompts: ['a'] }],
    ['/v1/generate/continuous-batch', { prompts: ['a'] }],
    ['/v1/chat/completions', MESSAGES],
    ['/v1/responses', { input: 'a' }],
    ['/v1/messages', { ...MESSAGES, max_tokens: 16 }],
  ])('POST %s answers 404', async (url, body) => {
    const answer = await testApp().post(url, { ...body, model: 'nobody' })

    expect(answer.statusCode).toBe(404)
    expect(answer.headers['x-error-code']).toBe('model_not_found')
    expect(answer.json().detail).toBe("Model 'nobody' does not exist.")
  })
})

describe('request ids', () => {
  it.each(['a', 'A-1_b.c:d', 'x'.repeat(64)])('keeps %s', async (id) => {
    const answer = await testApp().app.inject({ url: '/v1/health', headers: { 'x-request-id': id } })

    expect(answer.headers['x-request-id']).toBe(id)
  })

  it.each(['', 'a b', 'x'.repeat(65), 'ä', '"'])('replaces %j', async (id) => {
    const answer = await testApp().app.inject({ url: '/v1/nothing', headers: { 'x-request-id': id } })

    expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f]{24}$/)
  })
})

describe('tiers', () => {
  it.each([
    ['free', 4096, 2048],
    ['free', 2049, 2048],
    ['free', 2048, null],
    ['pro', 4096, null],
  ] as const)('%s may generate %i tokens, %s at most', async (tier, asked, applied) => {
    const engine = new ScriptedEngine(sayOk)
    const { post } = createTestApp({ engine, authenticator: createTierAuthenticator(tier) })

    const answer = await post('/v1/generate', { prompt: 'a', max_new_tokens: asked })

    expect(answer.headers['x-max-tokens-applied']).toBe(applied?.toString())
    expect(engine.requests[0]?.options.maxNewTokens).toBe(applied ?? asked)
  })

  it('says so on a stream too, and queues each tier in its class', async () => {
    const engine = new ScriptedEngine(sayOk, { maxSeqLen: null })
    const { post } = createTestApp({ engine, authenticator: createTierAuthenticator('pro') })

    const answer = await post('/v1/chat/completions', {
      ...MESSAGES,
      stream: true,
      max_tokens: 8192,
      priority: -5,
    })

    expect(answer.headers['x-max-tokens-applied']).toBe('4096')
    expect(engine.requests[0]?.place).toEqual({ priorityClass: 1, priority: -5, accountId: 'a' })
  })
})

describe('a server that shuts down', () => {
  it('refuses new generation requests and answers the rest', async () => {
    const { post, call } = createTestApp({ isDraining: () => true })

    const refused = await post('/v1/generate', { prompt: 'a' })

    expect(refused.statusCode).toBe(503)
    expect(refused.headers).toMatchObject({
      'x-error-code': 'shutting_down',
      'retry-after': '1',
      connection: 'close',
    })
    expect((await call('/v1/models')).statusCode).toBe(200)
  })
})

describe('an engine that fails', () => {
  const failWith = (error: unknown) =>
    new ScriptedEngine(async function* () {
      yield* []
      throw error
    })

  it.each(['/v1/generate', '/v1/generate/stream'])('%s passes on a full queue', async (url) => {
    const error = new ServiceError('queue_full', { waiting: 512, max: 512 }, { retryAfterSeconds: 3 })

    const answer = await createTestApp({ engine: failWith(error) }).post(url, { prompt: 'a' })

    expect(answer.statusCode).toBe(429)
    expect(answer.headers).toMatchObject({ 'x-error-code': 'queue_full', 'retry-after': '3' })
  })

  it('shows nothing of an unknown failure and logs it', async () => {
    const { post, logLines } = createTestApp({ engine: failWith(new Error('secret detail')) })

    const answer = await post('/v1/chat/completions', MESSAGES)

    expect(answer.statusCode).toBe(500)
    expect(answer.json().error).toMatchObject({ type: 'server_error', code: 'internal_error' })
    expect(answer.body).not.toContain('secret')
    expect(JSON.stringify(logLines)).toContain('secret detail')
  })

  it('is a 500 when a sequence never ends', async () => {
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart()
    })

    expect((await createTestApp({ engine }).post('/v1/generate', { prompt: 'a' })).statusCode).toBe(500)
  })

  it.each([
    ['/v1/generate', {}],
    ['/v1/generate/stream', {}],
  ])('%s answers a prompt that is too long with both numbers', async (url) => {
    const engine = new ScriptedEngine(async function* () {
      const error = { code: 'context_length_exceeded', params: { given: 5000, max: 4096 } } as const
      yield { type: 'sequence-end', index: 0, finishReason: 'error', error }
    })

    const answer = await createTestApp({ engine }).post(url, { prompt: 'a' })

    expect(answer.statusCode).toBe(400)
    expect(answer.headers['x-error-code']).toBe('context_length_exceeded')
    expect(answer.json().detail).toMatch(/maximum context length is 4096 tokens.*5000/)
  })
})

describe('beams', () => {
  it.each(['/v1/generate', '/v1/generate/batch'])(
    '%s refuses them on a model without beam search',
    async (url) => {
      const { post } = createTestApp({ engine: new ScriptedEngine(sayOk) })

      const answer = await post(url, { prompt: 'a', prompts: ['a'], num_beams: 2 })

      expect(answer.statusCode).toBe(400)
      expect(answer.json().detail).toBe("num_beams must be 1, but was 2: model 'default' has no beam search.")
    },
  )

  it.each(['/v1/generate', '/v1/generate/batch', '/v1/generate/continuous-batch'])(
    '%s gives them to a model that has one, up to as many as it takes',
    async (url) => {
      const engine = new ScriptedEngine(sayOk, { maxBeams: 4 })
      const { post } = createTestApp({ engine })

      const answer = await post(url, { prompt: 'a', prompts: ['a'], num_beams: 4 })
      expect(answer.statusCode).toBe(200)
      expect(engine.requests[0]?.options.numBeams).toBe(4)

      const refused = await post(url, { prompt: 'a', prompts: ['a'], num_beams: 5 })
      expect(refused.statusCode).toBe(400)
      expect(refused.json().detail).toBe(
        "num_beams must be at most 4, but was 5: model 'default' searches with no more.",
      )
    },
  )

  it('answers 400 with the numbers when they take more room than there is', async () => {
    const engine = new ScriptedEngine(
      async function* () {
        const params = { beams: 8, promptTokens: 10, newTokens: 100, given: 810, max: 256 }
        const error = { code: 'beams_too_large', params } as const
        yield { type: 'sequence-end', index: 0, finishReason: 'error', error }
      },
      { maxBeams: 8 },
    )

    const answer = await createTestApp({ engine }).post('/v1/generate', { prompt: 'a', num_beams: 8 })

    expect(answer.statusCode).toBe(400)
    expect(answer.headers['x-error-code']).toBe('beams_too_large')
    expect(answer.json().detail).toMatch(/810.*256/)
  })
})
