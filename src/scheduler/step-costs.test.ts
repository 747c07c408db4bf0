import { describe, expect, it } from 'vitest'
import { StepCosts } from './step-costs.ts'

/** A machine whose steps cost what they cost, stepped until what was learned of it no longer changes. */
function promptTokensOn({ decodeMs, tokenMs }: { decodeMs: number; tokenMs: number }): number {
  const costs = new StepCosts()
  for (let i = 0; i < 50; i++) {
    const tokens = costs.promptTokensBesideDecodes()
    costs.observe(tokens, { decodeMs, promptMs: tokens * tokenMs })
  }
  return costs.promptTokensBesideDecodes()
}

describe('StepCosts', () => {
  it('starts with a chunk that is neither small nor large', () => {
    expect(new StepCosts().promptTokensBesideDecodes()).toBe(128)
  })

  it('fills a step up to 100 ms with prompt tokens', () => {
    expect(promptTokensOn({ decodeMs: 20, tokenMs: 0.5 })).toBe(160)
  })

  it('gives prompts as much time as the streams where those need more than half of that', () => {
    expect(promptTokensOn({ decodeMs: 300, tokenMs: 2 })).toBe(150)
  })

  it('gives prompts 64 tokens however slow they are', () => {
    expect(promptTokensOn({ decodeMs: 10, tokenMs: 15 })).toBe(64)
  })

  it('follows a price that grows with the context', () => {
    const costs = new StepCosts()
    const chunks: number[] = []
    for (let tokenMs = 0.2; tokenMs < 1; tokenMs += 0.1) {
      const tokens = costs.promptTokensBesideDecodes()
      chunks.push(tokens)
      costs.observe(tokens, { decodeMs: 10, promptMs: tokens * tokenMs })
    }
    expect(chunks.slice(1)).toEqual(chunks.slice(1).toSorted((a, b) => b - a))
    expect(chunks.at(-1)).toBeLessThan(200)
  })

  it('learns nothing of prompts from a step without any', () => {
    const costs = new StepCosts()
    costs.observe(0, { decodeMs: 20, promptMs: 0 })
    expect(costs.promptTokensBesideDecodes()).toBe(128)
  })

  it('learns nothing of streams from a step without any', () => {
    const costs = new StepCosts()
    costs.observe(100, { decodeMs: 20, promptMs: 50 })
    costs.observe(100, { decodeMs: 0, promptMs: 50 })
    expect(costs.promptTokensBesideDecodes()).toBe(160)
  })

  it('counts what a draft model took to the time of the streams', () => {
    const costs = new StepCosts()
    costs.observe(100, { decodeMs: 10, promptMs: 50, draft: { proposalsMs: 6, catchUpMs: 4 } })
    expect(costs.promptTokensBesideDecodes()).toBe(160)
  })
})
