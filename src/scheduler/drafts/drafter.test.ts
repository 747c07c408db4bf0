import { describe, expect, it } from 'vitest'
import { Drafter } from './drafter.ts'
import { NGRAM_TOKENS } from './ngram-proposer.ts'

const VERSE = Array.from({ length: NGRAM_TOKENS + 6 }, (_, i) => i)

function pointAt(tokenIds: readonly number[], newTokens: number, maxTokens = 15) {
  const computedTokenIds = tokenIds.slice(0, -1)
  return { computedTokenIds, lastTokenId: tokenIds.at(-1) ?? 0, newTokens, maxTokens }
}

describe('Drafter', () => {
  it('reads what has been computed since it was last asked, and the token after it', () => {
    const drafter = new Drafter()
    const text = [...VERSE, 50]
    expect([...drafter.draft(pointAt(text, 1))]).toEqual([])
    // Several tokens later, as after a step with others beside it.
    text.push(...VERSE.slice(0, NGRAM_TOKENS))
    expect([...drafter.draft(pointAt(text, 1 + NGRAM_TOKENS))]).toEqual(
      VERSE.slice(NGRAM_TOKENS, NGRAM_TOKENS + 5),
    )
  })

  it('keeps to the room there is', () => {
    const text = [...VERSE, ...VERSE.slice(0, NGRAM_TOKENS)]
    expect(new Drafter().draft(pointAt(text, 1, 2))).toHaveLength(2)
    expect(new Drafter().draft(pointAt(text, 1, 0))).toHaveLength(0)
    expect(new Drafter().draft(pointAt(text, 1, -1))).toHaveLength(0)
  })

  it('stops when it was wrong', () => {
    const drafter = new Drafter()
    const text = [...VERSE, ...VERSE.slice(0, NGRAM_TOKENS)]
    expect(drafter.draft(pointAt(text, 1))).toHaveLength(5)
    drafter.observe({ drafted: 5, accepted: 0 }, 1)
    expect(drafter.draft(pointAt(text, 2))).toHaveLength(0)
  })
})
