/** That a draft changes no distribution: the rule alone, and with the sampler that it is used with. */
import { describe, expect, it } from 'vitest'
import type { Sampling } from '../../../protocol/engine.ts'
import { createCandidates } from './candidates.ts'
import { verifyDraft } from './draft-verification.ts'
import type { LateTokens } from './logit-adjustments.ts'
import { createRandom } from './random.ts'
import { Sampler } from './sampling.ts'

const VOCABULARY = 6
const scratch = createCandidates(VOCABULARY)

/** A model of the last two tokens: logits that are always the same for the same two. */
function logitsAfter(tokenIds: readonly number[]): Float32Array {
  const [last = 0, before = 0] = tokenIds.toReversed()
  const random = createRandom(1 + last * VOCABULARY + before)
  return Float32Array.from({ length: VOCABULARY }, () => random() * 2)
}

/** Continues a prompt as the engine does, with drafts from anywhere. */
function continueText(
  { lateTokens = null, ...sampling }: Sampling & { readonly lateTokens?: LateTokens | null },
  count: number,
  draftAfter: (tokenIds: readonly number[]) => readonly number[],
): { tokenIds: number[]; accepted: number } {
  const prompt = [0, 1]
  const sampler = new Sampler(sampling, Int32Array.from(prompt), lateTokens)
  const text = [...prompt]
  let accepted = 0
  while (text.length < count + prompt.length) {
    const draft = draftAfter(text)
    const verified = verifyDraft(
      { tokenIds: [text.at(-1) ?? 0, ...draft], draftTokens: draft.length },
      (index) => sampler.sample(logitsAfter([...text, ...draft.slice(0, index)]), scratch),
    )
    accepted += verified.accepted
    text.push(...draft.slice(0, verified.accepted), verified.tokenId)
  }
  return { tokenIds: text.slice(prompt.length, prompt.length + count), accepted }
}

const SAMPLING: Sampling = { temperature: 1, topK: 0, topP: 1, repetitionPenalty: 1, seed: 1 }

describe('verifyDraft', () => {
  it('keeps the guesses up to the first that is not what was sampled', () => {
    const sampled = [5, 6, 7, 8]
    const asked: number[] = []
    const sample = (index: number): number => {
      asked.push(index)
      return sampled[index] ?? -1
    }
    const verify = (...draft: number[]) =>
      verifyDraft({ tokenIds: [4, ...draft], draftTokens: draft.length }, sample)
    expect(verify(5, 6, 7)).toEqual({ accepted: 3, tokenId: 8 })
    expect(verify(5, 9, 7)).toEqual({ accepted: 1, tokenId: 6 })
    expect(verify(9, 6, 7)).toEqual({ accepted: 0, tokenId: 5 })
    expect(verify()).toEqual({ accepted: 0, tokenId: 5 })
    // A row beyond a wrong guess is of a text that never was: asking for it would use up a random number.
    expect(asked).toEqual([0, 1, 2, 3, 0, 1, 0, 0])
  })

  it.each([
    {},
    { temperature: 0 },
    { temperature: 0.7, topK: 3 },
    { topP: 0.8 },
    { temperature: 0.5, repetitionPenalty: 1.3 },
    { presencePenalty: 0.8, frequencyPenalty: 0.4 },
    { lateTokens: { tokenIds: [0, 1, 4], places: 30 } },
    { temperature: 0.7, minP: 0.1, frequencyPenalty: -0.5, logitBias: [[2, 1.5]] },
  ] as const)('makes the very tokens of a seed that come without drafts: %o', (overrides) => {
    let accepted = 0
    for (let seed = 1; seed <= 50; seed++) {
      const sampling = { ...SAMPLING, ...overrides, seed }
      const plain = continueText(sampling, 60, () => [])
      const random = createRandom(seed + 1000)
      const guess = (): number => Math.floor(random() * VOCABULARY)
      const drafted = continueText(sampling, 60, () => Array.from({ length: 3 }, guess))
      expect(drafted.tokenIds).toEqual(plain.tokenIds)
      accepted += drafted.accepted
    }
    expect(accepted).toBeGreaterThan(100)
  })

  it("draws from the model's distribution whatever is guessed", () => {
    const trials = 20_000
    const logits = logitsAfter([0, 1])
    const likeliest = (row: Float32Array) => row.indexOf(Math.max(...row))
    const [first, least] = [likeliest(logits), logits.indexOf(Math.min(...logits))]
    // Two guesses: what a model that agrees would propose, the likeliest token twice, the least likely twice.
    for (const draft of [
      [first, likeliest(logitsAfter([0, 1, first]))],
      [first, first],
      [least, least],
    ]) {
      const counts = new Map<string, number>()
      let accepted = 0
      for (let seed = 1; seed <= trials; seed++) {
        const made = continueText({ ...SAMPLING, seed }, 2, (text) => (text.length === 2 ? draft : []))
        accepted += made.accepted
        const key = made.tokenIds.join()
        counts.set(key, (counts.get(key) ?? 0) + 1)
      }
      let chiSquare = 0
      for (let a = 0; a < VOCABULARY; a++) {
        for (let b = 0; b < VOCABULARY; b++) {
          const expected = trials * probability([0, 1], a) * probability([0, 1, a], b)
          chiSquare += ((counts.get([a, b].join()) ?? 0) - expected) ** 2 / expected
        }
      }
      expect(accepted).toBeGreaterThan(trials / 50)
      // 35 degrees of freedom: a true distribution exceeds this once in ten thousand times. The seeds are fixed.
      expect(chiSquare).toBeLessThan(74.9)
    }
  })
})

function probability(tokenIds: readonly number[], next: number): number {
  const weights = [...logitsAfter(tokenIds)].map((logit) => Math.exp(logit))
  return (weights[next] ?? 0) / weights.reduce((a, b) => a + b, 0)
}
