/** The interface's table of endpoints: what each answers when all is well, where `shared-endpoints.test.ts` does not say it. */
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import { createTestApp } from '../../support/servers/test-app.ts'

describe('GET /', () => {
  it('says what the server is, and where to read on', async () => {
    const { app } = createTestApp()

    const { name, docs, openapi, health } = (await app.inject('/')).json()

    expect(name).toBe('sluice')
    for (const path of [docs, openapi, health]) expect((await app.inject(path)).statusCode).toBe(200)
  })
})

describe('GET /v1/health', () => {
  it('answers in every state', async () => {
    const { app } = createTestApp({
      whyNotReady: () => new ServiceError('shutting_down'),
      isDraining: () => true,
    })

    expect((await app.inject('/v1/health')).statusCode).toBe(200)
  })
})

describe('GET /v1/ready', () => {
  it.each([
    [null, 200, undefined],
    [new ServiceError('not_ready', { model: 'm', message: 'it is loading (4 %).' }), 503, 'not_ready'],
    [new ServiceError('no_model'), 503, 'no_model'],
    [new ServiceError('shutting_down'), 503, 'shutting_down'],
  ])('%# answers %i', async (reason, status, code) => {
    const answer = await createTestApp({ whyNotReady: () => reason }).app.inject('/v1/ready')

    expect(answer.statusCode).toBe(status)
    expect(answer.headers['x-error-code']).toBe(code)
    expect(answer.json()).toEqual(reason === null ? { status: 'ready' } : { detail: reason.message })
    expect('retry-after' in answer.headers).toBe(status === 503)
  })
})

describe('GET /v1/models', () => {
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
  it('counts the tokens of a stop string and does not show them', async () => {
    const body = (
      await createTestApp().post('/v1/generate', { prompt: 'one two', stop_strings: [' '] })
    ).json()

    expect(body).toMatchObject({ generated_text: 'one', completion_tokens: 4, finish_reason: 'stop' })
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
