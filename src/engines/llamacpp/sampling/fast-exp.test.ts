import { describe, expect, it } from 'vitest'
import { fastExp } from './fast-exp.ts'

describe('fastExp', () => {
  it('agrees with Math.exp over the whole range', () => {
    let worst = 0
    for (let x = 0; x > -700; x -= 0.00371) worst = Math.max(worst, Math.abs(fastExp(x) / Math.exp(x) - 1))
    expect(worst).toBeLessThan(1e-11)
  })

  it('is 1 at 0 and 0 where a double ends', () => {
    expect(fastExp(0)).toBe(1)
    expect(fastExp(-0)).toBe(1)
    expect(fastExp(-800)).toBe(0)
    expect(fastExp(Number.NEGATIVE_INFINITY)).toBe(0)
  })
})
