/** Accounts, keys, limits and usage of the built program: races, and what a killed server has on record. */
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { systemClock } from '../../src/core/clock.ts'
import { openUsageDatabase } from '../../src/storage/usage-database.ts'
import { SqliteUsageStore } from '../../src/storage/sqlite/sqlite-usage-store.ts'
import {
  call,
  KEY,
  post,
  type RunningServerProcess,
  startServer,
  temporaryFolder,
} from '../support/servers/server-process.ts'
import { lengthOf } from '../support/length-of.ts'
import { shared } from '../support/shared.ts'
import { until } from '../support/until.ts'

const ADMIN_KEY = 'admin-key-of-this-test'
const PASSWORD = 'correct horse'

const startAdminServer = (words: readonly string[] = []) => startServer(['--admin-key', ADMIN_KEY, ...words])

async function register(server: RunningServerProcess, email: string): Promise<string> {
  const answer = await call(server, 'POST /v1/auth/register', { body: { email, password: PASSWORD } })
  return ((await answer.json()) as { api_key: string }).api_key
}

async function createKey(server: RunningServerProcess, query = ''): Promise<{ id: string; key: string }> {
  const answer = await call(server, `POST /v1/admin/keys${query}`, { secret: ADMIN_KEY })
  return (await answer.json()) as { id: string; key: string }
}

async function read(server: RunningServerProcess, route: string, secret: string) {
  return (await (await call(server, route, { secret })).json()) as Record<string, unknown>
}

/** How often each status was answered to `count` requests that are sent at once. */
async function statusesOf(
  count: number,
  send: (index: number) => Promise<Response>,
): Promise<Record<number, number>> {
  const counts: Record<number, number> = {}
  await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      const answer = await send(index)
      await answer.arrayBuffer()
      counts[answer.status] = (counts[answer.status] ?? 0) + 1
    }),
  )
  return counts
}

const AT_ONCE = lengthOf({ test: 100, soak: 200 })
/** Each costs the hash of a password. */
const REGISTRATIONS = lengthOf({ test: 16, soak: 50 })

describe('requests at once', () => {
  const adminServer = shared(() => startAdminServer())

  it(`${AT_ONCE} at a limit of 60 pass exactly 60, and as many are on record`, async () => {
    const server = adminServer()
    const reader = await register(server, 'ada@example.org')
    const writer = await createKey(server, '?tier=enterprise')
    await call(server, `PATCH /v1/admin/keys/${writer.id}?rate_limit_rpm=60`, { secret: ADMIN_KEY })

    const [reads, generations] = await Promise.all([
      statusesOf(AT_ONCE, () => call(server, 'GET /v1/usage', { secret: reader })),
      statusesOf(AT_ONCE, () =>
        call(server, 'POST /v1/generate', { secret: writer.key, body: { prompt: 'a' } }),
      ),
    ])

    expect(reads).toEqual({ 200: 60, 429: AT_ONCE - 60 })
    expect(generations).toEqual({ 200: 60, 429: AT_ONCE - 60 })
    const usage = await read(server, `GET /v1/admin/keys/${writer.id}/usage`, ADMIN_KEY)
    expect(usage['requests']).toBe(60)
  })

  it('20 that make a key where one may be made make one', async () => {
    const server = adminServer()
    const key = await register(server, 'bob@example.org')

    const statuses = await statusesOf(20, () => call(server, 'POST /v1/keys', { secret: key, body: {} }))

    expect(statuses).toEqual({ 200: 1, 409: 19 })
    expect((await read(server, 'GET /v1/keys', key))['keys']).toHaveLength(2)
  })

  it(`${REGISTRATIONS} that register one e-mail make one account with one key`, async () => {
    const server = adminServer()
    const count = async (what: string) =>
      Number((await read(server, `GET /v1/admin/${what}`, ADMIN_KEY))['count'])
    const before = [await count('users'), await count('keys')]

    const statuses = await statusesOf(REGISTRATIONS, (index) =>
      call(server, 'POST /v1/auth/register', {
        body: { email: index % 2 === 0 ? 'ann@example.org' : ' Ann@Example.ORG', password: PASSWORD },
      }),
    )

    expect(statuses).toEqual({ 200: 1, 409: REGISTRATIONS - 1 })
    expect([await count('users'), await count('keys')]).toEqual(before.map((number) => number + 1))
    const login = await call(server, 'POST /v1/auth/login', {
      body: { email: 'ANN@example.org', password: PASSWORD },
    })
    expect(login.status).toBe(200)
  })

  it('never pass a key after the answer that it is revoked', async () => {
    const server = adminServer()

    for (let round = 0; round < 10; round++) {
      const { id, key } = await createKey(server, '?tier=enterprise')
      // On connections of their own, so that none of them waits for the one that revokes.
      const before = statusesOf(10, () => call(server, 'GET /v1/keys', { secret: key }))
      await call(server, `DELETE /v1/admin/keys/${id}`, { secret: ADMIN_KEY })
      const after = await statusesOf(10, () => call(server, 'GET /v1/keys', { secret: key }))

      expect(after).toEqual({ 401: 10 })
      expect(Object.keys(await before).filter((status) => !['200', '401'].includes(status))).toEqual([])
    }
  })
})

