import { describe, expect, it } from 'vitest'
import { ThreadGovernor } from './thread-governor.ts'

const WORK = { rows: 1, contextTokens: 100 }

/** A machine on which a step takes `stepMs(threads)` unless it is broken off; its clock is the sum of the steps. */
function createMachine(cores: number, stepMs: (threads: number) => number) {
  const machine = { stepMs, idleCores: 0, lowPriorityCores: 0, nowMs: 0, longestMs: 0 }
  const governor = new ThreadGovernor({
    maxThreads: cores,
    spareCores: () => ({ idle: machine.idleCores, lowPriority: machine.lowPriorityCores }),
    nowMs: () => machine.nowMs,
  })
  /** Runs for so long; returns how much of the time each number of threads had. */
  const run = (ms: number, work = WORK) => {
    const shares = new Map<number, number>()
    const untilMs = machine.nowMs + ms
    while (machine.nowMs < untilMs) {
      const startMs = machine.nowMs
      const take = (threads: number, limitMs: number) => {
        const took = Math.min(machine.stepMs(threads), limitMs)
        machine.nowMs += took
        shares.set(threads, (shares.get(threads) ?? 0) + took / ms)
        return took
      }
      const patienceMs = governor.patienceMs(work)
      const took = take(governor.threads, patienceMs)
      if (took < patienceMs) governor.observe(work, took)
      else {
        const threads = governor.giveUp()
        const ms = take(threads, Number.POSITIVE_INFINITY)
        governor.observeSecondTry({ threads, ms, firstMs: took })
      }
      machine.longestMs = Math.max(machine.longestMs, machine.nowMs - startMs)
    }
    return shares
  }
  return { machine, governor, run }
}

const QUIET = (threads: number) => 12 / threads
/** One core is taken: a thread on it stops all others. */
const NEIGHBOUR = (threads: number) => (threads > 1 ? 60 : 12)

