/** What several instances have of Redis, on its own clock; and what they do without it. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { QUIET_LOG } from '../../../test/support/databases/injected-database.ts'
import { sharedRedis, startOwnRedis } from '../../../test/support/databases/throw-away-redis.ts'
import { lengthOf } from '../../../test/support/length-of.ts'
import { openCutLine } from '../../../test/support/net/cut-line.ts'
import { whenUnused } from '../../../test/support/shared.ts'
import { systemClock } from '../../core/clock.ts'
import type { RequestDecision } from '../../core/shared-state.ts'
import { MAX_OFFENCES } from '../memory/bans.ts'
import { tellsOfReplica } from './redis-link.ts'
import { RedisState, type RedisStateOptions } from './redis-state.ts'

async function openState(url: string, options: Partial<RedisStateOptions> = {}): Promise<RedisState> {
  const state = await RedisState.open({
    url,
    clock: systemClock,
    knockSequence: null,
    log: QUIET_LOG,
    limitsFail: 'closed',
    ...options,
  })
  whenUnused(() => state.close())
  return state
}

/** Instances of one service. */
async function openInstances(count: number): Promise<readonly [RedisState, RedisState, ...RedisState[]]> {
  const { url } = await sharedRedis()
  const prefix = `${randomUUID()}:`
  const states = await Promise.all(Array.from({ length: count }, () => openState(url, { prefix })))
  return states as unknown as readonly [RedisState, RedisState, ...RedisState[]]
}

/** The promise is of an idle machine, on which the soak runs. */
const RECOVERED_MS = lengthOf({ test: 30_000, soak: 3000 })

const UNAVAILABLE = { code: 'limits_unavailable', status: 503, retryAfterSeconds: 1 }

const request = (limitId: string, most: number | null, requestsPerMinute = 1000) => ({
  limitId,
  requestsPerMinute,
  maxConcurrent: most,
  budgets: [],
})

function permitOf(decision: RequestDecision): string {
  if (decision.outcome !== 'admitted' || decision.permitId === null) throw new Error(decision.outcome)
  return decision.permitId
}

const outcomeOf = async (state: RedisState, limitId: string, most: number | null) =>
  (await state.requests.admit(request(limitId, most))).outcome

