import { describe, expect, it } from 'vitest'
import { createCandidates, keepHeaviest, keepTop, weigh, type Candidates } from './candidates.ts'
import { createRandom } from './random.ts'

const idsOf = ({ ids, count }: Candidates) => [...ids.subarray(0, count)].sort((a, b) => a - b)

function randomLogits(size: number, seed: number, steps = 2 ** 20): Float32Array {
  const random = createRandom(seed)
  return Float32Array.from({ length: size }, () => Math.floor(random() * steps) / steps)
}

describe('keepTop', () => {
  it.each([1, 2, 3, 17, 64, 299, 300, 5000])('keeps the %d largest of 300', (k) => {
    const logits = randomLogits(300, k)
    const candidates = createCandidates(300)
    keepTop(candidates, logits, k)
    const expected = [...logits.keys()].sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0)).slice(0, k)
    expect(idsOf(candidates)).toEqual(expected.sort((a, b) => a - b))
    for (let i = 0; i < candidates.count; i++) {
      expect(candidates.weights[i]).toBe(logits[candidates.ids[i] ?? -1])
    }
  })

  it('keeps exactly k where many are equal', () => {
    const candidates = createCandidates(100)
    keepTop(candidates, new Float32Array(100).fill(1), 10)
    expect(candidates.count).toBe(10)
  })
})

describe('keepHeaviest', () => {
  /** Fills with weights relative to the largest, as sampling has them. */
  function fill(values: Float32Array): { candidates: Candidates; sum: number } {
    const candidates = createCandidates(values.length)
    keepTop(candidates, values, values.length)
    const largest = Math.max(...values)
    let sum = 0
    for (let i = 0; i < candidates.count; i++) {
      candidates.weights[i] = (values[i] ?? 0) / largest
      sum += candidates.weights[i] ?? 0
    }
    return { candidates, sum }
  }

  /** The definition: sort, add up until the share is reached. */
  function bruteForce(values: Float32Array, share: number): number {
    const sorted = [...values].sort((a, b) => b - a)
    const total = sorted.reduce((a, b) => a + b, 0)
    let kept = 0
    for (let sum = 0; kept < sorted.length && (sum < share * total || kept === 0); kept++)
      sum += sorted[kept] ?? 0
    return kept
  }

  it.each([1e-9, 0.1, 0.5, 0.9, 0.99, 0.999999])(
    'keeps the smallest set that holds a share of %d',
    (share) => {
      for (let seed = 0; seed < 50; seed++) {
        const values = randomLogits(1 + seed * 7, seed, 2 ** 16).map((value) => value ** 8 + 1e-6)
        const { candidates, sum } = fill(values)
        const weight = keepHeaviest(candidates, sum, share * sum)
        const kept = idsOf(candidates)
        expect(kept.length).toBe(bruteForce(values, share))
        const lightestKept = Math.min(...kept.map((id) => values[id] ?? 0))
        const others = [...values.keys()].filter((id) => !kept.includes(id))
        for (const id of others) expect(values[id]).toBeLessThanOrEqual(lightestKept)
        const weights = candidates.weights.subarray(0, candidates.count)
        expect(weight).toBeCloseTo(
          weights.reduce((a, b) => a + b, 0),
          9,
        )
      }
    },
  )

  it('keeps no more than it must where all are equal', () => {
    const { candidates, sum } = fill(new Float32Array(8).fill(1))
    expect(keepHeaviest(candidates, sum, 0.5 * sum)).toBe(4)
    expect(candidates.count).toBe(4)
  })
})

describe('weigh', () => {
  it.each([1e-5, 1e-300, 1e-310, Number.MIN_VALUE])(
    'leaves only the largest at temperature %d',
    (temperature) => {
      const candidates = createCandidates(4)
      keepTop(candidates, Float32Array.of(2, 3, 3, -Infinity), 4)
      expect(weigh(candidates, temperature)).toBe(2)
      expect([...candidates.weights]).toEqual([0, 1, 1, 0])
    },
  )
})
