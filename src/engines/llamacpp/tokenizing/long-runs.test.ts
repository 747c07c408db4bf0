import { describe, expect, it } from 'vitest'
import { MAX_RUN_LENGTH, splitLongRuns } from './long-runs.ts'

const words = 'word and word, '.repeat(MAX_RUN_LENGTH)

describe('splitLongRuns', () => {
  it('leaves text alone whose words are of any usual length', () => {
    expect(splitLongRuns('')).toEqual([''])
    expect(splitLongRuns(words)).toEqual([words])
  })

  it.each(['a', ' ', '漢', '😀', '.'])('cuts endless runs of "%s" and loses nothing', (character) => {
    const text = words + character.repeat(3 * MAX_RUN_LENGTH) + words
    const parts = splitLongRuns(text)
    expect(parts.join('')).toBe(text)
    expect(parts.length).toBeGreaterThan(2)
    const longest = new RegExp(`(?:${character === '.' ? '\\.' : character})+`, 'gu')
    const runs = parts.flatMap((part) => part.match(longest) ?? [])
    // One more unit where a cut would have split a character.
    expect(Math.max(...runs.map((run) => run.length))).toBeLessThanOrEqual(MAX_RUN_LENGTH + 1)
    expect(parts.every((part) => Buffer.from(part).toString() === part)).toBe(true)
  })
})
