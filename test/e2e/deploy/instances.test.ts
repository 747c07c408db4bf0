/** Three instances of the built program on one PostgreSQL and one Redis, behind a proxy without sticky sessions. One is killed. */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, inject, it } from 'vitest'
import { HAPROXY, NGINX, POSTGRES_BIN, REDIS_SERVER } from '../../../tools/optional-programs.mjs'
import { createPostgresDatabase } from '../../support/databases/throw-away-postgres.ts'
import { startOwnRedis } from '../../support/databases/throw-away-redis.ts'
import { lengthOf } from '../../support/length-of.ts'
import { openSocket, postBytes } from '../../support/net/raw-http.ts'
import { secureFetch } from '../../support/net/tls-client.ts'
import { startHaproxy, startNginx } from '../../support/servers/balancers.ts'
import { call, type RunningServerProcess, startServer } from '../../support/servers/server-process.ts'

const ADMIN_KEY = 'admin-key-of-this-test'
const PROMPT = { prompt: 'abc', max_new_tokens: 3 }

const PROXIES = [
  { name: 'nginx', program: NGINX, start: startNginx },
  { name: 'HAProxy', program: HAPROXY, start: startHaproxy },
]
/** A short run tries one of them. */
const installed = PROXIES.filter(({ program }) => program !== null)
const tried = installed.slice(0, inject('isSoak') ? 2 : 1)
const isLeftOut = POSTGRES_BIN === null || REDIS_SERVER === null || tried.length === 0

/** Requests of one key in a minute. */
const LIMIT = 25

/** Of one key in a day, each of three tokens in and three out. */
const BUDGETED_REQUESTS = 10

/** The promise is of an idle machine, on which the soak runs. */
const RECOVERED_MS = lengthOf({ test: 30_000, soak: 3000 })

/** At once, on an empty database. */
async function startThree() {
  const url = await createPostgresDatabase()
  const redis = await startOwnRedis()
  const databases = ['--api-db', url, '--usage-db', url, '--redis', redis.url]
  const words = [...databases, '--admin-key', ADMIN_KEY, '--trusted-proxies', '127.0.0.1']
  const [one, two, three] = await Promise.all([startServer(words), startServer(words), startServer(words)])
  return { one, two, three, redis }
}

interface Key {
  readonly id: string
  readonly key: string
}

async function createKey(server: RunningServerProcess, query: string): Promise<Key> {
  const answer = await call(server, `POST /v1/admin/keys?${query}`, { secret: ADMIN_KEY })
  return (await answer.json()) as Key
}

async function countUsage(server: RunningServerProcess, { id }: Key): Promise<number> {
  const answer = await call(server, `GET /v1/admin/keys/${id}/usage`, { secret: ADMIN_KEY })
  return ((await answer.json()) as { requests: number }).requests
}

const statusOf = async (server: RunningServerProcess, route: string) => (await call(server, route)).status

/** A request that holds a permit, as its body never ends; once more where another took the permit first. */
async function holdPermit(server: RunningServerProcess, key: Key): Promise<void> {
  const socket = await openSocket(Number(new URL(server.address).port))
  socket.once('data', () => {
    socket.destroy()
    void holdPermit(server, key)
  })
  socket.write(postBytes('/v1/generate', { prompt: 'a'.repeat(100) }, key.key).slice(0, -50))
}

interface Sent {
  readonly key: Key
  readonly beganMs: number
  readonly endedMs: number
  /** 0 where the connection broke. */
  readonly status: number
}

/** Sends requests through the proxy, and keeps what came of them. */
function startLoad(port: number) {
  const sent: Sent[] = []
  const loading = new AbortController()
  const send = async (key: Key): Promise<number> => {
    const beganMs = performance.now()
    const call_ = { port, path: '/v1/generate', secret: key.key, body: PROMPT }
    const { status } = await secureFetch(call_).catch(() => ({ status: 0 }))
    sent.push({ key, beganMs, endedMs: performance.now(), status })
    return status
  }
  const repeat = async (key: Key, pauseMs: number) => {
    while (!loading.signal.aborted) {
      await send(key)
      await pause(pauseMs)
    }
  }
  const loops: Promise<void>[] = []
  return {
    send,
    begin: (key: Key, count: number) => {
      for (let loop = 0; loop < count; loop++) loops.push(repeat(key, 5))
    },
    hasBeenRefused: (key: Key) => count(sent, key, (status) => status === 429) > 0,
    end: async (): Promise<readonly Sent[]> => {
      loading.abort()
      await Promise.all(loops)
      return sent
    },
  }
}

