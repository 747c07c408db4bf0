/** Generation requests at once: a place is held from admission to the last byte, or until the client leaves and its work ends. */
import { Agent, request as httpRequest, type ServerResponse } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ServiceError } from '../../../src/core/errors.ts'
import type { EngineRequest } from '../../../src/protocol/engine.ts'
import { type AccountsApp, createAccountsApp } from '../../support/servers/accounts-app.ts'
import { createCounter, createObservedEngine, queueForever } from '../../support/engines/observed-engine.ts'
import { openSocket, postBytes } from '../../support/net/raw-http.ts'
import { shared } from '../../support/shared.ts'
import {
  hang,
  sayOk,
  type Script,
  ScriptedEngine,
  sequenceStart,
  textDelta,
  piecesOf,
} from '../../support/engines/scripted-engine.ts'

const MESSAGES = { messages: [{ role: 'user', content: 'a' }] }

const REQUESTS = [
  ['/v1/generate', { prompt: 'a' }],
  ['/v1/generate/stream', { prompt: 'a' }],
  ['/v1/generate/batch', { prompts: ['a', 'b', 'c'] }],
  ['/v1/generate/continuous-batch', { prompts: ['a', 'b', 'c'] }],
  ['/v1/chat/completions', MESSAGES],
  ['/v1/chat/completions', { ...MESSAGES, stream: true }],
  ['/v1/responses', { input: 'a' }],
  ['/v1/responses', { input: 'a', stream: true }],
  ['/v1/messages', { ...MESSAGES, max_tokens: 16 }],
  ['/v1/messages', { ...MESSAGES, max_tokens: 16, stream: true }],
] as const

/** A free key may run one request at a time. */
async function createFreeKey(script: Script) {
  const observed = createObservedEngine(script)
  const world = await createAccountsApp({ engine: observed.engine })
  const { key } = await world.register()
  const open = async (url: string, body: object) => {
    const socket = await openSocket(await port)
    socket.write(postBytes(url, body, key))
    return socket
  }
  const port = world.listen()
  return { ...observed, world, key, open }
}

/** Hangs for the prompts `a`, `b` and `c`, and says ok to others. */
const hangForSome: Script = (request: EngineRequest, signal) =>
  /^[abc]$/.test(String(piecesOf(request.prompts[0])[0])) ? hang(request, signal) : sayOk(request)

const oneMore = ({ as }: AccountsApp, key: string) => as(key, 'POST', '/v1/generate', { prompt: 'more' })

// Of one server each, where every test has a key of its own.
const passthrough = shared(() => createAccountsApp())
const failing = {
  'before it starts': shared(() =>
    createAccountsApp({
      engine: new ScriptedEngine(async function* () {
        yield* []
        throw new ServiceError('engine_failed')
      }),
    }),
  ),
  'after the first token': shared(() =>
    createAccountsApp({
      engine: new ScriptedEngine(async function* () {
        yield sequenceStart()
        yield textDelta('first', [1])
        throw new ServiceError('engine_failed')
      }),
    }),
  ),
}

