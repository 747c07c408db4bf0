import { duplexPair } from 'node:stream'
import { expect, it } from 'vitest'
import { Channel } from '../../core/channel/channel.ts'
import { systemClock } from '../../core/clock.ts'
import type { LimitedRequest } from '../../core/shared-state.ts'
import { MemoryState } from '../../limits/memory/memory-state.ts'
import { remoteSharedState, WorkerShare } from './shared-state-calls.ts'

function createWorkers(count: number) {
  const state = new MemoryState(systemClock)
  const workers = Array.from({ length: count }, () => {
    const [near, far] = duplexPair()
    const share = new WorkerShare(state)
    const supervisor = new Channel(far, { handlers: share.handlers(), onClose: () => share.end() })
    const shared = remoteSharedState(new Channel(near, { handlers: {}, onClose: () => {} }))
    return { shared, supervisor, die: () => far.destroy() }
  })
  return { state, workers }
}

const request = (limits: Partial<LimitedRequest>): LimitedRequest => ({
  limitId: 'k',
  requestsPerMinute: 1000,
  maxConcurrent: null,
  budgets: [],
  ...limits,
})

it('lets exactly as many requests of all workers pass as one limit allows', async () => {
  const { workers } = createWorkers(4)
  const decisions = await Promise.all(
    Array.from(
      { length: 40 },
      async (_, index) => await workers[index % 4]?.shared.requests.admit(request({ requestsPerMinute: 25 })),
    ),
  )
  expect(decisions.filter((decision) => decision?.outcome === 'admitted')).toHaveLength(25)
})

it('knows what a worker gave back before another asks, whichever it reads first', async () => {
  const [one, other] = createWorkers(2).workers
  const alone = request({ maxConcurrent: 1 })
  const first = await one?.shared.requests.admit(alone)
  if (first?.outcome !== 'admitted' || first.permitId === null) throw new Error('not admitted')
  // Both lie there when the supervisor looks, and it reads the question first.
  const second = other?.shared.requests.admit(alone)
  other?.shared.requests.release('sends at once what lies before it')
  one?.shared.requests.release(first.permitId)
  expect(await second).toMatchObject({ outcome: 'admitted' })
})

it('gets back the permits of a worker that dies, and no others', async () => {
  const { state, workers } = createWorkers(2)
  const [one, other] = workers
  const admit = async (worker = one) => await worker?.shared.requests.admit(request({ maxConcurrent: 3 }))
  await admit(one)
  await admit(one)
  await admit(other)
  expect(await admit(other)).toMatchObject({ outcome: 'concurrency-exceeded', running: 3 })
  one?.die()
  await expect.poll(async () => (await admit(other))?.outcome).toBe('admitted')
  expect(await admit(other)).toMatchObject({ outcome: 'admitted' })
  expect(await admit(other)).toMatchObject({ outcome: 'concurrency-exceeded', running: 3 })
  state.requests.checkIntegrity()
})

it('admits without a bound what has none', async () => {
  const [worker] = createWorkers(1).workers
  const decision = await worker?.shared.requests.admit(request({ maxConcurrent: Infinity }))
  expect(decision).toMatchObject({ outcome: 'admitted', permitId: expect.any(String) })
})

it('counts no attempt of a worker that died before its result, and lets the next one be made', async () => {
  const { workers } = createWorkers(2)
  const [one, other] = workers
  const limits = [{ id: 'login', counts: 'failures', maxPerMinute: 1 }] as const
  const begin = (worker = one) => worker?.shared.attempts.begin({ limits, maxWaiting: 5 })
  expect(await begin(one)).toMatchObject({ outcome: 'begun' })
  const waiting = begin(other)
  one?.die()
  expect(await waiting).toMatchObject({ outcome: 'begun' })
})
