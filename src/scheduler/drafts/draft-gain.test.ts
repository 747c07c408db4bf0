import { describe, expect, it } from 'vitest'
import { DraftGain } from './draft-gain.ts'

const ROOM = { maxSeqLen: 512, maxTokens: 8, maxStepTokens: 64 }

interface Machine {
  /** Of a step without proposals, and of each token that is proposed for all sequences. */
  readonly plainMs: number
  readonly extraMs: number
  readonly catchUpTokenMs?: number
  /** How often others have the core for a while, which counts as the step's time. @default never */
  readonly pauses?: { readonly share: number; readonly ms: number }
}

interface Load {
  readonly sequences?: number
  /** Share of guesses that are right. */
  readonly rate: number
  /** @default 200 */
  readonly textTokens?: number
}

const TEXT_TOKENS = 200
const PROMPT_TOKENS = 20

/** One text after the other, of which the draft model lacks the prompt and what plain steps made; tells what the steps took. */
class Drive {
  readonly gain = new DraftGain(ROOM)
  readonly #rates: number[] = []
  #missing = 0
  #random = 1

  run(
    steps: number,
    { plainMs, extraMs, catchUpTokenMs = 0.1, pauses = { share: 0, ms: 0 } }: Machine,
    { sequences = 1, rate, textTokens = TEXT_TOKENS }: Load,
  ) {
    const total = { steps: 0, drafted: 0, tokens: 0, ms: 0, proposes: 0, proposed: 0 }
    const rates = this.#rates
    while (rates.length < sequences) rates.push(this.gain.rate)
    rates.length = sequences
    for (let step = 0; step < steps; step++) {
      if (step % textTokens === 0) {
        rates.fill(this.gain.rate)
        this.#missing = PROMPT_TOKENS * sequences
      }
      const load = { sequences, rates, missingTokens: this.#missing + sequences }
      const isOpen = this.gain.beginStep(load)
      const missing = this.#missing
      const wanted = isOpen ? this.gain.tokensFor(load) : 0
      const of = { proposes: wanted, leftTokens: TEXT_TOKENS, rate: rates[0] ?? 0 }
      const isCaughtUp = isOpen && (missing === 0 || this.gain.affordableTokens(load, of) >= missing)
      const catchUpTokens = isCaughtUp ? missing : 0
      const proposes = isCaughtUp ? wanted : 0
      this.#missing = isCaughtUp ? 0 : missing + sequences
      const ms = plainMs + proposes * extraMs
      const before = total.tokens
      const drafted = proposes > 0 ? sequences : 0
      for (let index = 0; index < drafted; index++) {
        const accepted = this.#accepted(proposes, rate)
        rates[index] = this.gain.observeProposal({ drafted: proposes, accepted }, rates[index] ?? 0)
        total.tokens += accepted
      }
      total.tokens += sequences
      const made = total.tokens - before
      const catchUpMs = catchUpTokens * catchUpTokenMs
      const pauseMs = pauses.share > 0 && this.#next() < pauses.share ? pauses.ms : 0
      this.gain.observeStep({ sequences, proposes, made, ms: ms + pauseMs, catchUpTokens, catchUpMs })
      total.steps++
      total.ms += ms + catchUpMs
      total.proposed += proposes
      total.proposes = Math.max(total.proposes, proposes)
      if (proposes > 0) total.drafted++
    }
    return { ...total, speed: total.tokens / total.ms, plainSpeed: sequences / plainMs }
  }

  #accepted(proposed: number, rate: number): number {
    let accepted = 0
    while (accepted < proposed && this.#next() < rate) accepted++
    return accepted
  }

  #next(): number {
    this.#random = (this.#random * 48_271) % 2_147_483_647
    return this.#random / 2_147_483_647
  }
}

