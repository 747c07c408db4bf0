import { expect, it } from 'vitest'
import { toSampling } from './sampling.ts'

const PLAIN = {
  ...{ temperature: 1, top_k: 0, top_p: 1, repetition_penalty: 1, min_p: 0 },
  ...{ presence_penalty: 0, frequency_penalty: 0, logit_bias: {} },
}

it.each([2 ** 63, -(2 ** 63), 2 ** 53 + 2])(
  'makes of the seed %d one whose choices have seeds of their own',
  (seed) => {
    const { seed: made } = toSampling({ ...PLAIN, seed })
    expect(Number.isSafeInteger(made)).toBe(true)
    expect((made ?? 0) + 1).not.toBe(made)
    expect(toSampling({ ...PLAIN, seed: seed / 2 }).seed).not.toBe(made)
  },
)

it.each([0, -7, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, null])('keeps the seed %j', (seed) => {
  expect(toSampling({ ...PLAIN, seed }).seed).toBe(seed)
})
