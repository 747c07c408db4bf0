/** `POST /v1/messages` over HTTP: headers, limits, guards and pings as chat has them, in Anthropic's words. */
import { describe, expect, it } from 'vitest'
import type { StartSilenceTimer } from '../../../src/api/silence-timer.ts'
import {
  sayOk,
  ScriptedEngine,
  sequenceEnd,
  sequenceStart,
  textDelta,
} from '../../support/engines/scripted-engine.ts'
import { createTestApp, createTierAuthenticator, KEY } from '../../support/servers/test-app.ts'

const URL = '/v1/messages'
const BODY = { max_tokens: 64, messages: [{ role: 'user', content: 'hello' }] }

describe('POST /v1/messages', () => {
  it('takes a key by either header, and names the request in both', async () => {
    const { app } = createTestApp()
    for (const headers of [{ 'x-api-key': KEY }, { authorization: `Bearer ${KEY}` }]) {
      const answer = await app.inject({ method: 'POST', url: URL, headers, payload: BODY })

      expect(answer.statusCode).toBe(200)
      expect(answer.headers['request-id']).toBe(answer.headers['x-request-id'])
    }
    const refused = await app.inject({ method: 'POST', url: URL, payload: BODY })
    expect(refused.statusCode).toBe(401)
    expect(refused.headers['x-should-retry']).toBe('false')
    expect(refused.json()).toEqual({
      type: 'error',
      error: {
        type: 'authentication_error',
        message: expect.stringMatching(/^Missing or invalid API key\..* or "x-api-key: <key>"\.$/),
      },
      request_id: refused.headers['x-request-id'],
      detail: expect.any(String),
    })
  })

  it('takes any version of the API that is one, and any beta', async () => {
    const { call } = createTestApp()
    const ask = (headers: Record<string, string>) =>
      call({ method: 'POST', url: `${URL}?beta=true`, headers, payload: BODY })

    expect((await ask({ 'anthropic-version': '2023-06-01', 'anthropic-beta': 'a,b' })).statusCode).toBe(200)
    const refused = await ask({ 'anthropic-version': 'latest' })
    expect(refused.statusCode).toBe(400)
    expect(refused.json().error).toEqual({
      type: 'invalid_request_error',
      message: 'The header anthropic-version must be a date, as 2023-06-01 is, but was "latest".',
    })
  })

  it('refuses a query parameter that it does not take', async () => {
    const answer = await createTestApp().post(`${URL}?betas=x`, BODY)

    expect(answer.statusCode).toBe(400)
    expect(answer.json().error.message).toBe(
      'The query has an unknown parameter "betas": did you mean \'beta\'?',
    )
  })

  it('lowers max_tokens to what is allowed, and says so', async () => {
    const engine = new ScriptedEngine(sayOk, { maxSeqLen: null })
    const { post, usage } = createTestApp({ engine, authenticator: createTierAuthenticator('free') })

    const answer = await post(URL, { ...BODY, max_tokens: 32_000 })

    expect(answer.headers['x-max-tokens-applied']).toBe('2048')
    expect(engine.requests[0]?.options.maxNewTokens).toBe(2048)
    expect(usage).toMatchObject([{ path: URL, status: 200, tokensIn: 2, tokensOut: 1 }])
  })

  it('counts the prompt and every token', async () => {
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart(0, 11)
      yield textDelta('', [1, 2])
      yield textDelta('a', [3])
      yield sequenceEnd('length')
    })
    const { post } = createTestApp({ engine })

    const answer = (await post(URL, BODY)).json()

    expect(answer).toMatchObject({ stop_reason: 'max_tokens', usage: { input_tokens: 11, output_tokens: 3 } })
  })

  it('takes a conversation of many turns, and counts its tokens', async () => {
    const { post } = createTestApp()
    const turn = [
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'ok' },
    ]
    const messages = [...Array.from({ length: 60 }, () => turn).flat(), turn[0]]

    const answer = await post(URL, { ...BODY, messages })
    const counted = await post(`${URL}/count_tokens`, { messages })

    expect(answer.statusCode).toBe(200)
    expect(counted.json()).toEqual({ input_tokens: answer.json().usage.input_tokens })
  })

  it('answers a prompt that is too long with both numbers', async () => {
    const engine = new ScriptedEngine(async function* () {
      const error = { code: 'context_length_exceeded', params: { given: 5000, max: 4096 } } as const
      yield { type: 'sequence-end', index: 0, finishReason: 'error', error }
    })

    const answer = await createTestApp({ engine }).post(URL, BODY)

    expect(answer.statusCode).toBe(400)
    expect(answer.json().error).toEqual({
      type: 'invalid_request_error',
      message: 'prompt is too long: 5000 tokens > 4096 maximum',
    })
    expect(answer.json().detail).toBe(
      "This model's maximum context length is 4096 tokens, but the prompt is 5000 tokens long.",
    )
  })

  it.each([
    [
      'what it used cannot be recorded',
      { usageRecorder: { record: () => Promise.reject(new Error('no disk')) } },
    ],
    [
      'the engine fails',
      {
        engine: new ScriptedEngine(async function* () {
          yield sequenceStart()
          yield textDelta('a', [1])
          throw new Error('secret')
        }),
      },
    ],
  ])('ends a stream with one error and nothing behind it where %s', async (_, options) => {
    const answer = await createTestApp(options).post(URL, { ...BODY, stream: true })

    const requestId = String(answer.headers['request-id'])
    const message = `Internal server error. Request id: ${requestId}`
    const data = {
      type: 'error',
      error: { type: 'api_error', message },
      request_id: requestId,
      detail: message,
    }
    expect(answer.statusCode).toBe(200)
    expect(answer.body.endsWith(`event: error\ndata: ${JSON.stringify(data)}\n\n`)).toBe(true)
    expect(answer.body.match(/event: error/g)).toHaveLength(1)
    expect(answer.body).not.toMatch(/message_stop|message_delta|\[DONE\]|secret|no disk/)
  })

  it('pings in silences with an event', async () => {
    let ping = () => {}
    let goOn = () => {}
    const startSilenceTimer: StartSilenceTimer = (onSilence) => {
      ping = onSilence
      return { refresh: () => {}, stop: () => {} }
    }
    const silence = new Promise<void>((resolve) => (goOn = resolve))
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart()
      ping()
      goOn()
      await silence
      yield sequenceEnd()
    })

    const { body } = await createTestApp({ engine, startSilenceTimer }).post(URL, { ...BODY, stream: true })

    expect(body).toContain('event: ping\ndata: {"type":"ping"}\n\n')
    expect(body).not.toContain('[DONE]')
    expect(body.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')).toBe(true)
  })
})
