/** Characters in upper and lower case, as regular expressions with the flag `i` take them for each other. */
import { complement, type Ranges, single, union } from './character-ranges.ts'

/** Beyond ASCII, where the case of each is looked up. */
const MAX_CHARACTERS = 1000
const LAST_ASCII = 0x7f
const ASCII: Ranges = [[0, LAST_ASCII]]
const LETTERS = Array.from({ length: 26 }, (_, index) => [0x41 + index, 0x61 + index])

/** Null where they are too many. */
export function withBothCases(ranges: Ranges): Ranges | null {
  const others = LETTERS.filter((alike) => alike.some((code) => isAmong(ranges, code))).flat()
  const beyond = complement(union(complement(ranges), ASCII))
  // All that is beyond ASCII is so in either case.
  if (beyond.length > 0 && !isWhole(beyond)) {
    const count = beyond.reduce((sum, [first, last]) => sum + last - first + 1, 0)
    if (count > MAX_CHARACTERS) return null
    for (const [first, last] of beyond)
      for (let code = first; code <= last; code++) others.push(...casesOf(code))
  }
  return union(ranges, ...others.map(single))
}

/** None of them in ASCII: the long s is no s. */
function casesOf(code: number): readonly number[] {
  const character = String.fromCodePoint(code)
  const cases = [character.toLowerCase(), character.toUpperCase()]
  const ofOne = cases.filter((one) => Array.from(one).length === 1)
  return ofOne.map((one) => one.codePointAt(0) as number).filter((one) => one > LAST_ASCII)
}

function isAmong(ranges: Ranges, code: number): boolean {
  return ranges.some(([first, last]) => first <= code && code <= last)
}

function isWhole(beyond: Ranges): boolean {
  return complement(union(ASCII, beyond)).length === 0
}