describe.each(REQUESTS)('POST %s %j', (url, body) => {
  it('takes the one place of a free key until its client leaves; the refused one counts nowhere', async () => {
    const { world, key, started, open } = await createFreeKey(hangForSome)
    const socket = await open(url, body)
    await started.reaches(1)

    const refused = await oneMore(world, key)

    expect(refused.statusCode).toBe(429)
    expect(refused.headers).toMatchObject({
      'x-error-code': 'concurrency_limit_exceeded',
      'retry-after': '1',
      'x-ratelimit-limit-requests': '60',
      'x-ratelimit-remaining-requests': '59',
    })
    // A client that finds one waits for it.
    expect(refused.headers).not.toHaveProperty('x-ratelimit-reset-requests')
    expect(refused.json()).toEqual({
      detail:
        'The limit of concurrent requests is 1, and the number running is 1; try again when one has ended.',
    })
    const other = await world.as(key, 'GET', '/v1/usage')
    expect(other.statusCode).toBe(200)
    expect(other.headers['x-ratelimit-remaining-requests']).toBe('58')
    socket.destroy()
    await expect.poll(async () => (await oneMore(world, key)).statusCode).toBe(200)
    world.shared.checkIntegrity()
  })

  it('takes it while it waits in the queue, too', async () => {
    const { world, key, started, aborted, open } = await createFreeKey(queueForever)
    const queued = url.includes('continuous') ? 3 : 1
    const socket = await open(url, body)
    await started.reaches(queued)

    expect((await oneMore(world, key)).statusCode).toBe(429)
    socket.destroy()
    await aborted.reaches(queued)

    // A supervisor hears of a free place a moment later; all but the first are refused.
    const startAgain = async () => {
      await open(url, body)
      return started.count
    }
    await expect.poll(startAgain).toBe(2 * queued)
  })

  it.each([
    ['a field that is wrong', 400, { ...body, temperature: 99 }],
    ['a model that there is not', 404, { ...body, model: 'none' }],
  ])('gives it back after %s', async (_, status, wrong) => {
    const world = passthrough()
    const { key } = await world.register()

    for (let index = 0; index < 3; index++) {
      expect((await world.as(key, 'POST', url, wrong)).statusCode).toBe(status)
    }
    expect((await oneMore(world, key)).statusCode).toBe(200)
  })

  it.each(Object.entries(failing))('gives it back after the engine fails %s', async (_, worldOf) => {
    const world = worldOf()
    const { key } = await world.register()

    for (let index = 0; index < 3; index++) {
      expect((await world.as(key, 'POST', url, body)).headers['x-error-code']).not.toBe(
        'concurrency_limit_exceeded',
      )
    }
    world.shared.checkIntegrity()
  })
})

it.each([
  ['a field that is wrong', '{"prompt":"a","temperature":99}'],
  ['what is no JSON', '{"prompt":'],
])('is given back before the answer to %s leaves: the client may ask again at once', async (_, body) => {
  const world = await createAccountsApp()
  const { key } = await world.register()
  const order: string[] = []
  const { requests } = world.shared
  const release = requests.release.bind(requests)
  requests.release = (permitId) => {
    order.push('given back')
    release(permitId)
  }
  const port = await world.listen()
  world.app.server.prependListener('request', (_request, response: ServerResponse) => {
    const writeHead = response.writeHead.bind(response)
    response.writeHead = ((...head: Parameters<typeof writeHead>) => {
      order.push('answered')
      return writeHead(...head)
    }) as typeof writeHead
  })

  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const answer = await fetch(`http://127.0.0.1:${port}/v1/generate`, { method: 'POST', headers, body })

  expect(answer.status).toBe(400)
  expect(order).toEqual(['given back', 'answered'])
})

it('the place of a client that left is taken until the engine has ended its work', async () => {
  const working = createCounter()
  const { world, key, started, aborted, open } = await createFreeKey(async function* (request, signal) {
    if (piecesOf(request.prompts[0])[0] !== 'a') return yield* sayOk(request)
    try {
      yield* hang(request, signal)
    } finally {
      await working.reaches(1)
    }
  })
  const socket = await open('/v1/generate', { prompt: 'a' })
  await started.reaches(1)

  socket.destroy()
  await aborted.reaches(1)

  expect((await oneMore(world, key)).headers['x-error-code']).toBe('concurrency_limit_exceeded')
  working.add()
  await expect.poll(async () => (await oneMore(world, key)).statusCode).toBe(200)
  world.shared.checkIntegrity()
})

describe('of twenty requests at the last place', () => {
  it('exactly one passes', async () => {
    const answered = createCounter()
    const { world, key } = await createFreeKey(async function* (request) {
      await answered.reaches(19)
      yield* sayOk(request)
    })

    const answers = await Promise.all(
      Array.from({ length: 20 }, async () => {
        const answer = await oneMore(world, key)
        answered.add()
        return answer
      }),
    )

    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
    expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(19)
  })
})

