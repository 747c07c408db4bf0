import { expect, it } from 'vitest'
import type { Stats } from './conversation.ts'
import { tokensPerSecond } from './speed.ts'

const stats = (facts: Partial<Stats>): Stats => ({
  ...{ firstTokenMs: 100, durationMs: 0, completionTokens: 11 },
  ...{ promptTokens: 5, cachedTokens: 0, isExact: true },
  ...facts,
})

it('is measured from the first token', () => {
  expect(tokensPerSecond(stats({ durationMs: 500 }))).toBe(20)
})

it('counts from the request where all tokens came together, as on a busy machine', () => {
  expect(tokensPerSecond(stats({ durationMs: 0 }))).toBe(110)
  expect(tokensPerSecond(stats({ durationMs: 10 }))).toBe(100)
})

it('is none of a single token, or of none', () => {
  expect(tokensPerSecond(stats({ completionTokens: 1 }))).toBeNull()
  expect(tokensPerSecond(stats({ firstTokenMs: null, completionTokens: 0 }))).toBeNull()
})
