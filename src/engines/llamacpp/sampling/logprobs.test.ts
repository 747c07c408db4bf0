import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Sampling } from '../../../protocol/engine.ts'
import { createCandidates } from './candidates.ts'
import { LogprobMeter } from './logprobs.ts'
import { Sampler } from './sampling.ts'

const PLAIN: Sampling = { temperature: 1, topK: 0, topP: 1, repetitionPenalty: 1, seed: 1 }

/** As written in a textbook, of a row that is small enough for it. */
function logSoftmax(logits: readonly number[], temperature = 1): number[] {
  const scaled = logits.map((logit) => logit / temperature)
  const largest = Math.max(...scaled)
  const sum = scaled.reduce((all, one) => all + Math.exp(one - largest), 0)
  return scaled.map((one) => one - largest - Math.log(sum))
}

function measure(logits: readonly number[], tokenId: number, { top = 0, temperature = 1 } = {}) {
  const meter = new LogprobMeter(top, temperature)
  return meter.measure(Float32Array.from(logits), tokenId, createCandidates(logits.length))
}

describe('log probabilities', () => {
  it('are the log-softmax of the row over the temperature', () => {
    const rows = fc.array(
      fc.integer({ min: -4000, max: 4000 }).map((n) => n / 128),
      { minLength: 1, maxLength: 3000 },
    )
    fc.assert(
      fc.property(
        rows,
        fc.record({ pick: fc.nat(), temperature: fc.constantFrom(0.3, 1, 2.5), top: fc.nat(20) }),
        (logits, { pick, temperature, top }) => {
          const tokenId = pick % logits.length
          const expected = logSoftmax(logits, temperature)
          const given = measure(logits, tokenId, { top, temperature })

          expect(given.logprob).toBeCloseTo(expected[tokenId] ?? NaN, 6)
          const likeliest = expected.toSorted((a, b) => b - a).slice(0, top)
          expect(given.top).toHaveLength(likeliest.length)
          for (const [rank, { tokenId: id, logprob }] of given.top.entries()) {
            expect(logprob).toBeCloseTo(expected[id] ?? NaN, 6)
            expect(logprob).toBeCloseTo(likeliest[rank] ?? NaN, 6)
          }
        },
      ),
    )
  })

  it('are those of temperature 1 where the choice is greedy', () => {
    const logits = [1, 3, 2]
    expect(measure(logits, 1, { top: 3, temperature: 0 })).toEqual(
      measure(logits, 1, { top: 3, temperature: 1 }),
    )
  })

  it('name equals by id, and the greedy choice first', () => {
    expect(measure([0, 5, 5, 5], 1, { top: 1 }).top.map(({ tokenId }) => tokenId)).toEqual([1])
    expect(measure([0, 5, 5, 5], 1, { top: 4 }).top.map(({ tokenId }) => tokenId)).toEqual([1, 2, 3, 0])
  })

  it('have -9999 in the place of less, and do not name such a token among the likeliest', () => {
    const { logprob, top } = measure([0, -Infinity, -3e38], 2, { top: 3 })
    expect(logprob).toBe(-9999)
    expect(top).toEqual([{ tokenId: 0, logprob: 0 }])
    expect(measure([0, -1000], 1, { temperature: 0.01 }).logprob).toBe(-9999)
  })

  it.each([1e-5, 1e-300, Number.MIN_VALUE])('are exact at temperature %d', (temperature) => {
    const { top } = measure([7.25, 7.25, 7], 0, { top: 2, temperature })
    for (const { logprob } of top) expect(logprob).toBeCloseTo(-Math.LN2, 9)
  })

  it('are exact where a penalty near 0 has made logits as large as a float can be', () => {
    const logits = [1, 2, 3]
    for (const temperature of [0, 0.7, 1, 1.3]) {
      const row = Float32Array.from(logits)
      const sampling = { ...PLAIN, temperature, repetitionPenalty: Number.MIN_VALUE }
      const tokenId = new Sampler(sampling, Int32Array.of(0, 1)).sample(row, createCandidates(3))
      const { logprob } = new LogprobMeter(0, temperature).measure(row, tokenId, createCandidates(3))
      expect(logprob).toBeCloseTo(-Math.LN2, 9)
    }
  })

  it('are those after bias and penalties, and before top_k, top_p and min_p', () => {
    const logits = [2, 1.5, 1, 0.5, -1]
    const sampling: Sampling = {
      ...PLAIN,
      temperature: 0.7,
      topK: 2,
      topP: 0.5,
      minP: 0.4,
      repetitionPenalty: 1.3,
      presencePenalty: 0.4,
      frequencyPenalty: 0.2,
      logitBias: [[3, 0.25]],
    }
    const scratch = createCandidates(logits.length)
    const sampler = new Sampler(sampling, Int32Array.of(1, 4))
    const meter = new LogprobMeter(5, sampling.temperature)
    const text: number[] = []
    for (let step = 0; step < 20; step++) {
      const expected = logSoftmax(
        logits.map((raw, id) => {
          const biased = raw + (id === 3 ? 0.25 : 0)
          const seen = id === 1 || id === 4 || text.includes(id)
          const penalized = seen ? (biased < 0 ? biased * 1.3 : biased / 1.3) : biased
          const count = text.filter((one) => one === id).length
          return penalized - count * 0.2 - (count > 0 ? 0.4 : 0)
        }),
        0.7,
      )
      const row = Float32Array.from(logits)
      const tokenId = sampler.sample(row, scratch)
      const { logprob, top } = meter.measure(row, tokenId, scratch)
      expect(logprob).toBeCloseTo(expected[tokenId] ?? NaN, 5)
      for (const one of top) expect(one.logprob).toBeCloseTo(expected[one.tokenId] ?? NaN, 5)
      text.push(tokenId)
    }
  })
})