describe('the number of places', () => {
  it('is of each key alone, and of all sessions of an account together', async () => {
    const { world, key, started, open } = await createFreeKey(hangForSome)
    const second = (await world.as(key, 'POST', '/v1/keys', {})).json<{ key: string }>()
    await open('/v1/generate', { prompt: 'a' })
    await started.reaches(1)

    expect((await oneMore(world, second.key)).statusCode).toBe(200)

    await world.register('ann@example.org')
    const [one, two] = [await world.login('ann@example.org'), await world.login('ann@example.org')]
    const socket = await openSocket((world.app.server.address() as { port: number }).port)
    socket.write(postBytes('/v1/generate', { prompt: 'a' }, one))
    await started.reaches(3)
    expect((await oneMore(world, two)).statusCode).toBe(429)
  })

  it('follows a change of tier on the very next request', async () => {
    const { world, key, started, open } = await createFreeKey(hangForSome)
    const id = (await world.as(key, 'GET', '/v1/keys')).json().keys[0].id
    await open('/v1/generate', { prompt: 'a' })
    await started.reaches(1)

    expect((await oneMore(world, key)).statusCode).toBe(429)
    await world.admin('PATCH', `/v1/admin/keys/${id}?tier=pro`)
    expect((await oneMore(world, key)).statusCode).toBe(200)
    await world.admin('PATCH', `/v1/admin/keys/${id}?tier=free`)
    expect((await oneMore(world, key)).statusCode).toBe(429)
  })

  it('is not bound without authentication', async () => {
    const { engine, started } = createObservedEngine(hang)
    const world = await createAccountsApp({ engine, config: { authMode: 'none' } })
    const port = await world.listen()

    for (let index = 1; index <= 20; index++) {
      ;(await openSocket(port)).write(postBytes('/v1/generate', { prompt: 'a' }, 'nobody'))
    }

    await started.reaches(20)
  })
})

describe('a client that sends one request after the other on one connection', () => {
  /** Reads the answer to its last byte and only then resolves. */
  function send(agent: Agent, port: number, { url, body, key }: { url: string; body: object; key: string }) {
    return new Promise<{ status: number; length: number }>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
      const sent = httpRequest(
        { port, host: '127.0.0.1', path: url, method: 'POST', agent, headers },
        (answer) => {
          let length = 0
          answer.on('data', (chunk: Buffer) => void (length += chunk.length))
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, length }))
        },
      )
      sent.once('error', reject)
      sent.end(JSON.stringify(body))
    })
  }

  it('never meets its own request: small answers, large ones, streams and errors', async () => {
    const world = await createAccountsApp()
    const { key } = await world.register()
    const port = await world.listen()
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onTestFinished(() => agent.destroy())
    let connections = 0
    world.app.server.on('connection', () => connections++)
    const large = { prompts: Array.from({ length: 16 }, () => 'x'.repeat(2000)), max_new_tokens: 2000 }
    const kinds = [
      ['/v1/generate', { prompt: 'a' }, 200],
      ['/v1/generate/stream', { prompt: 'abc' }, 200],
      ['/v1/generate/batch', large, 200],
      ['/v1/chat/completions', { ...MESSAGES, stream: true }, 200],
      ['/v1/generate', { prompt: 7 }, 400],
      ['/v1/generate', { prompt: 'a', model: 'none' }, 404],
    ] as const

    const answers = []
    for (let round = 0; round < 8; round++) {
      for (const [url, body, status] of kinds) {
        answers.push({ status, answer: await send(agent, port, { url, body, key }) })
      }
    }

    expect(answers.map(({ answer }) => answer.status)).toEqual(answers.map(({ status }) => status))
    expect(Math.max(...answers.map(({ answer }) => answer.length))).toBeGreaterThan(150_000)
    expect(connections).toBe(1)
    world.shared.checkIntegrity()
  })
})
