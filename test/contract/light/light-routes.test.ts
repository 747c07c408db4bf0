/** What an embedder's routes get and how their answers go out; an engine's failures go the same way. */
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { ServiceError } from '../../../src/light.ts'
import { call, createTestLightServer } from '../../support/servers/light-server.ts'
import { ScriptedEngine, sequenceStart } from '../../support/engines/scripted-engine.ts'

async function* tokens() {
  yield 'token'
}

class Hidden {
  readonly #field = 1
  get field(): number {
    return this.#field
  }
}

describe('a route of the embedder', () => {
  it('gets what the request holds and answers with what it returns', async () => {
    const { server } = createTestLightServer()
    server.route('PATCH', '/users/{id}/{field}', async ({ params, query, headers, body, requestId }) => ({
      params,
      x: query.getAll('x'),
      header: headers['x-mine'],
      body,
      requestId,
    }))

    const answer = await call(server, '/users/a%2Fb/%C3%A9?x=1&x=2', {
      method: 'PATCH',
      headers: { 'x-mine': 'yes', 'x-request-id': 'r-1' },
      payload: { name: 'ключ' },
    })

    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      params: { id: 'a/b', field: 'é' },
      x: ['1', '2'],
      header: 'yes',
      body: { name: 'ключ' },
      requestId: 'r-1',
    })
    expect(answer.headers['x-request-id']).toBe('r-1')
  })

  it.each([
    [undefined, null],
    [null, null],
    ['text', 'text'],
    [0, 0],
    [[1], [1]],
    [new Date(0), '1970-01-01T00:00:00.000Z'],
    [{}, {}],
    [Object.create(null), {}],
    [runInNewContext('({})'), {}],
    [
      new (class {
        readonly left = undefined
      })(),
      {},
    ],
  ])('that returns %j answers %j', async (value, json) => {
    const { server } = createTestLightServer()
    server.route('GET', '/value', () => value)

    expect((await call(server, '/value')).json).toEqual(json)
  })

  it.each([
    ['a function', () => {}, 'a function'],
    ['a symbol', Symbol('s'), 'a symbol'],
    ['bytes', new Uint8Array(1), 'a stream or bytes'],
    ['a Response', new Response('text'), 'a Response, a Request or a Blob'],
    ['a Map', new Map([['a', 1]]), 'a Map or a Set'],
    ['an Error', new Error('of the application'), 'an Error'],
    ['an async generator', tokens(), 'an object of AsyncGenerator, whose JSON is {}'],
    ['an ArrayBuffer', new ArrayBuffer(1), 'an object of ArrayBuffer, whose JSON is {}'],
    ['headers', new Headers({ a: 'b' }), 'an object of Headers, whose JSON is {}'],
    ['an object that hides its fields', new Hidden(), 'an object of Hidden, whose JSON is {}'],
  ])('that returns %s fails, and says so to the application', async (_, value, named) => {
    const { server, failures } = createTestLightServer()
    server.route('GET', '/value', () => value)

    expect(await call(server, '/value')).toMatchObject({ status: 500 })
    expect(failures.map(([error]) => String(error))).toEqual([
      `TypeError: A route returned ${named}; what it returns is sent as JSON.`,
    ])
  })

  it('that returns what says itself how it is JSON is sent so', async () => {
    class Said extends Error {
      toJSON(): unknown {
        return { said: this.message }
      }
    }
    const { server } = createTestLightServer()
    server.route('GET', '/value', () => new Said('yes'))

    expect((await call(server, '/value')).json).toEqual({ said: 'yes' })
  })

  it('without a handler is refused in one sentence', () => {
    const { server } = createTestLightServer()
    const handler = null as unknown as () => null
    expect(() => server.route('GET', '/value', handler)).toThrow(
      'The handler of the route GET /value must be a function.',
    )
  })

  it('without a body gets none, and a GET never gets one', async () => {
    const { server } = createTestLightServer()
    const bodies: unknown[] = []
    server.route('POST', '/', ({ body }) => void bodies.push(body))
    server.route('DELETE', '/', ({ body }) => void bodies.push(body))

    await call(server, '/', { method: 'POST' })
    await call(server, '/', { method: 'DELETE', payload: { ignored: true } })

    expect(bodies).toEqual([undefined, undefined])
  })

  it('may throw a ServiceError, which is its answer', async () => {
    const { server, failures } = createTestLightServer()
    server.route('GET', '/odd', () => {
      throw new ServiceError('invalid_request', { message: 'Not on Sundays.' })
    })

    const answer = await call(server, '/odd')

    expect(answer).toMatchObject({ status: 400, json: { detail: 'Not on Sundays.' } })
    expect(answer.headers['x-error-code']).toBe('invalid_request')
    expect(failures).toEqual([])
  })

  it.each([
    [
      'throws',
      () => {
        throw new TypeError('secret detail')
      },
    ],
    ['rejects', () => Promise.reject(new TypeError('secret detail'))],
    ['returns what JSON cannot hold', () => 1n],
  ])('that %s is a 500 with fixed text, and its cause is reported', async (_, handler) => {
    const { server, failures } = createTestLightServer()
    server.route('GET', '/broken', handler)

    const answer = await call(server, '/broken', { headers: { 'x-request-id': 'r-1' } })

    expect(answer.status).toBe(500)
    expect(answer.json).toEqual({ detail: 'Internal server error. Request id: r-1' })
    expect(failures).toEqual([[expect.any(TypeError), 'r-1']])
  })

  it('cannot take the place of an endpoint', () => {
    const { server } = createTestLightServer()

    expect(() => server.route('POST', '/v1/generate', () => null)).toThrow(
      'There is already a route POST /v1/generate.',
    )
  })
})

describe('an engine that fails', () => {
  const failWith = (error: unknown) =>
    new ScriptedEngine(async function* () {
      yield sequenceStart()
      throw error
    })

  it('passes on a full queue', async () => {
    const error = new ServiceError('queue_full', { waiting: 9, max: 9 }, { retryAfterSeconds: 3 })
    const { server } = createTestLightServer({ engine: failWith(error) })

    const answer = await call(server, '/v1/generate', { payload: { prompt: 'a' } })

    expect(answer.status).toBe(429)
    expect(answer.headers).toMatchObject({ 'x-error-code': 'queue_full', 'retry-after': '3' })
  })

  it('shows nothing of an unknown failure', async () => {
    const error = new Error('secret detail')
    const { server, failures } = createTestLightServer({ engine: failWith(error) })

    const answer = await call(server, '/v1/generate', { payload: { prompt: 'a' } })

    expect(answer.status).toBe(500)
    expect(answer.text).not.toContain('secret')
    expect(failures).toEqual([[error, answer.headers['x-request-id']]])
  })

  it('answers a prompt that it refuses', async () => {
    const engine = new ScriptedEngine(async function* () {
      const error = { code: 'context_length_exceeded', params: { given: 5000, max: 4096 } } as const
      yield { type: 'sequence-end', index: 0, finishReason: 'error', error }
    })
    const { server } = createTestLightServer({ engine })

    const answer = await call(server, '/v1/generate', { payload: { prompt: 'a' } })

    expect(answer.status).toBe(400)
    expect(answer.json.detail).toMatch(/maximum context length is 4096 tokens.*5000/)
  })

  it('is a 500 when a sequence never ends', async () => {
    const engine = new ScriptedEngine(async function* () {
      yield sequenceStart()
    })
    const { server } = createTestLightServer({ engine })

    expect((await call(server, '/v1/generate', { payload: { prompt: 'a' } })).status).toBe(500)
  })
})