describe('instances on one Redis', () => {
  it('admit exactly as many of a burst as the limit says', async () => {
    const instances = await openInstances(3)

    const decisions = await Promise.all(
      Array.from({ length: 600 }, async (_, index) =>
        instances[index % 3]?.requests.admit(request('key', null, 100)),
      ),
    )

    const admitted = decisions.filter((decision) => decision?.outcome === 'admitted')
    expect(admitted).toHaveLength(100)
    expect(decisions.find((decision) => decision?.outcome === 'rate-exceeded')).toMatchObject({
      retryAfterSeconds: 60,
      rate: { limit: 100, remaining: 0 },
    })
  })

  it('count the permits of all of them, and a release of any', async () => {
    const [one, other] = await openInstances(2)
    const permits = [
      permitOf(await one.requests.admit(request('key', 2))),
      permitOf(await other.requests.admit(request('key', 2))),
    ]

    expect(await outcomeOf(one, 'key', 2)).toBe('concurrency-exceeded')
    other.requests.release(permits[1] ?? '')
    await expect.poll(() => outcomeOf(one, 'key', 2)).toBe('admitted')
  })

  it('move the running requests of a key that another revokes', async () => {
    const [one, other] = await openInstances(2)
    const permitId = permitOf(await one.requests.admit(request('first', 1)))
    await other.requests.revokeWindow('first', 'ann')
    await other.requests.openWindow('second', { makerLimitId: 'session', accountId: 'ann' })

    expect(await outcomeOf(other, 'second', 1)).toBe('concurrency-exceeded')
    one.requests.release(permitId)
    await expect.poll(() => outcomeOf(other, 'second', 1)).toBe('admitted')
  })

  it('check of fifteen wrong passwords at once exactly ten', async () => {
    const instances = await openInstances(3)
    const limits = [{ id: 'ann', maxPerMinute: 10, counts: 'failures' as const }]
    const decisions = await Promise.all(
      Array.from({ length: 15 }, async (_, index) => {
        const attempts = instances[index % 3]?.attempts
        const decision = await attempts?.begin({ limits, maxWaiting: 128 })
        if (decision?.outcome === 'begun') attempts?.end(decision.attemptId, 'failed')
        return decision?.outcome
      }),
    )

    expect(decisions.filter((outcome) => outcome === 'begun')).toHaveLength(10)
    expect(decisions.filter((outcome) => outcome === 'refused')).toHaveLength(5)
  })

  it('ban an address together, and lift the ban together', async () => {
    const [one, other] = await openInstances(2)
    for (let count = 0; count < MAX_OFFENCES; count++) {
      await (count % 2 === 0 ? one : other).bans.recordOffence('192.0.2.1')
    }

    expect(await one.bans.find('192.0.2.1')).toMatchObject({ count: 1, secondsLeft: 60 })
    expect(await other.bans.list()).toHaveLength(1)
    expect(await other.bans.lift('192.0.2.1')).toBe(true)
    expect(await one.bans.find('192.0.2.1')).toBeNull()
  })

  it('get the permits of one that is cut off, and count them again when it is back', async () => {
    const { url } = await sharedRedis()
    const line = await openCutLine(Number(new URL(url).port))
    const prefix = `${randomUUID()}:`
    const cutOff = await openState(`redis://127.0.0.1:${line.port}`, { prefix })
    const other = await openState(url, { prefix })
    const permitId = permitOf(await cutOff.requests.admit(request('key', 1)))
    expect(await outcomeOf(other, 'key', 1)).toBe('concurrency-exceeded')

    await line.cut()
    const startMs = performance.now()
    await expect.poll(() => outcomeOf(other, 'key', 1), { interval: 50 }).toBe('admitted')
    expect(performance.now() - startMs).toBeLessThan(RECOVERED_MS)
    await line.mend()
    await expect.poll(() => cutOff.isAway).toBe(false)
    expect(await other.requests.admit(request('key', 3))).toMatchObject({ outcome: 'admitted' })
    expect(await other.requests.admit(request('key', 3))).toMatchObject({ running: 3 })
    cutOff.requests.release(permitId)
    await expect.poll(() => outcomeOf(other, 'key', 3)).toBe('admitted')
  })
})

