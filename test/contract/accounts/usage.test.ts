/** What generation requests leave on record: one row each, with what was used, before the answer is complete. */
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import { createAccountsApp } from '../../support/servers/accounts-app.ts'
import {
  type Script,
  ScriptedEngine,
  sequenceEnd,
  sequenceStart,
  textDelta,
  piecesOf,
} from '../../support/engines/scripted-engine.ts'
import { createTestApp, KEY } from '../../support/servers/test-app.ts'
import { shared } from '../../support/shared.ts'

const MESSAGES = { messages: [{ role: 'user', content: 'abc' }] }

const REQUESTS = [
  ['/v1/generate', { prompt: 'abc' }, 3],
  ['/v1/generate/stream', { prompt: 'abc' }, 3],
  ['/v1/generate/batch', { prompts: ['ab', 'c', ''] }, 3],
  ['/v1/generate/continuous-batch', { prompts: ['a', 'b', 'c'] }, 3],
  ['/v1/chat/completions', MESSAGES, 3],
  ['/v1/chat/completions', { ...MESSAGES, stream: true }, 3],
  ['/v1/responses', { input: 'abc' }, 3],
  ['/v1/responses', { input: 'abc', stream: true }, 3],
  ['/v1/messages', { ...MESSAGES, max_tokens: 16 }, 3],
  ['/v1/messages', { ...MESSAGES, max_tokens: 16, stream: true }, 3],
] as const

const SUMMARY = { requests: 0, tokens_in: 0, tokens_out: 0, avg_response_ms: 0 }

/** One server for many requests, of which each sees the rows that it leaves. */
function shareApp(script?: Script) {
  const app = shared(() => createTestApp({ ...(script && { engine: new ScriptedEngine(script) }) }))
  return async (path: string, body: object) => {
    const { post, usage } = app()
    const before = usage.length
    const { statusCode } = await post(path, body)
    return { statusCode, usage: usage.slice(before) }
  }
}

const postPlainly = shareApp()
const postRefused = {
  queue_full: shareApp(async function* () {
    yield* []
    throw new ServiceError('queue_full')
  }),
  context_length_exceeded: shareApp(async function* () {
    yield* []
    throw new ServiceError('context_length_exceeded')
  }),
}
const postFailed = shareApp(async function* () {
  yield sequenceStart()
  yield textDelta('first', [1])
  throw new ServiceError('engine_failed')
})

describe.each(REQUESTS)('POST %s %j', (path, body, tokens) => {
  it('leaves one row with all its tokens, under its key and account', async () => {
    const { statusCode, usage } = await postPlainly(path, body)

    expect(statusCode).toBe(200)
    expect(usage).toEqual([
      {
        keyId: expect.stringMatching(/^static-/),
        accountId: 'operator',
        teamId: null,
        model: 'default',
        path,
        status: 200,
        tokensIn: tokens,
        tokensOut: tokens,
        responseMs: 0,
      },
    ])
  })

  it('counts the time from its arrival to its end', async () => {
    const app = createTestApp({
      engine: new ScriptedEngine(async function* ({ prompts }) {
        for (const index of prompts.keys()) {
          yield sequenceStart(index)
          app.clock.advance(250)
          yield textDelta('ok', [1], index)
          yield sequenceEnd('stop', index)
        }
      }),
    })

    await app.post(path, body)

    const prompts = 'prompts' in body ? body.prompts.length : 1
    expect(app.usage).toMatchObject([{ responseMs: 250 * prompts }])
  })

  it.each([
    ['a field is wrong', { ...body, temperature: 99 }, 400],
    ['there is no such model', { ...body, model: 'no' }, 404],
  ])('leaves none when %s', async (_, wrong, status) => {
    expect(await postPlainly(path, wrong)).toEqual({ statusCode: status, usage: [] })
  })

  it.each([
    ['queue_full', 429],
    ['context_length_exceeded', 400],
  ] as const)('leaves none when the engine refuses it: %s', async (code, status) => {
    expect(await postRefused[code](path, body)).toEqual({ statusCode: status, usage: [] })
  })
})

it('a batch of which every prompt is refused leaves no row', async () => {
  const engine = new ScriptedEngine(async function* ({ prompts }) {
    for (const index of prompts.keys())
      yield {
        type: 'sequence-end',
        index,
        finishReason: 'error',
        error: { code: 'prompt_empty', params: {} },
      }
  })
  const { post, usage } = createTestApp({ engine })
  const body = { prompts: ['', ''] }

  expect((await post('/v1/generate/batch', body)).statusCode).toBe(200)
  expect(usage).toEqual([])
})