describe('the thread governor', () => {
  it('keeps all threads on a quiet machine, and tries fewer ever more seldom', () => {
    const { run } = createMachine(2, QUIET)
    expect(run(60_000).get(1)).toBeLessThan(0.02)
    expect(run(600_000).get(1)).toBeLessThan(0.003)
  })

  it('drops to fewer within seconds of a neighbour', () => {
    const { machine, governor, run } = createMachine(2, QUIET)
    run(300_000)
    machine.stepMs = NEIGHBOUR
    run(5000)
    expect(governor.threads).toBe(1)
  })

  it('stops streams that stumble within a second, however lately fewer threads were tried in vain', () => {
    for (let seconds = 0; seconds <= 32; seconds++) {
      const { machine, governor, run } = createMachine(2, QUIET)
      run(120_000 + seconds * 1000)
      machine.stepMs = (threads) => (threads > 1 ? 120 : 12)
      run(1000)
      expect(governor.threads, `a neighbour after ${120 + seconds} s`).toBe(1)
    }
  })

  it('lets no stream stand still: what takes far longer than it did is computed with fewer threads instead', () => {
    const { machine, governor, run } = createMachine(2, QUIET)
    run(300_000)
    machine.stepMs = (threads) => (threads > 1 ? 400 : 12)
    run(1000)
    expect(governor.threads).toBe(1)
    machine.lowPriorityCores = 1
    run(300_000)
    expect(machine.longestMs).toBeLessThan(70)
  })

  it('has patience with work that it does not know, with a single thread, and with what always takes long', () => {
    const { machine, governor, run } = createMachine(2, QUIET)
    expect(governor.patienceMs(WORK)).toBe(Number.POSITIVE_INFINITY)
    run(1000)
    expect(governor.patienceMs(WORK)).toBe(40)
    expect(governor.patienceMs({ rows: 8, contextTokens: 100 })).toBe(Number.POSITIVE_INFINITY)
    machine.stepMs = (threads) => 100 / threads
    run(10_000, { rows: 8, contextTokens: 100 })
    expect(governor.patienceMs({ rows: 8, contextTokens: 100 })).toBeCloseTo(4 * 50, -1)
    governor.setLimit(1)
    expect(governor.patienceMs(WORK)).toBe(Number.POSITIVE_INFINITY)
  })

  it('goes on with all threads where a step stumbles now and then', () => {
    const { machine, run } = createMachine(2, QUIET)
    run(60_000)
    let steps = 0
    machine.stepMs = (threads) => (threads > 1 && ++steps % 100 === 0 ? 200 : QUIET(threads))
    expect(run(60_000).get(2)).toBeGreaterThan(0.9)
    expect(machine.longestMs).toBeLessThan(70)
  })

  it('computes with fewer threads from the second step on that stumbles', () => {
    const { machine, governor, run } = createMachine(2, QUIET)
    run(60_000)
    machine.stepMs = (threads) => (threads > 1 ? 400 : 12)
    run(100)
    expect(governor.threads).toBe(1)
  })

  it('does not try fewer again and again where all numbers of threads are slow', () => {
    const { machine, run } = createMachine(4, (threads) => 40 / threads)
    run(60_000)
    machine.stepMs = (threads) => 400 / threads
    expect(run(30_000).get(4)).toBeGreaterThan(0.6)
  })

  it('finds a neighbour that was there from the start', () => {
    const { governor, run } = createMachine(2, NEIGHBOUR)
    run(1000)
    expect(governor.threads).toBe(1)
  })

  it('takes more threads again when cores are idle', () => {
    const { machine, governor, run } = createMachine(2, NEIGHBOUR)
    run(10_000)
    machine.stepMs = QUIET
    run(10_000)
    expect(governor.threads).toBe(1)
    machine.idleCores = 0.9
    run(1000)
    expect(run(60_000).get(2)).toBeGreaterThan(0.97)
  })

  it('takes more threads within a second of a neighbour at low priority leaving', () => {
    const { machine, governor, run } = createMachine(2, NEIGHBOUR)
    machine.lowPriorityCores = 1
    run(60_000)
    expect(governor.threads).toBe(1)
    machine.stepMs = QUIET
    machine.lowPriorityCores = 0
    machine.idleCores = 0.9
    run(1000)
    expect(governor.threads).toBe(2)
  })

  it('takes more threads again between short answers, beside the process that sends them', () => {
    const { machine, governor, run } = createMachine(2, (threads) => NEIGHBOUR(threads) / 4)
    run(10_000)
    machine.stepMs = (threads) => QUIET(threads) / 4
    machine.idleCores = 0.4
    for (let answer = 0; answer < 10; answer++) {
      for (let token = 0; token < 96; token++) run(1, { rows: 1, contextTokens: 10 + token })
    }
    expect(governor.threads).toBe(2)
  })

  it('ends a hopeless trial of more threads after one step', () => {
    const { machine, run } = createMachine(2, NEIGHBOUR)
    run(10_000)
    // Idle cores that a container may not use.
    machine.idleCores = 8
    const shares = run(120_000)
    expect(shares.get(2)).toBeLessThan(0.01)
  })

  it('goes down in steps until it is no faster', () => {
    const { run } = createMachine(16, (threads) => (threads > 9 ? 20 : 90 / threads))
    run(5000)
    expect(run(60_000).get(9)).toBeGreaterThan(0.95)
  })

  it('goes up in steps to all cores', () => {
    const { machine, run } = createMachine(16, () => 100)
    machine.stepMs = (threads) => (threads > 1 ? 100 : 30)
    run(20_000)
    machine.stepMs = (threads) => 120 / threads
    machine.idleCores = 16
    run(20_000)
    expect(run(60_000).get(16)).toBeGreaterThan(0.95)
  })

  it('compares steps of the same work only', () => {
    const { machine, governor, run } = createMachine(2, QUIET)
    for (let i = 0; i < 2000; i++) {
      machine.stepMs = (threads) => (12 / threads) * (1 + (i % 8))
      run(1, { rows: 1 + (i % 8), contextTokens: 100 })
    }
    expect(governor.threads).toBe(2)
  })

  it('stays under a limit from outside, and takes the cores that are idle when it rises', () => {
    const { machine, governor, run } = createMachine(8, (threads) => 80 / threads)
    machine.idleCores = 8
    governor.setLimit(3)
    expect(governor.threads).toBe(3)
    expect(Math.max(...run(20_000).keys())).toBe(3)
    governor.setLimit(8)
    run(2000)
    expect(run(20_000).get(8)).toBeGreaterThan(0.9)
    governor.setLimit(0)
    expect(governor.threads).toBe(1)
  })
})
