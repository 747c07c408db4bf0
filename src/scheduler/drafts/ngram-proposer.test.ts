import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { lengthOf } from '../../../test/support/length-of.ts'
import { NGRAM_TOKENS, NgramProposer } from './ngram-proposer.ts'

function proposerOf(tokenIds: readonly number[]): NgramProposer {
  const proposer = new NgramProposer()
  for (const tokenId of tokenIds) proposer.append(tokenId)
  return proposer
}

/** The same, by looking everywhere. */
function searchNaively(tokenIds: readonly number[], max: number): number[] {
  const newest = tokenIds.slice(-NGRAM_TOKENS)
  for (let end = tokenIds.length - 1; end >= NGRAM_TOKENS; end--) {
    if (newest.some((tokenId, i) => tokenIds[end - NGRAM_TOKENS + i] !== tokenId)) continue
    const going = [...tokenIds]
    for (let i = 0; i < max; i++) going.push(going[end + i] ?? -1)
    return going.slice(tokenIds.length)
  }
  return []
}

const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i)

describe('NgramProposer', () => {
  it('proposes what followed the newest tokens the last time', () => {
    const verse = upTo(NGRAM_TOKENS, 100)
    const proposer = proposerOf([...verse, 1, 2, 3, ...verse, 4, 5, 6, ...verse])
    expect([...proposer.propose(3)]).toEqual([4, 5, 6])
  })

  it('proposes nothing where fewer tokens are the same, or nothing is asked for', () => {
    const verse = upTo(NGRAM_TOKENS, 100)
    expect([...proposerOf([...verse, 1, 2, ...verse.slice(1)]).propose(4)]).toEqual([])
    expect([...proposerOf(verse.slice(1)).propose(4)]).toEqual([])
    expect([...proposerOf([...verse, 1, ...verse]).propose(0)]).toEqual([])
  })

  it('goes on with a repetition beyond the end of the text', () => {
    const twice = [...upTo(NGRAM_TOKENS), ...upTo(NGRAM_TOKENS)]
    expect([...proposerOf(twice).propose(2 * NGRAM_TOKENS + 1)]).toEqual([...twice, 0])
    expect([...proposerOf(Array.from({ length: NGRAM_TOKENS + 1 }, () => 7)).propose(5)]).toEqual([
      7, 7, 7, 7, 7,
    ])
  })

  it('finds what a search of the whole text finds, at every length', () => {
    let found = 0
    fc.assert(
      fc.property(
        // Pieces of few kinds, so that there is something to find, and some of them larger than what is held at first.
        fc.array(fc.tuple(fc.nat(3), fc.integer({ min: 1, max: 30 })), { minLength: 30, maxLength: 100 }),
        fc.integer({ min: 1, max: 20 }),
        (pieces, max) => {
          const proposer = new NgramProposer()
          const tokenIds: number[] = []
          for (const [kind, length] of pieces) {
            for (const tokenId of upTo(length, kind * 3)) {
              proposer.append(tokenId)
              tokenIds.push(tokenId)
            }
            const proposed = [...proposer.propose(max)]
            expect(proposed).toEqual(searchNaively(tokenIds, max))
            if (proposed.length > 0) found++
          }
          expect(proposer.length).toBe(tokenIds.length)
        },
      ),
      { numRuns: lengthOf({ test: 40, soak: 800 }) },
    )
    expect(found).toBeGreaterThan(500)
  })
})