const LOAD = [
  ['/v1/generate', { prompt: 'abc' }],
  ['/v1/generate/stream', { prompt: 'abc' }],
  ['/v1/generate/batch', { prompts: ['a', 'b'] }],
  ['/v1/generate/continuous-batch', { prompts: ['a', 'b'] }],
  ['/v1/chat/completions', { messages: [{ role: 'user', content: 'abc' }] }],
] as const

interface Load {
  readonly started: Map<string, number>
  readonly answered: Map<string, number>
}

const add = (counts: Map<string, number>, route: string) => counts.set(route, (counts.get(route) ?? 0) + 1)

/** One request after the other until the server is gone; an answer counts when its last byte is here. */
async function sendForever(server: RunningServerProcess, { started, answered }: Load, first: number) {
  for (let index = first; ; index++) {
    const [route, body] = LOAD[index % LOAD.length] ?? LOAD[0]
    add(started, route)
    try {
      await (await post(server, route, { body })).arrayBuffer()
    } catch {
      return
    }
    add(answered, route)
  }
}

const total = (counts: ReadonlyMap<string, number>) =>
  [...counts.values()].reduce((sum, count) => sum + count, 0)

/** How many requests are answered before the server is killed. */
const ANSWERS = lengthOf({ test: 200, soak: 5000 })

describe('kill -9 of the server during load', () => {
  const killed = shared(async () => {
    const folder = temporaryFolder()
    const usageDb = path.join(folder, 'usage.db')
    const words = ['--api-db', path.join(folder, 'api.db'), '--usage-db', usageDb]
    const server = await startAdminServer(words)
    const key = await register(server, 'ann@example.org')
    const load: Load = { started: new Map(), answered: new Map() }
    for (let index = 0; index < 3; index++) {
      add(load.started, '/v1/generate')
      await (await call(server, 'POST /v1/generate', { secret: key, body: { prompt: 'ab' } })).arrayBuffer()
      add(load.answered, '/v1/generate')
    }
    const senders = Array.from({ length: 16 }, (_, index) => sendForever(server, load, index))
    await until('so many are answered', () => total(load.answered) > ANSWERS)
    server.child.kill('SIGKILL')
    await Promise.all([...senders, server.ended])
    return { words, usageDb, load, key }
  })

  it('loses no request that was answered', async () => {
    const { usageDb, load } = killed()

    const database = await openUsageDatabase(usageDb)
    const sums = await new SqliteUsageStore(database, systemClock).sumByPath({ scope: 'all', id: '' }, null)
    const rows = await database.selectFrom('usage_rows').select(['path', 'status', 'tokens_out']).execute()
    await database.destroy()
    for (const [route, answered] of load.answered) {
      const recorded = rows.filter((row) => row.path === route)
      expect(recorded.length, route).toBeGreaterThanOrEqual(answered)
      expect(recorded.length, route).toBeLessThanOrEqual(load.started.get(route) ?? 0)
      expect(sums.get(route)?.requests, route).toBe(recorded.length)
    }
    expect(rows.every(({ status }) => status === 200)).toBe(true)
    expect(rows.length).toBeGreaterThanOrEqual(total(load.answered))
  })

  it('is followed by a server that goes on with the same numbers', async () => {
    const { words, key } = killed()

    const second = await startAdminServer(words)

    expect(await read(second, 'GET /v1/usage', key)).toMatchObject({
      requests: 3,
      tokens_in: 6,
      tokens_out: 6,
    })
    expect(await read(second, 'GET /v1/admin/users', ADMIN_KEY)).toMatchObject({ count: 1 })
    const login = await call(second, 'POST /v1/auth/login', {
      body: { email: 'ann@example.org', password: PASSWORD },
    })
    expect(login.status).toBe(200)
    expect((await call(second, 'GET /v1/keys', { secret: KEY })).status).toBe(200)
  })
})
