import { describe, expect, it } from 'vitest'
import { createCandidates } from './candidates.ts'
import { createRandom } from './random.ts'
import { drawFromAll } from './whole-vocabulary.ts'

const SIZE = 5000

/** Draws that fell on tokens of each class, out of `draws`. */
function countByClass(
  logits: Float32Array,
  { temperature = 1, topP = 1, minP = 0, draws = 20_000 },
  classOf: (tokenId: number) => number,
): number[] {
  const distribution = { logits, head: createCandidates(logits.length), temperature, topP, minP }
  const random = createRandom(7)
  const counts: number[] = []
  for (let i = 0; i < draws; i++) {
    const found = classOf(drawFromAll(distribution, random))
    counts[found] = (counts[found] ?? 0) + 1
  }
  return counts
}

/** How many standard deviations a count is away from what its probability says. */
function deviation(count: number, probability: number, draws: number): number {
  return Math.abs(count - probability * draws) / Math.sqrt(probability * (1 - probability) * draws)
}

describe('drawFromAll', () => {
  it.each([1e-5, 1e-310, Number.MIN_VALUE])('draws one of the likeliest at temperature %d', (temperature) => {
    const logits = Float32Array.from({ length: SIZE }, (_, id) => (id % 2500 === 7 ? 3 : 2 + id / SIZE / 2))
    for (const truncation of [{}, { topP: 0.9 }, { minP: 0.1 }]) {
      const [likeliest = 0, others = 0] = countByClass(
        logits,
        { temperature, draws: 20, ...truncation },
        (tokenId) => (tokenId % 2500 === 7 ? 0 : 1),
      )
      expect({ likeliest, others }).toEqual({ likeliest: 20, others: 0 })
    }
  })

  /** Token 0 stands out; the others are of three kinds in turn. */
  const kindOf = (tokenId: number) => (tokenId === 0 ? 0 : 1 + (tokenId % 3))

  it.each([
    ['all tokens are nearly alike', [0, 0, -0.5, -1]],
    ['most of the weight lies in many unlikely tokens', [0, -6, -7, -9]],
    ['some of it does', [0, -10, -11, -9]],
    ['hardly any does', [0, -14, -13, -20]],
    ['likely tokens are many', [0, -2, -9, -1]],
  ])('draws each kind of token as often as it is likely where %s', (_, kinds) => {
    for (const temperature of [1, 0.7]) {
      const logits = Float32Array.from(
        { length: SIZE },
        (_unused, id) => 3 + (kinds[kindOf(id)] ?? 0) * temperature,
      )
      const weights = [0, 0, 0, 0]
      for (const id of logits.keys())
        weights[kindOf(id)] = (weights[kindOf(id)] ?? 0) + Math.exp(kinds[kindOf(id)] ?? 0)
      const sum = weights.reduce((a, b) => a + b, 0)
      const draws = 20_000
      const counts = countByClass(logits, { temperature, draws }, kindOf)
      for (const [kind, weight] of weights.entries()) {
        if ((weight / sum) * draws < 5) continue
        expect(deviation(counts[kind] ?? 0, weight / sum, draws)).toBeLessThan(4)
      }
    }
  })

  it.each([0.5, 0.9, 0.99, 0.9999])(
    'keeps with top_p %d what sorting and adding up keeps, and no other token',
    (topP) => {
      for (const spread of [0.5, 2, 6]) {
        const random = createRandom(spread * 10)
        const logits = Float32Array.from(
          { length: 1000 },
          () => (random() + random() + random() - 1.5) * 2 * spread,
        )
        const order = [...logits.keys()].sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0))
        const weights = order.map((id) => Math.exp(logits[id] ?? 0))
        const sum = weights.reduce((a, b) => a + b, 0)
        let size = 0
        for (let held = 0; held < topP * sum; size++) held += weights[size] ?? 0
        const kept = new Set(order.slice(0, size))
        const heavier = new Set(order.slice(0, Math.ceil(size / 8)))
        const draws = 2000
        const counts = countByClass(logits, { topP, draws }, (id) =>
          kept.has(id) ? (heavier.has(id) ? 1 : 2) : 0,
        )
        expect(counts[0] ?? 0).toBe(0)
        const keptWeight = weights.slice(0, size).reduce((a, b) => a + b, 0)
        const probability = weights.slice(0, heavier.size).reduce((a, b) => a + b, 0) / keptWeight
        if (probability < 0.999) expect(deviation(counts[1] ?? 0, probability, draws)).toBeLessThan(4)
      }
    },
  )

  it.each([1e-12, 0.001, 0.3, 1])('keeps with min_p %d what weighs that much, and no other token', (minP) => {
    for (const topP of [1, 0.9]) {
      for (const [best, temperature] of [
        [0, 1],
        [-7, 0.7],
        [2000, 2],
      ] as const) {
        const random = createRandom(best + 8)
        const logits = Float32Array.from({ length: 1000 }, () => best - random() * 12)
        logits[300] = best
        logits[700] = best
        const isKept = (id: number) => Math.exp(((logits[id] ?? 0) - best) / temperature) >= minP
        const counts = countByClass(logits, { topP, minP, temperature, draws: 2000 }, (id) =>
          isKept(id) ? (id === 300 ? 1 : 2) : 0,
        )
        expect(counts[0] ?? 0).toBe(0)
        if (topP < 1) continue
        const kept = [...logits.keys()].filter(isKept)
        const sum = kept.reduce((all, id) => all + Math.exp(((logits[id] ?? 0) - best) / temperature), 0)
        expect(deviation(counts[1] ?? 0, 1 / sum, 2000)).toBeLessThan(4)
      }
    }
  })

  it.each([1e-300, 1e-9])('takes the likeliest token at a temperature of %d', (temperature) => {
    const logits = new Float32Array(SIZE).fill(1)
    logits[4321] = 1.01
    for (const [topP, minP] of [
      [1, 0],
      [0.9, 0],
      [1, 1],
      [0.9, 0.5],
    ] as const) {
      const settings = { temperature, topP, minP, draws: 10 }
      expect(countByClass(logits, settings, (id) => Number(id === 4321))[1]).toBe(10)
    }
  })

  it('draws from logits that are as large as a float can be', () => {
    const logits = new Float32Array(SIZE).fill(-3.4e38)
    logits[17] = 3.4e38
    for (const [topP, minP] of [
      [1, 0],
      [0.9, 0],
      [1, 1],
      [0.9, 0.5],
    ] as const)
      expect(countByClass(logits, { topP, minP, draws: 10 }, (id) => Number(id === 17))[1]).toBe(10)
  })

  it('draws from a tiny vocabulary whose largest logit is 0', () => {
    const logits = new Float32Array(50).fill(-60)
    logits[7] = 0
    expect(countByClass(logits, { draws: 100 }, (id) => Number(id === 7))[1]).toBe(100)
  })
})
