import { describe, expect, it } from 'vitest'
import { BodyBudget } from './body-budget.ts'

describe('BodyBudget', () => {
  it('lets an address take half of what the others leave, so that there is room for the next', () => {
    const budget = new BodyBudget(100)
    const [a, b, c] = ['a', 'b', 'c'].map((address) => budget.open(address))

    a?.take(50)
    expect(() => a?.take(1)).toThrow(
      'Too many request bodies wait to be answered: of your address at most 50 bytes may wait; try again in 1 s.',
    )
    b?.take(25)
    expect(() => b?.take(1)).toThrow('of your address at most 25 bytes may wait')
    c?.take(12)
    expect(() => c?.take(1)).toThrow('of your address at most 12 bytes may wait')

    expect(budget.takenBytes).toBe(87)
    a?.[Symbol.dispose]()
    b?.take(19)
    budget.checkIntegrity()
  })

  it('counts all holds of an address, and gives each back once', () => {
    const budget = new BodyBudget(100)
    const first = budget.open('a')
    const second = budget.open('a')
    first.take(20)
    second.take(20)

    first[Symbol.dispose]()
    first[Symbol.dispose]()
    budget.checkIntegrity()

    expect(budget.takenBytes).toBe(20)
    second[Symbol.dispose]()
    budget.checkIntegrity()
    expect(budget.takenBytes).toBe(0)
  })
})
