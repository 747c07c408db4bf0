import { expect, it } from 'vitest'
import { toSampling } from './sampling.ts'

const PLAIN = {
  ...{ temperature: 1, top_k: 0, top_p: 1, repetition_penalty: 1, min_p: 0 },
  ...{ presence_penalty: 0, frequency_penalty: 0, logit_bias: {} },
}

it.each([2 ** 63, -(2 ** 63), 2 ** 53 + 2, Number.MAX_SAFE_INTEGER])(
  'makes of the seed %d one whose choices have seeds of their own',
  (seed) => {
    const { seed: made } = toSampling({ ...PLAIN, seed })
    expect(Number.isSafeInteger(made)).toBe(true)
    expect(Number.isSafeInteger((made ?? 0) + 64)).toBe(true)
  },
)

it.each([0, 5e-324, 1e-310, 9.9e-6])(
  'takes the likeliest token each time at temperature %d',
  (temperature) => {
    expect(toSampling({ ...PLAIN, temperature }).temperature).toBe(0)
  },
)

it.each([1e-5, 0.01, 5])('keeps the temperature %d', (temperature) => {
  expect(toSampling({ ...PLAIN, temperature }).temperature).toBe(temperature)
})

it.each([0, -7, 2 ** 52, null])('keeps the seed %j', (seed) => {
  expect(toSampling({ ...PLAIN, seed }).seed).toBe(seed)
})