describe('a request that an engine fails', () => {
  it.each(REQUESTS.filter(([path]) => !path.includes('batch')))(
    'leaves a row with what was made so far: %s %j',
    async (path, body) => {
      const { usage } = await postFailed(path, body)

      expect(usage).toMatchObject([{ path, status: 500, tokensIn: 2, tokensOut: 1 }])
    },
  )

  it('leaves a row when one prompt of a batch is lost', async () => {
    const engine = new ScriptedEngine(async function* ({ prompts }) {
      if (piecesOf(prompts[0])[0] === 'bad') throw new ServiceError('engine_failed')
      yield sequenceStart()
      yield textDelta('ok', [1])
      yield sequenceEnd()
    })
    const { post, usage } = createTestApp({ engine })

    const answer = await post('/v1/generate/continuous-batch', { prompts: ['good', 'bad'] })

    expect(answer.statusCode).toBe(200)
    expect(usage).toMatchObject([{ status: 200, tokensIn: 2, tokensOut: 1 }])
  })
})

describe('what is not generation', () => {
  it('leaves no row, with a key or without', async () => {
    const { app, as, admin, register } = await createAccountsApp()
    const { key } = await register()

    await as(key, 'GET', '/v1/keys')
    await as(key, 'GET', '/v1/models')
    await as(key, 'GET', '/v1/usage')
    await as('wrong', 'POST', '/v1/generate', { prompt: 'a' })
    await app.inject({ method: 'POST', url: '/v1/generate', payload: { prompt: 'a' } })

    expect((await admin('GET', '/v1/admin/usage')).json()).toEqual({ ...SUMMARY, by_endpoint: {} })
  })
})

describe('the summaries', () => {
  it('are of an account over all its keys, its sessions and what is revoked; of a key over itself; of all', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register('ann@example.org')
    const second = (await world.as(key, 'POST', '/v1/keys', {})).json<{ key: string; id: string }>()
    const other = await world.register()

    await world.as(key, 'POST', '/v1/generate', { prompt: 'a' })
    await world.as(second.key, 'POST', '/v1/generate', { prompt: 'bb' })
    await world.as(second.key, 'POST', '/v1/generate/batch', { prompts: ['cc', 'cc'] })
    await world.as(await world.login('ann@example.org'), 'POST', '/v1/generate', { prompt: 'dddddddd' })
    await world.as(other.key, 'POST', '/v1/generate', { prompt: 'x'.repeat(16) })
    await world.as(KEY, 'POST', '/v1/generate', { prompt: 'y'.repeat(32) })
    await world.as(key, 'DELETE', `/v1/keys/${second.id}`)

    const summary = (requests: number, tokens: number) => ({
      requests,
      tokens_in: tokens,
      tokens_out: tokens,
      avg_response_ms: 0,
    })
    const of = async (secret: string) => (await world.as(secret, 'GET', '/v1/usage')).json()
    expect(await of(key)).toEqual(summary(4, 15))
    expect(await of(other.key)).toEqual(summary(1, 16))
    expect(await of(KEY)).toEqual(summary(1, 32))
    expect((await world.admin('GET', `/v1/admin/keys/${second.id}/usage`)).json()).toEqual({
      ...summary(2, 6),
      by_endpoint: {
        '/v1/generate': { count: 1, avg_ms: 0 },
        '/v1/generate/batch': { count: 1, avg_ms: 0 },
      },
    })
    const total = (await world.admin('GET', '/v1/admin/usage')).json()
    expect(total).toMatchObject({ ...summary(6, 63), by_endpoint: { '/v1/generate': { count: 5 } } })
  })

  it('average over the requests of each endpoint', async () => {
    let ms = 0
    const engine = new ScriptedEngine(async function* () {
      world.clock.advance((ms += 100))
      yield sequenceStart()
      yield sequenceEnd()
    })
    const world = await createAccountsApp({ engine })
    const robot = (await world.admin('POST', '/v1/admin/keys')).json<{ id: string; key: string }>()

    await world.as(robot.key, 'POST', '/v1/generate', { prompt: 'a' })
    await world.as(robot.key, 'POST', '/v1/generate', { prompt: 'a' })
    await world.as(robot.key, 'POST', '/v1/chat/completions', MESSAGES)

    expect((await world.admin('GET', `/v1/admin/keys/${robot.id}/usage`)).json()).toMatchObject({
      avg_response_ms: 200,
      by_endpoint: {
        '/v1/generate': { count: 2, avg_ms: 150 },
        '/v1/chat/completions': { count: 1, avg_ms: 300 },
      },
    })
  })

  it('begin with `since`, inclusive', async () => {
    const { call, post, clock } = await createAccountsApp()
    await post('/v1/generate', { prompt: 'a' })
    const first = clock.unixSeconds()
    clock.advance(90_000.5)
    await post('/v1/generate', { prompt: 'a' })
    const second = clock.unixSeconds()

    const requests = async (since: number) => (await call(`/v1/usage?since=${since}`)).json().requests

    expect(await requests(0)).toBe(2)
    expect(await requests(first)).toBe(2)
    expect(await requests(first + 0.001)).toBe(1)
    expect(await requests(second)).toBe(1)
    expect(await requests(second + 0.001)).toBe(0)
  })
})
