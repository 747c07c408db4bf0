import { describe, expect, it } from 'vitest'
import type { Sampling } from '../../../protocol/engine.ts'
import { createCandidates, findLargest } from './candidates.ts'
import { createRandom } from './random.ts'
import { Sampler } from './sampling.ts'

const DEFAULTS: Sampling = { temperature: 1, topK: 0, topP: 1, repetitionPenalty: 1, seed: 1 }
const NO_PROMPT = new Int32Array()

function randomLogits(size: number, seed: number): Float32Array {
  const random = createRandom(seed)
  return Float32Array.from({ length: size }, () => (random() + random() + random() - 1.5) * 6)
}

function sampleOnce(logits: Float32Array, sampling: Partial<Sampling>, prompt = NO_PROMPT): number {
  return new Sampler({ ...DEFAULTS, ...sampling }, prompt).sample(
    logits.slice(),
    createCandidates(logits.length),
  )
}

/** The distribution as Hugging Face defines it, step by step over the whole vocabulary. */
function exactDistribution(logits: Float32Array, sampling: Sampling): number[] {
  const { temperature, topK, topP, minP = 0 } = sampling
  const order = [...logits.keys()].sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0))
  const kept = topK === 0 ? order : order.slice(0, topK)
  const weights = kept.map((id) => Math.exp((logits[id] ?? 0) / temperature))
  const total = weights.reduce((a, b) => a + b, 0)
  let cumulative = 0
  let size = 0
  while (size < kept.length && (size === 0 || cumulative < topP * total)) cumulative += weights[size++] ?? 0
  size = weights.slice(0, size).filter((weight) => weight >= minP * (weights[0] ?? 0)).length
  cumulative = weights.slice(0, size).reduce((a, b) => a + b, 0)
  const distribution = Array.from(logits, () => 0)
  for (let i = 0; i < size; i++) distribution[kept[i] ?? -1] = (weights[i] ?? 0) / cumulative
  return distribution
}

describe('Sampler', () => {
  it.each([{}, { temperature: 0.3 }, { topK: 7 }, { topP: 0.8 }, { minP: 0.02 }, { topK: 12, topP: 0.7 }])(
    'goes on behind tokens that were sampled before with %o',
    (settings) => {
      const sampling = { ...DEFAULTS, ...settings, seed: 5 }
      const rows = Array.from({ length: 30 }, (_, row) => randomLogits(500, row))
      const scratch = createCandidates(500)
      const sampleAll = (sampler: Sampler, from: number): number[] =>
        rows.slice(from).map((logits) => sampler.sample(logits.slice(), scratch))
      const whole = sampleAll(new Sampler(sampling, NO_PROMPT), 0)
      for (let taken = 0; taken < 30; taken++) {
        const sampler = new Sampler(sampling, NO_PROMPT).resume(Int32Array.from(whole.slice(0, taken)))
        expect(sampleAll(sampler, taken)).toEqual(whole.slice(taken))
      }
    },
  )

  it.each([
    {},
    { temperature: 0.5 },
    { temperature: 5 },
    { topK: 7 },
    { topP: 0.8 },
    { topP: 0.99, temperature: 2 },
    { topK: 12, topP: 0.7, temperature: 1.5 },
    { topK: 1000, topP: 0.95 },
    { minP: 0.1 },
    { minP: 1 },
    { minP: 1e-9, temperature: 3 },
    { minP: 0.05, topK: 7, temperature: 1.5 },
    { minP: 0.2, topP: 0.9 },
    { minP: 0.02, topK: 30, topP: 0.95, temperature: 2 },
  ])('draws as the exact distribution says with %o', (settings) => {
    const logits = randomLogits(60, 3)
    const sampling = { ...DEFAULTS, ...settings, seed: 99 }
    const expected = exactDistribution(logits, sampling)
    const sampler = new Sampler(sampling, NO_PROMPT)
    const scratch = createCandidates(logits.length)
    const counts = Array.from(logits, () => 0)
    const draws = 40_000
    for (let i = 0; i < draws; i++) {
      const tokenId = sampler.sample(logits, scratch)
      counts[tokenId] = (counts[tokenId] ?? 0) + 1
    }
    let chiSquare = 0
    let degrees = -1
    for (const [id, probability] of expected.entries()) {
      const count = counts[id] ?? 0
      if (probability === 0) expect(count).toBe(0)
      if (probability * draws < 5) continue
      chiSquare += (count - probability * draws) ** 2 / (probability * draws)
      degrees++
    }
    // Four standard deviations above the mean of a chi-square distribution.
    expect(chiSquare).toBeLessThan(degrees + 4 * Math.sqrt(2 * Math.max(degrees, 1)))
  })

  it.each([{ temperature: 0 }, { topK: 1 }, { topP: 0 }])('takes the likeliest token with %o', (settings) => {
    const logits = randomLogits(500, 5)
    expect(sampleOnce(logits, settings)).toBe(logits.indexOf(Math.max(...logits)))
  })

  it('repeats its draws with the same seed whatever others draw', () => {
    const logits = randomLogits(200, 8)
    const scratch = createCandidates(200)
    const alone = new Sampler({ ...DEFAULTS, seed: 5 }, NO_PROMPT)
    const together = new Sampler({ ...DEFAULTS, seed: 5 }, NO_PROMPT)
    const other = new Sampler({ ...DEFAULTS, seed: 6, topK: 3 }, NO_PROMPT)
    const first = Array.from({ length: 30 }, () => alone.sample(logits, scratch))
    const second = Array.from({ length: 30 }, () => {
      other.sample(logits, scratch)
      return together.sample(logits, scratch)
    })
    expect(second).toEqual(first)
  })

  it('stays at very low temperatures what greedy is', () => {
    const logits = randomLogits(300, 9)
    expect(sampleOnce(logits, { temperature: 0.001 })).toBe(findLargest(logits))
  })

  it('never draws a token of logit minus infinity', () => {
    const logits = new Float32Array(50).fill(Number.NEGATIVE_INFINITY)
    logits[13] = -4
    for (let seed = 0; seed < 20; seed++) expect(sampleOnce(logits, { seed, temperature: 5 })).toBe(13)
  })

  it.each([1, 0])('applies no repetition penalty at %d', (repetitionPenalty) => {
    const logits = Float32Array.of(1, 2, 3)
    expect(sampleOnce(logits, { temperature: 0, repetitionPenalty }, Int32Array.of(2))).toBe(2)
  })

  it('penalizes the tokens of the prompt and those it gave itself, each once', () => {
    const sampler = new Sampler({ ...DEFAULTS, temperature: 0, repetitionPenalty: 2 }, Int32Array.of(2, 2, 2))
    const scratch = createCandidates(4)
    const step = () => sampler.sample(Float32Array.of(2, 5, 6, -1), scratch)
    // The prompt's token 2 falls to 3, so 1 comes; then 1 falls to 2.5 and 2, still at 3, comes.
    expect([step(), step(), step()]).toEqual([1, 2, 2])
  })

  it.each([Number.NaN, Number.POSITIVE_INFINITY])('refuses logits that hold %d', (bad) => {
    for (const at of [0, 5, 9]) {
      const logits = randomLogits(10, 1)
      logits[at] = bad
      expect(() => sampleOnce(logits, {})).toThrow(`logits hold ${bad}`)
      expect(() => sampleOnce(logits, { topK: 3 })).toThrow(`logits hold ${bad}`)
      expect(() => sampleOnce(logits, { temperature: 0 })).toThrow(`logits hold ${bad}`)
    }
  })
})
