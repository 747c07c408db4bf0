/** Bias and penalties: against the formulas as their sources have them, over random texts, with every way to choose a token. */
import { describe, expect, it } from 'vitest'
import type { Sampling } from '../../../protocol/engine.ts'
import { createCandidates } from './candidates.ts'
import { applyRepetitionPenalty, lateTokensOf } from './logit-adjustments.ts'
import { createRandom, type Random } from './random.ts'
import { Sampler } from './sampling.ts'

const DEFAULTS: Sampling = { temperature: 1, topK: 0, topP: 1, repetitionPenalty: 1, seed: 1 }
const NO_PROMPT = new Int32Array()
const VOCABULARY = 40

/** Written down from OpenAI's formula for frequency and presence, and Hugging Face's loop for repetition. */
function referenceLogits(
  logits: readonly number[],
  { prompt, text }: { prompt: readonly number[]; text: readonly number[] },
  sampling: Sampling,
): number[] {
  const { repetitionPenalty, presencePenalty = 0, frequencyPenalty = 0, logitBias = [] } = sampling
  return logits.map((logit, tokenId) => {
    let value = logit
    for (const [biased, bias] of logitBias) if (biased === tokenId) value += bias
    if (prompt.includes(tokenId) || text.includes(tokenId)) {
      value = value < 0 ? value * repetitionPenalty : value / repetitionPenalty
    }
    const count = text.filter((other) => other === tokenId).length
    return value - count * frequencyPenalty - (count > 0 ? 1 : 0) * presencePenalty
  })
}

function randomSampling(random: Random): Sampling {
  const tokenId = () => Math.floor(random() * VOCABULARY)
  const maybe = <T>(value: T, off: T) => (random() < 0.5 ? value : off)
  return {
    ...DEFAULTS,
    repetitionPenalty: maybe(0.5 + random(), 1),
    presencePenalty: maybe(random() * 4 - 2, 0),
    frequencyPenalty: maybe(random() * 4 - 2, 0),
    logitBias: maybe([[tokenId(), random() * 20 - 10] as const], []),
    seed: Math.floor(random() * 1e9),
  }
}

const randomRow = (random: Random) => Array.from({ length: VOCABULARY }, () => random() * 6 - 3)

describe('a text with bias and penalties', () => {
  it('is greedily the one that the formulas give, whatever they are', () => {
    for (let seed = 1; seed <= 200; seed++) {
      const random = createRandom(seed)
      const sampling = { ...randomSampling(random), temperature: 0 }
      const prompt = Array.from({ length: 5 }, () => Math.floor(random() * VOCABULARY))
      const sampler = new Sampler(sampling, Int32Array.from(prompt))
      const text: number[] = []
      for (let step = 0; step < 40; step++) {
        const row = randomRow(random)
        const expected = referenceLogits(row, { prompt, text }, sampling)
        const tokenId = sampler.sample(Float32Array.from(row), createCandidates(VOCABULARY))
        expect([seed, step, tokenId]).toEqual([seed, step, expected.indexOf(Math.max(...expected))])
        text.push(tokenId)
      }
    }
  })

  it.each([{}, { topK: 8 }, { topP: 0.9 }, { minP: 0.1, temperature: 1.5 }])(
    'is drawn as from a model with such logits, with %o',
    (cut) => {
      for (let seed = 1; seed <= 50; seed++) {
        const random = createRandom(seed)
        const sampling = { ...randomSampling(random), ...cut }
        const plain = { ...DEFAULTS, ...cut, seed: sampling.seed }
        const [adjusted, reference] = [new Sampler(sampling, NO_PROMPT), new Sampler(plain, NO_PROMPT)]
        const text: number[] = []
        for (let step = 0; step < 40; step++) {
          const row = randomRow(random)
          const scratch = createCandidates(VOCABULARY)
          const expected = Float32Array.from(referenceLogits(row, { prompt: [], text }, sampling))
          const tokenId = adjusted.sample(Float32Array.from(row), scratch)
          expect([seed, step, tokenId]).toEqual([seed, step, reference.sample(expected, scratch)])
          text.push(tokenId)
        }
      }
    },
  )

  it.each([0, 1])(
    'bans a token at a bias of -100, and takes no other at 100, at temperature %d',
    (temperature) => {
      for (let seed = 1; seed <= 50; seed++) {
        const random = createRandom(seed)
        const row = randomRow(random)
        const best = row.indexOf(Math.max(...row))
        const choose = (bias: number, tokenId: number) =>
          new Sampler({ ...DEFAULTS, temperature, seed, logitBias: [[tokenId, bias]] }, NO_PROMPT).sample(
            Float32Array.from(row),
            createCandidates(VOCABULARY),
          )
        expect(choose(-100, best)).not.toBe(best)
        expect(choose(100, 7)).toBe(7)
      }
    },
  )

  it('is not penalized for what stands in the prompt alone', () => {
    const sampling = { ...DEFAULTS, temperature: 0, presencePenalty: 2, frequencyPenalty: 2 }
    const sampler = new Sampler(sampling, Int32Array.of(1, 1, 1))
    const step = () => sampler.sample(Float32Array.of(0, 5, 2), createCandidates(3))
    // 1 at 5, then at 5 - 2 - 2 = 1 behind 2 at 2, which falls to -2; from then on 1 at 1, -1 and -3 beside 0 at 0.
    expect([step(), step(), step(), step()]).toEqual([1, 2, 1, 0])
  })

  it('ignores tokens that the row does not have', () => {
    const sampling: Sampling = { ...DEFAULTS, temperature: 0, logitBias: [[9, 100]] }
    expect(new Sampler(sampling, NO_PROMPT).sample(Float32Array.of(1, 2), createCandidates(2))).toBe(1)
  })
})

