/** What tiers, accounts and single requests get of a busy scheduler, by simulation of whole loads. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { LoadSimulation, type SimulatedClient } from '../../../test/support/engines/load-simulation.ts'
import { lengthOf } from '../../../test/support/length-of.ts'

const FREE = 0
const PRO = 1
const ENTERPRISE = 2
const SECONDS = 1000

type Load = Omit<SimulatedClient, 'accountId' | 'priorityClass' | 'open'> & { readonly open?: number }

const client = (accountId: string, priorityClass: number, load: Load): SimulatedClient => ({
  accountId,
  priorityClass,
  open: 64,
  ...load,
})

const SIMPLE = { maxNewTokens: 200 }
const LOADS: Readonly<Record<string, { free?: Load; pro?: Load; enterprise?: Load }>> = {
  'equal requests': {},
  'texts of the higher tier that end early': { enterprise: { maxNewTokens: 200, textTokens: 20 } },
  'texts of the lower tier that end early': { free: { maxNewTokens: 200, textTokens: 20 } },
  'requests of unequal length': {
    free: { maxNewTokens: 400 },
    pro: { maxNewTokens: 20 },
    enterprise: { maxNewTokens: 500 },
  },
  'long prompts of the lower tier': { free: { promptTokens: 1000, maxNewTokens: 50 } },
  'long prompts of the higher tier': { enterprise: { promptTokens: 1000, maxNewTokens: 50 } },
  'short batches of the lower tier, one after the other': {
    free: { maxNewTokens: 16, textTokens: 1, isBlock: true, open: 46 },
  },
  'batches of the lower tier': { free: { maxNewTokens: 200, isBlock: true, open: 64 } },
}

function expectWeights(
  { free, pro, enterprise }: Record<'free' | 'pro' | 'enterprise', Load>,
  { slots, seconds }: { readonly slots: number; readonly seconds: number },
): void {
  const clients = [
    client('free', FREE, free),
    client('pro', PRO, pro),
    client('enterprise', ENTERPRISE, enterprise),
  ]
  const simulation = new LoadSimulation(clients, { maxBatchSize: slots })
  const shares = simulation
    .run(30 * SECONDS)
    .resetTokens()
    .run(seconds * SECONDS)
    .shares()
  const parts = { free: 1, pro: 4, enterprise: 16 }
  for (const [accountId, part] of Object.entries(parts)) {
    expect(Math.abs((shares[accountId] ?? 0) * (21 / part) - 1), accountId).toBeLessThan(0.1)
  }
}

describe('tiers that all have a backlog', () => {
  it.each(Object.entries(LOADS).flatMap(([name, loads]) => [1, 8].map((slots) => ({ name, slots, loads }))))(
    'get tokens as 16 : 4 : 1: $name, $slots slots',
    ({ slots, loads: { free = SIMPLE, pro = SIMPLE, enterprise = SIMPLE } }) => {
      const seconds = lengthOf({ test: 120, soak: 24_000 })
      expectWeights({ free, pro, enterprise }, { slots, seconds })
    },
  )

  it('get tokens as 16 : 4 : 1 whatever they ask for', () => {
    const load = fc.record({
      open: fc.integer({ min: 32, max: 64 }),
      promptTokens: fc.integer({ min: 1, max: 200 }),
      maxNewTokens: fc.integer({ min: 1, max: 300 }),
      textTokens: fc.integer({ min: 1, max: 300 }),
    })
    const loads = fc.record({ free: load, pro: load, enterprise: load })
    fc.assert(
      fc.property(loads, fc.constantFrom(1, 2, 4, 8, 16), (given, slots) => {
        expectWeights(given, { slots, seconds: 480 })
      }),
      { numRuns: lengthOf({ test: 1, soak: 400 }) },
    )
  })

  it('share what a tier without requests leaves', () => {
    const clients = [
      client('free', FREE, SIMPLE),
      client('enterprise', ENTERPRISE, { ...SIMPLE, startsAtMs: 200 * SECONDS }),
    ]
    const simulation = new LoadSimulation(clients)
    expect(simulation.run(190 * SECONDS).shares()).toEqual({ free: 1, enterprise: 0 })
    const { enterprise } = simulation
      .run(20 * SECONDS)
      .resetTokens()
      .run(300 * SECONDS)
      .shares()
    // The time in which only the other tier had requests gives no credit.
    expect(enterprise).toBeCloseTo(16 / 17, 1)
  })
})

describe('a free request beside backlogs of every tier', () => {
  it.each([
    { slots: 1, others: 0 },
    { slots: 8, others: 0 },
    { slots: 8, others: 3 },
  ])(
    'waits at most for its part of the tokens: $slots slots, $others other free accounts',
    ({ slots, others }) => {
      const request = { promptTokens: 8, maxNewTokens: 300 }
      const clients = [
        client('alone', FREE, { ...request, open: 1, pauseMs: 3 * SECONDS }),
        ...Array.from({ length: others }, (_, i) => client(`other ${i}`, FREE, request)),
        client('pro', PRO, SIMPLE),
        client('enterprise', ENTERPRISE, { maxNewTokens: 400 }),
      ]
      const seconds = lengthOf({ test: 240, soak: 600 })
      const simulation = new LoadSimulation(clients, { maxBatchSize: slots }).run(seconds * SECONDS)
      const tokens = [...simulation.figures.values()].reduce((sum, figures) => sum + figures.tokens, 0)
      const tokensPerSecond = tokens / seconds
      const boundMs = ((21 * (others + 1) * 308 + slots * 408) / tokensPerSecond) * SECONDS
      const { waitsMs } = simulation.of('alone')
      expect(waitsMs.length).toBeGreaterThan(5)
      expect(Math.max(...waitsMs)).toBeLessThan(boundMs)
    },
  )
})

describe('an enterprise request', () => {
  const account = (i: number, load: Load) => client(`free ${i}`, FREE, load)
  const accounts = (count: number, load: Load) => Array.from({ length: count }, (_, i) => account(i, load))
  const freeLoads: Readonly<Record<string, readonly SimulatedClient[]>> = {
    'four batches of long texts': accounts(4, { maxNewTokens: 2048, isBlock: true }),
    'twenty accounts that fill the queue': accounts(20, { maxNewTokens: 2048, open: 25 }),
    'short requests without an end': accounts(20, { maxNewTokens: 8 }),
    'long prompts': accounts(8, { promptTokens: 4000, maxNewTokens: 64 }),
    bursts: accounts(10, { maxNewTokens: 300, isBlock: true, open: 32, pauseMs: 2 * SECONDS }),
    'texts of every length': accounts(12, { maxNewTokens: 2048 }).map((one, i) => ({
      ...one,
      maxNewTokens: 4 ** (i % 6),
    })),
  }

  it.each(
    Object.entries(freeLoads).flatMap(([name, clients]) => [4, 8].map((slots) => ({ name, slots, clients }))),
  )('starts within a second beside any free load: $name, $slots slots', ({ slots, clients }) => {
    const stream = client('stream', ENTERPRISE, { open: 1, maxNewTokens: 1500 })
    const probe = client('probe', ENTERPRISE, {
      open: 1,
      maxNewTokens: 8,
      startsAtMs: 20 * SECONDS,
      pauseMs: 700,
    })
    const simulation = new LoadSimulation([stream, ...clients, probe], { maxBatchSize: slots })
    simulation.run(lengthOf({ test: 35, soak: 2000 }) * SECONDS)
    for (const accountId of ['stream', 'probe']) {
      const { firstTokenMs, waitingSinceMs } = simulation.of(accountId)
      expect(Math.max(...firstTokenMs), accountId).toBeLessThan(1000)
      expect(waitingSinceMs, accountId).toBeNull()
    }
  })

  it('passes a long prompt of the free tier for which a shared cache has no room', () => {
    const clients = [
      client('stream', ENTERPRISE, { open: 1, promptTokens: 400, maxNewTokens: 12_000 }),
      client('long', FREE, { open: 1, promptTokens: 15_900, maxNewTokens: 16, startsAtMs: SECONDS }),
      client('probe', ENTERPRISE, { open: 1, promptTokens: 100, maxNewTokens: 32, pauseMs: 300 }),
    ]
    const simulation = new LoadSimulation(clients, { sharedTokens: 16_384, maxSeqLen: 16_384 })
    const { waitsMs, waitingSinceMs } = simulation.run(30 * SECONDS).of('probe')
    expect(waitsMs.length).toBeGreaterThan(60)
    expect(Math.max(...waitsMs)).toBeLessThan(100)
    expect(waitingSinceMs).toBeNull()
  })

  it('finds the slots that are kept for it, however many of another tier pass such a prompt', () => {
    const clients = [
      client('pro', PRO, { open: 20, promptTokens: 100, maxNewTokens: 300 }),
      client('long', FREE, { open: 1, promptTokens: 15_900, maxNewTokens: 16 }),
      client('probe', ENTERPRISE, { open: 1, promptTokens: 100, maxNewTokens: 32, pauseMs: 300 }),
    ]
    const simulation = new LoadSimulation(clients, { sharedTokens: 16_384, maxSeqLen: 16_384 })
    const { waitsMs } = simulation.run(40 * SECONDS).of('probe')
    expect(waitsMs.length).toBeGreaterThan(40)
    expect(waitsMs.filter((waitMs) => waitMs > 500).length).toBeLessThan(4)
  })

  it('leaves that prompt its turn, once its own tier has had its part', () => {
    const clients = [
      client('streams', ENTERPRISE, { open: 3, promptTokens: 100, maxNewTokens: 200 }),
      client('long', FREE, { open: 1, promptTokens: 900, maxNewTokens: 16 }),
    ]
    const simulation = new LoadSimulation(clients, { sharedTokens: 1024, maxSeqLen: 1024 })
    const { waitsMs } = simulation.run(120 * SECONDS).of('long')
    expect(waitsMs.length).toBeGreaterThan(1)
  })

  it.each([2, 4, 8])(
    'with %i beams starts at once beside searches of a free key that take every seat',
    (numBeams) => {
      const beamRoom = { seats: 8, tokens: 8 * 4096, reserve: { seats: 8, tokens: 4096 } }
      const clients = [
        client('free', FREE, { maxNewTokens: 2000, numBeams: 8, isBlock: true }),
        client('search', ENTERPRISE, { open: 1, maxNewTokens: 16, numBeams, pauseMs: 500 }),
      ]
      const { waitsMs } = new LoadSimulation(clients, { beamRoom }).run(100 * SECONDS).of('search')
      expect(waitsMs.length).toBeGreaterThan(50)
      expect(Math.max(...waitsMs.slice(1))).toBeLessThan(300)
    },
  )

  it('leaves the free searches that it passes their turn', () => {
    const beamRoom = { seats: 8, tokens: 8 * 4096, reserve: { seats: 8, tokens: 4096 } }
    const clients = [
      client('search', ENTERPRISE, { open: 3, maxNewTokens: 16, numBeams: 2 }),
      client('free', FREE, { open: 1, maxNewTokens: 200, numBeams: 8, startsAtMs: 1000, pauseMs: 1000 }),
    ]
    const { waitsMs } = new LoadSimulation(clients, { beamRoom }).run(100 * SECONDS).of('free')
    expect(waitsMs.length).toBeGreaterThan(3)
  })
})

describe('accounts of one tier', () => {
  it('get equal parts of the tokens, whatever the sizes of their requests', () => {
    const clients = [
      client('long', FREE, { maxNewTokens: 2000 }),
      client('short', FREE, { maxNewTokens: 20 }),
      client('ends early', FREE, { maxNewTokens: 2000, textTokens: 100 }),
      client('prompts', FREE, { promptTokens: 500, maxNewTokens: 20 }),
    ]
    const shares = new LoadSimulation(clients)
      .run(30 * SECONDS)
      .resetTokens()
      .run(lengthOf({ test: 200, soak: 600 }) * SECONDS)
      .shares()
    for (const [accountId, share] of Object.entries(shares)) {
      expect(Math.abs(share * 4 - 1), accountId).toBeLessThan(0.1)
    }
  })

  it('pay for long requests that they send one after the other', () => {
    const clients = [
      client('one at a time', FREE, { open: 1, maxNewTokens: 1500 }),
      client('many', FREE, { maxNewTokens: 100 }),
    ]
    const simulation = new LoadSimulation(clients, { maxBatchSize: 1 })
    const shares = simulation
      .run(20 * SECONDS)
      .resetTokens()
      .run(lengthOf({ test: 200, soak: 600 }) * SECONDS)
      .shares()
    expect(Math.abs((shares['many'] ?? 0) * 2 - 1)).toBeLessThan(0.1)
  })

  it('pass a long prompt of another for which a shared cache has no room', () => {
    const clients = [
      client('texts', ENTERPRISE, { open: 3, promptTokens: 400, maxNewTokens: 400 }),
      client('long', FREE, { open: 1, promptTokens: 15_900, maxNewTokens: 16 }),
      client('other', FREE, { open: 1, promptTokens: 100, maxNewTokens: 32, startsAtMs: 1000, pauseMs: 300 }),
    ]
    const simulation = new LoadSimulation(clients, { sharedTokens: 16_384, maxSeqLen: 16_384 })
    const { waitsMs } = simulation.run(60 * SECONDS).of('other')
    expect(waitsMs.length).toBeGreaterThan(60)
    expect(Math.max(...waitsMs)).toBeLessThan(5 * SECONDS)
  })

  it('wait for the rest of one text at most, however many of another account wait', () => {
    const clients = [
      client('batch', FREE, { maxNewTokens: 2048, isBlock: true }),
      client('other', FREE, { open: 1, maxNewTokens: 8, startsAtMs: 1000, pauseMs: 500 }),
    ]
    const simulation = new LoadSimulation(clients).run(300 * SECONDS)
    const longestTextMs = 2056 * 12
    const { waitsMs } = simulation.of('other')
    expect(waitsMs.length).toBeGreaterThan(10)
    expect(Math.max(...waitsMs)).toBeLessThan(longestTextMs)
  })
})

describe('a server on which only the free tier has callers', () => {
  it('uses every slot', () => {
    const simulation = new LoadSimulation([client('free', FREE, { maxNewTokens: 2048 })]).run(SECONDS)
    expect(simulation.scheduler.runningCount).toBe(8)
  })
})
