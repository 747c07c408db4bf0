import { describe, expect, it } from 'vitest'
import { FairLines } from './fair-lines.ts'

function linesOf(entries: Readonly<Record<string, readonly string[]>>): FairLines<string> {
  const lines = new FairLines<string>()
  for (const [name, line] of Object.entries(entries)) for (const entry of line) lines.add(name, entry)
  return lines
}

function takeAll(lines: FairLines<string>): readonly string[] {
  const taken: string[] = []
  while (!lines.isEmpty) taken.push(lines.take()[0])
  return taken
}

describe('FairLines', () => {
  it('takes the lines in turn, each in the order of arrival', () => {
    const lines = linesOf({ a: ['a1', 'a2', 'a3'], b: ['b1', 'b2'], c: ['c1'] })
    expect(takeAll(lines)).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  it('has lines that are busy wait for the others', () => {
    const lines = linesOf({ a: ['a1'], b: ['b1'] })
    expect(lines.take(['a'])).toEqual(['b1', 'b'])
    expect(lines.take(['a'])).toEqual(['a1', 'a'])
  })

  it('holds an entry of several lines once for all of them', () => {
    expect(takeAll(linesOf({ a: ['a1', 'both'], b: ['both'] }))).toEqual(['a1', 'both'])
    const lines = linesOf({ a: ['both'], b: ['both'] })
    expect([lines.remove('both'), lines.isEmpty, lines.remove('both')]).toEqual([true, true, false])
  })
})