describe('tokens that may not come yet', () => {
  const choose = (sampling: Partial<Sampling>, logits: readonly number[], places: number): number[] => {
    const sampler = new Sampler({ ...DEFAULTS, ...sampling }, NO_PROMPT, { tokenIds: [1, 2, 9], places })
    const scratch = createCandidates(logits.length)
    return Array.from({ length: 4 }, () => sampler.sample(Float32Array.from(logits), scratch))
  }

  it.each<Partial<Sampling>>([
    { temperature: 0 },
    { temperature: 5 },
    { topK: 3 },
    { topP: 0.999_999 },
    { minP: 1e-9 },
    { temperature: 0, repetitionPenalty: 0.01, logitBias: [[1, 100]] },
  ])('come only behind the others, however likely they are, with %o', (sampling) => {
    for (let seed = 1; seed <= 20; seed++) {
      const chosen = choose({ ...sampling, seed }, [0, 160, 50, -2], 3)
      for (const tokenId of chosen.slice(0, 3)) expect([0, 3]).toContain(tokenId)
      expect(chosen[3]).toBe(1)
    }
  })

  it('break nothing where there are no others', () => {
    const sampler = new Sampler(DEFAULTS, NO_PROMPT, { tokenIds: [0, 1], places: 5 })
    expect([0, 1]).toContain(sampler.sample(Float32Array.of(1, 2), createCandidates(2)))
  })

  it.each([
    [undefined, null],
    [{ minTokens: 0, ignoresEndTokens: false, stopTokenIds: [5] }, null],
    [
      { minTokens: 3, ignoresEndTokens: false, stopTokenIds: [5] },
      { tokenIds: [5, 7, 8], places: 3 },
    ],
    [
      { minTokens: 3, ignoresEndTokens: true, stopTokenIds: [5] },
      { tokenIds: [5], places: 3 },
    ],
  ])('are those that would end the text: %j', (rules, expected) => {
    expect(lateTokensOf(rules, [7, 8])).toEqual(expected)
  })
})

describe('applyRepetitionPenalty', () => {
  it('keeps logits finite for a penalty near nothing', () => {
    const logits = Float32Array.of(1, -1, 0, 5)
    applyRepetitionPenalty(logits, [0, 1, 2], 1e-40)
    expect(Array.from(logits).every(Number.isFinite)).toBe(true)
    const sampler = new Sampler({ ...DEFAULTS, repetitionPenalty: 1e-40, topK: 1 }, Int32Array.of(0))
    expect(sampler.sample(Float32Array.of(1, 2), createCandidates(2))).toBe(0)
  })

  it('divides positive logits and multiplies negative ones', () => {
    const logits = Float32Array.of(4, -4, 0, 8)
    applyRepetitionPenalty(logits, [0, 1, 2], 2)
    expect([...logits]).toEqual([2, -8, 0, 8])
  })
})
