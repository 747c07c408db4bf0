import { describe, expect, it } from 'vitest'
import { AcceptanceWatch } from './acceptance-watch.ts'

/** Drafts wherever it allows; returns how many tokens each draft had. */
function drive(watch: AcceptanceWatch, tokens: number, acceptedOf: (drafted: number) => number) {
  const drafts: number[] = []
  for (let made = 1; made < tokens;) {
    const drafted = watch.draftTokens(made)
    const accepted = drafted === 0 ? 0 : acceptedOf(drafted)
    if (drafted > 0) {
      drafts.push(drafted)
      watch.observe({ drafted, accepted }, made)
    }
    made += 1 + accepted
  }
  return drafts
}

describe('AcceptanceWatch', () => {
  it('drafts more while all is accepted', () => {
    expect(drive(new AcceptanceWatch(), 30, (drafted) => drafted)).toEqual([5, 10, 20])
  })

  it('pauses after a draft of which nothing was accepted, for longer each time', () => {
    const watch = new AcceptanceWatch()
    expect(watch.draftTokens(1)).toBeGreaterThan(0)
    watch.observe({ drafted: 3, accepted: 0 }, 1)
    expect(watch.draftTokens(17)).toBe(0)
    expect(watch.draftTokens(18)).toBeGreaterThan(0)
    watch.observe({ drafted: 3, accepted: 0 }, 18)
    expect(watch.draftTokens(50)).toBe(0)
    expect(watch.draftTokens(51)).toBeGreaterThan(0)
  })

  it('pauses for 512 tokens at most', () => {
    const watch = new AcceptanceWatch()
    for (let i = 0; i < 10; i++) watch.observe({ drafted: 3, accepted: 0 }, 1)
    expect([watch.draftTokens(513), watch.draftTokens(514)]).toEqual([0, 5])
  })

  it('makes few drafts of a text that they never fit', () => {
    expect(drive(new AcceptanceWatch(), 4000, () => 0).length).toBeLessThan(15)
  })

  it('goes on while most guesses are right, and stops where a third are', () => {
    const good = drive(new AcceptanceWatch(), 1000, (drafted) => Math.ceil(drafted * 0.75))
    expect(good.length).toBeGreaterThan(150)
    const bad = drive(new AcceptanceWatch(), 1000, (drafted) => Math.floor(drafted / 3))
    expect(bad.length).toBeLessThan(60)
  })

  it('tries again soon once a draft has fitted', () => {
    const watch = new AcceptanceWatch()
    drive(watch, 1000, () => 0)
    let made = 2000
    watch.observe({ drafted: 3, accepted: 3 }, made)
    while (watch.draftTokens(made) > 0) watch.observe({ drafted: 3, accepted: 0 }, made)
    const stopped = made
    while (watch.draftTokens(made) === 0) made++
    expect(made - stopped).toBe(17)
  })
})