describe('without Redis', () => {
  it('an instance does not start where limits fail closed, nor where its password is refused', async () => {
    const { url } = await startOwnRedis(['--requirepass', 'right'])
    const nowhere = 'redis://127.0.0.1:1'

    await expect(openState(nowhere)).rejects.toThrow('Redis (--redis) cannot be used: nothing listens there.')
    expect((await openState(nowhere, { limitsFail: 'open' })).isAway).toBe(true)
    const wrong = openState(url.replace('//', '//:wrong@'), { limitsFail: 'open' })
    await expect(wrong).rejects.toThrow(/^Redis \(--redis\) cannot be used: WRONGPASS/)
    expect((await openState(url.replace('//', '//:right@'))).isAway).toBe(false)
  })

  it('limits that fail closed refuse, until it is back; running requests count again then', async () => {
    const redis = await startOwnRedis()
    const lines: string[] = []
    const log = {
      error: (_: unknown, line?: string) => void lines.push(line ?? ''),
      info: (line: unknown) => void lines.push(String(line)),
    }
    const state = await openState(redis.url, { log })
    permitOf(await state.requests.admit(request('key', 1)))
    const attempt = { limits: [{ id: 'ann', maxPerMinute: 10, counts: 'all' as const }], maxWaiting: 1 }

    await redis.kill()
    await expect(state.requests.admit(request('key', 1))).rejects.toMatchObject(UNAVAILABLE)
    await expect(
      state.requests.openWindow('new', { makerLimitId: 'key', accountId: 'ann' }),
    ).rejects.toMatchObject(UNAVAILABLE)
    expect(state.whyUnavailable()).toMatchObject(UNAVAILABLE)
    // The admin key can be tried and a key revoked, and no ban refuses everyone.
    expect(await state.attempts.begin(attempt)).toMatchObject({ outcome: 'begun' })
    expect(await state.bans.find('192.0.2.1')).toBeNull()
    await state.requests.revokeWindow('old', 'ann')
    await redis.start()
    await expect.poll(() => state.whyUnavailable()).toBeNull()

    expect(await outcomeOf(state, 'key', 1)).toBe('concurrency-exceeded')
    expect(lines).toEqual([expect.stringMatching(/^Redis cannot be used: .*cut/), 'Redis is back'])
  })

  it('limits that fail open count in memory, and what still runs counts in Redis when it is back', async () => {
    const redis = await startOwnRedis()
    const state = await openState(redis.url, { limitsFail: 'open' })
    const other = await openState(redis.url, { limitsFail: 'open' })
    await redis.kill()
    await expect.poll(() => state.isAway && other.isAway).toBe(true)

    const permitId = permitOf(await state.requests.admit(request('key', 1)))
    expect(await outcomeOf(state, 'key', 1)).toBe('concurrency-exceeded')
    expect(await outcomeOf(other, 'key', 1)).toBe('admitted')
    expect(state.whyUnavailable()).toBeNull()
    await redis.start()
    await expect.poll(() => state.isAway || other.isAway).toBe(false)
    expect(await state.requests.admit(request('key', 1))).toMatchObject({ running: 2 })
    state.requests.release(permitId)
    await expect.poll(() => state.requests.admit(request('key', 1))).toMatchObject({ running: 1 })
  })

  it('one that answers nothing is away after a moment, and back when it answers', async () => {
    const redis = await startOwnRedis()
    const state = await openState(redis.url)
    redis.signal('SIGSTOP')
    const startMs = performance.now()
    await expect(state.requests.admit(request('key', 1))).rejects.toMatchObject(UNAVAILABLE)
    expect(performance.now() - startMs).toBeLessThan(RECOVERED_MS)
    await expect(state.requests.admit(request('key', 1))).rejects.toMatchObject(UNAVAILABLE)
    redis.signal('SIGCONT')

    await expect.poll(() => state.isAway).toBe(false)
    expect(await outcomeOf(state, 'key', 1)).toBe('admitted')
  })

  it('one that takes no more data is away, and back when it has room', async () => {
    const redis = await startOwnRedis(['--maxmemory-policy', 'noeviction'])
    const state = await openState(redis.url)
    await redis.command('CONFIG SET maxmemory 1')
    await expect(state.requests.admit(request('key', 1))).rejects.toMatchObject(UNAVAILABLE)
    await redis.command('CONFIG SET maxmemory 0')

    await expect.poll(() => state.isAway).toBe(false)
    expect(await outcomeOf(state, 'key', 1)).toBe('admitted')
  })

  it('one that has become a replica is left, as its name may lead to another by now', async () => {
    const [primary, redis] = [await startOwnRedis(), await startOwnRedis()]
    const state = await openState(redis.url)
    const connectionOf = async () => /id=(\d+) .* name=sluice /.exec(await redis.command('CLIENT LIST'))?.[1]
    const connection = await connectionOf()
    await redis.command(`REPLICAOF 127.0.0.1 ${new URL(primary.url).port}`)
    await expect(state.requests.admit(request('key', 1))).rejects.toMatchObject(UNAVAILABLE)

    await expect.poll(connectionOf).not.toBe(connection)
    expect(state.isAway).toBe(true)
    await redis.command('REPLICAOF NO ONE')
    await expect.poll(() => state.isAway).toBe(false)
  })
})

it.each([
  ["READONLY You can't write against a read only replica. script: 2b, on @user_script:4.", true],
  // Redis 6 wraps what goes wrong inside a script.
  [
    "ERR Error running script (call to f_2b): @user_script:4: @user_script: 4: -READONLY You can't write against a read only replica. ",
    true,
  ],
  ['ERR Error running script (call to f_2b): @user_script:4: READONLY_KEYS is not defined', false],
  ["OOM command not allowed when used memory > 'maxmemory'.", false],
])('the error %j tells of a replica: %s', (message, isReplica) => {
  expect(tellsOfReplica(new Error(message))).toBe(isReplica)
})