describe('DraftGain', () => {
  it('begins with a step without proposals, and tries then', () => {
    const { gain } = new Drive()
    const load = { sequences: 1, rates: [0.7], missingTokens: 1 }
    expect(gain.beginStep(load)).toBe(false)
    gain.observeStep({ sequences: 1, proposes: 0, made: 1, ms: 10, catchUpTokens: 0, catchUpMs: 0 })
    expect(gain.beginStep(load)).toBe(true)
    expect(gain.tokensFor(load)).toBeGreaterThan(0)
  })

  it('proposes many tokens where guesses are right and cheap, and few where they are dear', () => {
    const cheap = new Drive().run(2000, { plainMs: 10, extraMs: 1 }, { rate: 0.95 })
    expect(cheap.speed).toBeGreaterThan(2.5 * cheap.plainSpeed)
    expect(cheap.proposes).toBe(8)
    const dear = new Drive().run(2000, { plainMs: 10, extraMs: 4 }, { rate: 0.7 })
    expect(dear.proposed / dear.drafted).toBeLessThan(4)
    expect(dear.speed).toBeGreaterThan(1.05 * dear.plainSpeed)
  })

  it.each([
    ['guesses are wrong', { plainMs: 10, extraMs: 2 }, { rate: 0.02 }],
    ['each proposal takes as long as a token', { plainMs: 10, extraMs: 10 }, { rate: 0.8 }],
    ['the draft model catches up slowly', { plainMs: 10, extraMs: 12, catchUpTokenMs: 12 }, { rate: 0.5 }],
    ['many sequences run', { plainMs: 40, extraMs: 38 }, { rate: 0.7, sequences: 8 }],
    [
      'others take the core now and then',
      { plainMs: 4, extraMs: 5, pauses: { share: 0.25, ms: 20 } },
      { rate: 0.9, sequences: 8 },
    ],
  ] as const)('loses a few percent at most where %s', (_, machine, load) => {
    const drive = new Drive()
    drive.run(500, machine, load)
    const steady = drive.run(10_000, machine, load)
    expect(steady.speed).toBeGreaterThan(0.97 * steady.plainSpeed)
    // It goes on trying.
    expect(steady.drafted).toBeGreaterThan(0)
  })

  it('stops when many sequences come, and goes on when they have left', () => {
    const drive = new Drive()
    const [alone, busy] = [
      { plainMs: 10, extraMs: 2 },
      { plainMs: 40, extraMs: 38 },
    ]
    const share = (run: { drafted: number; steps: number }) => run.drafted / run.steps
    expect(share(drive.run(500, alone, { rate: 0.8 }))).toBeGreaterThan(0.9)
    expect(share(drive.run(500, busy, { rate: 0.8, sequences: 16 }))).toBeLessThan(0.1)
    expect(share(drive.run(500, alone, { rate: 0.8 }))).toBeGreaterThan(0.9)
  })

  it('finds out when texts come that it guesses right again', () => {
    const drive = new Drive()
    const machine = { plainMs: 10, extraMs: 2 }
    drive.run(2000, machine, { rate: 0 })
    const found = drive.run(4000, machine, { rate: 0.9 })
    expect(found.speed).toBeGreaterThan(1.5 * found.plainSpeed)
  })

  it('proposes no more in a step than there is room for', () => {
    const { proposes } = new Drive().run(500, { plainMs: 10, extraMs: 0.1 }, { rate: 0.99, sequences: 20 })
    expect(proposes).toBe(3)
  })

  it('ends a trial whose texts end before they are caught up with', () => {
    const { gain } = new Drive()
    const load = { sequences: 1, rates: [0.7], missingTokens: 500 }
    let caughtUp = 0
    for (let step = 0; step < 10_000; step++) {
      const isOpen = gain.beginStep(load)
      if (isOpen) caughtUp++
      const catchUp = isOpen ? { catchUpTokens: 10, catchUpMs: 10 } : { catchUpTokens: 0, catchUpMs: 0 }
      gain.observeStep({ sequences: 1, proposes: 0, made: 1, ms: 10, ...catchUp })
    }
    expect(caughtUp).toBeLessThan(600)
  })

  it('loses a few percent at most where texts end as soon as they are caught up with', () => {
    const drive = new Drive()
    const machine = { plainMs: 10, extraMs: 1, catchUpTokenMs: 2 }
    drive.run(1000, machine, { rate: 0.9, textTokens: 4 })
    const steady = drive.run(10_000, machine, { rate: 0.9, textTokens: 4 })
    expect(steady.speed).toBeGreaterThan(0.97 * steady.plainSpeed)
  })

  it('makes up for a long text only where what is left of it can gain as much', () => {
    const drive = new Drive()
    drive.run(500, { plainMs: 10, extraMs: 1, catchUpTokenMs: 1 }, { rate: 0.9 })
    const load = { sequences: 1, rates: [0.9], missingTokens: 400 }
    const proposes = drive.gain.tokensFor(load)
    const pays = (leftTokens: number) =>
      drive.gain.affordableTokens(load, { proposes, leftTokens, rate: 0.9 }) > load.missingTokens
    expect(pays(10)).toBe(false)
    expect(pays(300)).toBe(true)
  })

  it('tells how many tokens take as long to make up for as a plain step of so many sequences, once both are known', () => {
    const { gain } = new Drive()
    const step = { sequences: 1, proposes: 0, made: 1, ms: 10, catchUpTokens: 0, catchUpMs: 0 }
    expect(gain.catchUpTokens(1)).toBeNull()
    gain.observeStep(step)
    expect(gain.catchUpTokens(1)).toBeNull()
    gain.observeStep({ ...step, catchUpTokens: 4, catchUpMs: 12 })
    expect(gain.catchUpTokens(1)).toBe(3)
    expect(gain.catchUpTokens(4)).toBeNull()
    gain.observeStep({ ...step, sequences: 4, ms: 31, catchUpTokens: 1, catchUpMs: 1 })
    // The first few weigh alike.
    expect([gain.catchUpTokens(1), gain.catchUpTokens(4)]).toEqual([5, 15])
  })

  /** Which of the first steps have proposals, each of which makes its step longer by `extraMs`. */
  const draftedSteps = (count: number, extraMs: number, rate: number): readonly number[] => {
    const gain = new DraftGain(ROOM)
    const load = { sequences: 1, rates: [rate], missingTokens: 1 }
    const steps = Array.from({ length: count }, (_, step) => {
      const proposes = gain.beginStep(load) ? gain.tokensFor(load) : 0
      const made = 1 + Math.round(rate) * proposes
      const ms = 10 + proposes * extraMs
      gain.observeStep({ sequences: 1, proposes, made, ms, catchUpTokens: 0, catchUpMs: 0 })
      return { step, proposes }
    })
    return steps.filter(({ proposes }) => proposes > 0).map(({ step }) => step)
  }

  it('makes a plain step after each 32 with proposals, so that both stay known', () => {
    const drafted = new Set(draftedSteps(133, 1, 0.9))
    const plain = Array.from({ length: 133 }, (_, step) => step).filter((step) => !drafted.has(step))
    expect(plain).toEqual([0, 33, 66, 99, 132])
  })

  it.each([
    // What they take beyond a plain step is 240 ms; 1.5 times what they were reckoned to take is 271.
    [40 / 3, [1, 2, 3, 4, 5, 6]],
    [60 / 3, [1, 2, 3, 4, 5]],
  ])(
    'tries with six steps, or fewer where they take far longer than was reckoned (%d ms)',
    (extraMs, steps) => {
      expect(draftedSteps(20, extraMs, 0.1)).toEqual(steps)
    },
  )

  it('reckons a tenth of a plain step for each token of a text before it has made up for any', () => {
    const gain = new DraftGain(ROOM)
    const load = { sequences: 1, rates: [0.7], missingTokens: 500 }
    const opened: number[] = []
    for (let step = 0; step < 20; step++) {
      const isOpen = gain.beginStep(load)
      if (isOpen) opened.push(step)
      const catchUp = isOpen ? { catchUpTokens: 10, catchUpMs: 100 } : { catchUpTokens: 0, catchUpMs: 0 }
      gain.observeStep({ sequences: 1, proposes: 0, made: 1, ms: 10, ...catchUp })
    }
    // 500 tokens of 1 ms and six steps with three proposals of 10 ms are 680 ms, of which half as much again may be spent.
    expect(opened).toEqual(Array.from({ length: 11 }, (_, index) => index + 1))
  })
})
