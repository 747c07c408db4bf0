import { describe, expect, it } from 'vitest'
import type { Sampling } from '../../../protocol/engine.ts'
import type { BeamChoice } from '../../../protocol/model-runner.ts'
import { BeamSampler } from './beam-sampling.ts'
import { createCandidates } from './candidates.ts'

const GREEDY: Sampling = { temperature: 0, topK: 0, topP: 1, repetitionPenalty: 1, seed: null }
const DRAWN: Sampling = { ...GREEDY, temperature: 1, seed: 1 }

interface Row {
  readonly score?: number
  readonly tokenIds?: readonly number[]
  readonly probabilities: readonly number[]
}

/** Logits are probabilities' logarithms moved by a number that must not matter. */
function choose(
  sampling: Sampling,
  rows: readonly Row[],
  options: { count?: number; prompt?: readonly number[] } = {},
): BeamChoice[] {
  const { count = 4, prompt = [] } = options
  const sampler = new BeamSampler(sampling, Int32Array.from(prompt))
  const vocabSize = rows[0]?.probabilities.length ?? 0
  return sampler.choose(
    rows.map(({ score = 0, tokenIds = [], probabilities }) => ({
      beam: { score, tokenIds },
      logits: Float32Array.from(probabilities, (probability) => Math.log(probability) + 5),
    })),
    count,
    createCandidates(vocabSize),
  )
}

const namesOf = (choices: readonly BeamChoice[]): string[] =>
  choices.map(({ beam, tokenId }) => `${beam}:${tokenId}`)

describe('BeamSampler', () => {
  it('ranks the continuations of all beams by the sum of their log-probabilities', () => {
    const rows = [
      { score: Math.log(0.5), probabilities: [0.1, 0.2, 0.3, 0.4] },
      { score: Math.log(0.25), probabilities: [0.05, 0.9, 0.03, 0.02] },
    ]
    const choices = choose(GREEDY, rows)
    expect(namesOf(choices)).toEqual(['1:1', '0:3', '0:2', '0:1'])
    expect(choices.map(({ score }) => Math.exp(score))).toEqual(
      [0.225, 0.2, 0.15, 0.1].map((value) => expect.closeTo(value, 6)),
    )
  })

  it('puts equals in the order of beam and token', () => {
    const rows = [{ probabilities: [0.25, 0.25, 0.25, 0.25] }, { probabilities: [0.25, 0.25, 0.25, 0.25] }]
    expect(namesOf(choose(GREEDY, rows, { count: 6 }))).toEqual(['0:0', '0:1', '0:2', '0:3', '1:0', '1:1'])
  })

  it('multiplies the log-probability of tokens seen in the prompt or in the beam itself', () => {
    const sampling = { ...GREEDY, repetitionPenalty: 2 }
    const rows = [{ tokenIds: [1], probabilities: [0.2, 0.3, 0.5] }]
    const choices = choose(sampling, rows, { count: 3, prompt: [2] })
    expect(namesOf(choices)).toEqual(['0:2', '0:0', '0:1'])
    expect(choices.map(({ score }) => Math.exp(score))).toEqual(
      [0.25, 0.2, 0.09].map((value) => expect.closeTo(value, 6)),
    )
  })

  it('adds bias to log-probabilities, and penalizes what stands in the beam itself', () => {
    const sampling: Sampling = {
      ...GREEDY,
      presencePenalty: 0.5,
      frequencyPenalty: 0.25,
      logitBias: [[2, -1]],
    }
    const rows = [
      { tokenIds: [1, 1], probabilities: [0.2, 0.3, 0.5] },
      { tokenIds: [0, 2], probabilities: [0.2, 0.3, 0.5] },
    ]
    const scores = choose(sampling, rows, { count: 6, prompt: [0] }).map(
      ({ beam, tokenId, score }) => [`${beam}:${tokenId}`, score] as const,
    )
    expect(Object.fromEntries(scores)).toEqual({
      '0:0': expect.closeTo(Math.log(0.2), 6),
      '0:1': expect.closeTo(Math.log(0.3) - 1, 6),
      '0:2': expect.closeTo(Math.log(0.5) - 1, 6),
      '1:0': expect.closeTo(Math.log(0.2) - 0.75, 6),
      '1:1': expect.closeTo(Math.log(0.3), 6),
      '1:2': expect.closeTo(Math.log(0.5) - 1.75, 6),
    })
  })

  it('draws without putting back, and gives each its scaled log-probability', () => {
    const rows = [{ score: -1, probabilities: [0.5, 0.3, 0.2] }]
    for (let seed = 0; seed < 50; seed++) {
      const choices = choose({ ...DRAWN, temperature: 2, seed }, rows, { count: 3 })
      expect(namesOf(choices).sort()).toEqual(['0:0', '0:1', '0:2'])
      for (const { tokenId, score } of choices) {
        expect(score).toBeCloseTo(-1 + Math.log([0.5, 0.3, 0.2][tokenId] ?? 0) / 2, 6)
      }
    }
  })

  it('draws each continuation first as often as its share of all beams', () => {
    const rows = [
      { score: Math.log(0.75), probabilities: [0.6, 0.4] },
      { score: Math.log(0.25), probabilities: [0.1, 0.9] },
    ]
    const counts = new Map<string, number>()
    const draws = 20_000
    for (let seed = 0; seed < draws; seed++) {
      const [first = ''] = namesOf(choose({ ...DRAWN, seed }, rows, { count: 1 }))
      counts.set(first, (counts.get(first) ?? 0) + 1)
    }
    const shares = { '0:0': 0.45, '0:1': 0.3, '1:0': 0.025, '1:1': 0.225 }
    for (const [name, share] of Object.entries(shares)) {
      expect((counts.get(name) ?? 0) / draws).toBeCloseTo(share, 1.7)
    }
  })

  it.each([
    ['top_k', { topK: 3 }, ['0:0', '0:1', '0:2']],
    ['top_p', { topP: 0.8 }, ['0:0', '0:1', '0:2']],
    ['min_p', { minP: 0.4 }, ['0:0', '0:1', '0:2']],
    ['min_p 1, which keeps two', { minP: 1 }, ['0:0', '0:1']],
    ['top_k 1, which keeps two', { topK: 1 }, ['0:0', '0:1']],
    ['top_p 0, which keeps two', { topP: 0 }, ['0:0', '0:1']],
  ])('draws only from what %s leaves, and no more than there is', (_, cut, expected) => {
    const rows = [{ probabilities: [0.4, 0.3, 0.2, 0.06, 0.04] }]
    expect(namesOf(choose({ ...DRAWN, ...cut }, rows, { count: 5 })).sort()).toEqual(expected)
  })

  it('finds what is left however unlikely it is beside what was drawn', () => {
    const rows = [{ probabilities: [1, 1e-30, 1e-35] }]
    expect(namesOf(choose(DRAWN, rows, { count: 3 })).sort()).toEqual(['0:0', '0:1', '0:2'])
  })

  it('refuses logits that no sampling makes sense of', () => {
    expect(() => choose(GREEDY, [{ probabilities: [Number.NaN, 1] }])).toThrow("The model's logits hold NaN.")
  })
})
