import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reseat } from './beam-seats.ts'

describe('reseat', () => {
  it('leaves each first child where its parent is and forks the others into seats that are left', () => {
    expect(reseat([1, 1, 0], [4, 5, 6], [4, 5, 6])).toEqual({
      seats: [5, 6, 4],
      drops: [6],
      forks: [{ from: 5, to: 6 }],
    })
  })

  it('spreads the first beam over all seats of its group', () => {
    const forks = [
      { from: 2, to: 3 },
      { from: 2, to: 4 },
    ]
    expect(reseat([0, 0, 0], [2], [2, 3, 4])).toEqual({ seats: [2, 3, 4], drops: [], forks })
  })

  it('gives every child what its parent held, whatever the parents', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 8 }),
        fc.array(fc.array(fc.nat(7), { minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 12 }),
        (numBeams, generations) => {
          const all = Array.from({ length: numBeams }, (_, i) => i + 10)
          const cache = new Map<number, string>([[10, 'prompt']])
          let seats: readonly number[] = [10]
          let texts = ['prompt']
          for (const [step, wanted] of generations.entries()) {
            const parents = wanted.slice(0, numBeams).map((parent) => parent % texts.length)
            const next = reseat(parents, seats, all)
            for (const seat of next.drops) cache.delete(seat)
            for (const { from, to } of next.forks) {
              expect(cache.has(to)).toBe(false)
              cache.set(to, cache.get(from) ?? '')
            }
            texts = parents.map((parent, beam) => `${texts[parent]} ${step}.${beam}`)
            seats = next.seats
            expect(new Set(seats).size).toBe(parents.length)
            for (const [beam, seat] of seats.entries()) {
              cache.set(seat, `${cache.get(seat)} ${step}.${beam}`)
              expect(cache.get(seat)).toBe(texts[beam])
            }
            expect(cache.size).toBe(seats.length)
          }
        },
      ),
    )
  })
})
