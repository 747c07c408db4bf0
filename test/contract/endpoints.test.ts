/** The interface's table of endpoints: what each answers when all is well. */
import { describe, expect, it } from 'vitest'
import { createTestApp } from '../support/test-app.ts'

describe('GET /v1/health', () => {
  it('has exactly the four fields of the interface and needs no key', async () => {
    const { app, clock } = createTestApp()
    await app.ready()
    clock.advance(1500)

    const answer = await app.inject('/v1/health')

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ status: 'ok', version: '1.1.1', models_loaded: 1, uptime_seconds: 1.5 })
  })

  it('answers in every state', async () => {
    const { app } = createTestApp({ isReady: () => false, isDraining: () => true })

    expect((await app.inject('/v1/health')).statusCode).toBe(200)
  })

  it('answers HEAD without a body', async () => {
    const answer = await createTestApp().app.inject({ method: 'HEAD', url: '/v1/health' })

    expect(answer.statusCode).toBe(200)
    expect(answer.body).toBe('')
  })
})

describe('GET /v1/ready', () => {
  it.each([
    [{ isReady: () => true }, 200, undefined],
    [{ isReady: () => false }, 503, 'not_ready'],
    [{ isDraining: () => true }, 503, 'shutting_down'],
  ])('%# answers %i', async (options, status, code) => {
    const answer = await createTestApp(options).app.inject('/v1/ready')

    expect(answer.statusCode).toBe(status)
    expect(answer.headers['x-error-code']).toBe(code)
    expect('retry-after' in answer.headers).toBe(status === 503)
  })
})

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
    state: 'ready',
    load_progress: 1,
    failure: null,
  },
}

describe('GET /v1/models', () => {
  it('lists what is served', async () => {
    const answer = await createTestApp().call('/v1/models')

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({ object: 'list', data: [PASSTHROUGH_MODEL] })
  })

  it('answers one model with its list item', async () => {
    const answer = await createTestApp().call('/v1/models/default')

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual(PASSTHROUGH_MODEL)
  })

  it.each(['/v1/models/org/name', '/v1/models/org%2Fname'])('reads %s as the id org/name', async (url) => {
    const answer = await createTestApp().call(url)

    expect(answer.statusCode).toBe(404)
    expect(answer.headers['x-error-code']).toBe('model_not_found')
    expect(answer.json()).toMatchObject({
      detail: "Model 'org/name' does not exist.",
      error: { message: "Model 'org/name' does not exist.", code: 'model_not_found' },
    })
  })
})

describe('POST /v1/generate', () => {
  it('continues with the prompt itself on the passthrough model', async () => {
    const answer = await createTestApp().post('/v1/generate', { prompt: 'abc' })

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
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

  it('stops at max_new_tokens', async () => {
    const { post } = createTestApp()

    const body = (await post('/v1/generate', { prompt: 'hello', max_new_tokens: 2 })).json()

    expect(body).toMatchObject({ generated_text: 'he', completion_tokens: 2, finish_reason: 'length' })
  })

  it('counts tokens that are no text yet', async () => {
    const body = (await createTestApp().post('/v1/generate', { prompt: 'é', max_new_tokens: 1 })).json()

    expect(body).toMatchObject({ token_ids: [0xc3], completion_tokens: 1 })
  })

  it('counts the tokens of a stop string and does not show them', async () => {
    const body = (
      await createTestApp().post('/v1/generate', { prompt: 'one two', stop_strings: [' '] })
    ).json()

    expect(body).toMatchObject({ generated_text: 'one', completion_tokens: 4, finish_reason: 'stop' })
  })

  it('gives empty text for an empty prompt and carries NUL characters through', async () => {
    const { post } = createTestApp()

    expect((await post('/v1/generate', { prompt: '' })).json()).toMatchObject({
      generated_text: '',
      token_ids: [],
    })
    expect((await post('/v1/generate', { prompt: 'a\0b' })).json()).toMatchObject({ generated_text: 'a\0b' })
  })

  it('lets beams change nothing on the passthrough model', async () => {
    const body = (await createTestApp().post('/v1/generate', { prompt: 'ab', num_beams: 4 })).json()

    expect(body).toMatchObject({ generated_text: 'ab' })
  })
})

describe('POST /v1/chat/completions', () => {
  it('answers with the last message on the passthrough model', async () => {
    const messages = [
      { role: 'system', content: 'Be short.' },
      { role: 'user', content: 'hi' },
    ]

    const answer = await createTestApp().post('/v1/chat/completions', { messages })

    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      id: expect.stringMatching(/^chatcmpl-\w+$/),
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'default',
      choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 2, completion_tokens: 2, total_tokens: 4 },
    })
  })
})