const count = (sent: readonly Sent[], key: Key, isCounted: (status: number) => boolean) =>
  sent.filter((one) => one.key === key && isCounted(one.status)).length

describe.skipIf(isLeftOut)('three instances', () => {
  it.each(isLeftOut ? PROXIES : tried)(
    'behind $name keep limits and usage exact while one is killed',
    async ({ start }) => {
      const { one, two, three, redis } = await startThree()
      const { port } = await start([one.address, two.address, three.address])
      const limited = await createKey(one, `tier=enterprise&rate_limit_rpm=${LIMIT}`)
      const free = await createKey(two, 'tier=enterprise')
      const pro = await createKey(three, 'tier=pro')
      const budgeted = await createKey(three, `tier=enterprise&daily_token_budget=${BUDGETED_REQUESTS * 6}`)
      for (const holder of [one, one, two, two, three]) await holdPermit(holder, pro)
      const load = startLoad(port)
      await expect.poll(() => load.send(pro)).toBe(429)

      load.begin(free, 6)
      load.begin(limited, 2)
      load.begin(budgeted, 1)
      await pause(lengthOf({ test: 300, soak: 10_000 }))
      one.child.kill('SIGKILL')
      await one.ended
      const killedMs = performance.now()
      await expect.poll(() => load.send(pro), { interval: 20 }).toBe(200)
      expect(performance.now() - killedMs).toBeLessThan(RECOVERED_MS)
      // Two of the five permits have returned, and no third.
      await holdPermit(two, pro)
      await holdPermit(three, pro)
      await expect.poll(() => load.send(pro)).toBe(429)
      await pause(lengthOf({ test: 0, soak: 30_000 }))
      await expect.poll(() => load.hasBeenRefused(limited)).toBe(true)
      await expect.poll(() => load.hasBeenRefused(budgeted)).toBe(true)
      const sent = await load.end()

      const failed = sent.filter(({ status }) => status !== 200 && status !== 429)
      expect(failed.filter(({ beganMs }) => beganMs > killedMs)).toEqual([])
      const failedOfBudgeted = failed.filter(({ key }) => key === budgeted).length
      expect(failedOfBudgeted).toBeLessThanOrEqual(1)
      expect(failed.length - failedOfBudgeted).toBeLessThanOrEqual(9)
      const firstAfter = sent.find(
        ({ key, beganMs, status }) => key === free && beganMs > killedMs && status === 200,
      )
      expect((firstAfter?.endedMs ?? Infinity) - killedMs).toBeLessThan(RECOVERED_MS)
      for (const key of [limited, free, budgeted]) {
        const answered = count(sent, key, (status) => status === 200)
        const mayCount = count(sent, key, (status) => status !== 429)
        const recorded = await countUsage(two, key)
        expect(recorded).toBeGreaterThanOrEqual(answered)
        expect(recorded).toBeLessThanOrEqual(mayCount)
        expect(await countUsage(three, key)).toBe(recorded)
      }
      // All within one minute: exactly the limit, some of it taken along by the killed one.
      const answered = count(sent, limited, (status) => status === 200)
      expect(answered).toBeLessThanOrEqual(LIMIT)
      expect(count(sent, limited, (status) => status !== 429)).toBeGreaterThanOrEqual(LIMIT)

      // Answered by all of them in turn; what the killed one had on record and told nobody is read within seconds.
      const spent = await countUsage(three, budgeted)
      expect(spent).toBeGreaterThanOrEqual(BUDGETED_REQUESTS)
      expect(spent).toBeLessThanOrEqual(BUDGETED_REQUESTS + 2)

      await redis.kill()
      const refused = await call(two, 'POST /v1/generate', { secret: free.key, body: PROMPT })
      expect([refused.status, refused.headers.get('x-error-code')]).toEqual([503, 'limits_unavailable'])
      expect(await statusOf(two, 'GET /v1/ready')).toBe(503)
      expect(await statusOf(two, 'GET /v1/health')).toBe(200)
      // The operator gets in, and sees it.
      expect(await (await call(two, 'GET /metrics', { secret: ADMIN_KEY })).text()).toContain(
        'sluice_redis_up 0',
      )
      await redis.start()
      await expect.poll(() => statusOf(two, 'GET /v1/ready')).toBe(200)
    },
  )
})
