/** Sets of characters as sorted ranges of code points, without surrogates. */

/** Both ends included. */
export type Ranges = readonly (readonly [first: number, last: number])[]

const LAST = 0x10ffff
const SURROGATES = [0xd800, 0xdfff] as const

export function single(code: number): Ranges {
  return [[code, code]]
}

/** Sorted, without overlaps and surrogates. */
export function union(...sets: readonly Ranges[]): Ranges {
  const sorted = sets.flat().toSorted(([a], [b]) => a - b)
  const merged: [number, number][] = []
  for (const [first, last] of sorted) {
    const before = merged.at(-1)
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last)
    else merged.push([first, last])
  }
  return withoutSurrogates(merged)
}

export function complement(ranges: Ranges): Ranges {
  const gaps: [number, number][] = []
  let next = 0
  for (const [first, last] of union(ranges)) {
    if (first > next) gaps.push([next, first - 1])
    next = last + 1
  }
  if (next <= LAST) gaps.push([next, LAST])
  return withoutSurrogates(gaps)
}

export function difference(ranges: Ranges, removed: Ranges): Ranges {
  return complement(union(complement(ranges), removed))
}

export function intersection(a: Ranges, b: Ranges): Ranges {
  return complement(union(complement(a), complement(b)))
}

function withoutSurrogates(ranges: Ranges): Ranges {
  const [low, high] = SURROGATES
  return ranges.flatMap(([first, last]) => {
    if (last < low || first > high) return [[first, last] as const]
    const parts: (readonly [number, number])[] = []
    if (first < low) parts.push([first, low - 1])
    if (last > high) parts.push([high + 1, last])
    return parts
  })
}

export const DIGITS: Ranges = [[0x30, 0x39]]
export const WORD_CHARACTERS: Ranges = [
  [0x30, 0x39],
  [0x41, 0x5a],
  [0x5f, 0x5f],
  [0x61, 0x7a],
]
/** ECMAScript's `\s`. */
export const SPACES: Ranges = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
]
/** What `.` leaves out. */
export const LINE_ENDS: Ranges = [
  [0x0a, 0x0a],
  [0x0d, 0x0d],
  [0x2028, 0x2029],
]
