/** The nearest of known names to a misspelt one: options of the command line, parameters of a query, segments of a path. */

const MAX_COMPARED_CHARACTERS = 64

/** What a name is away from one that has it as one of its words: `mode` means `quant_mode`, not `model_id`. */
const WORD_DISTANCE = 1

/** More letters apart than this, or than half of those given, another name was meant. */
const MAX_MISTYPED = 3

/** The candidate closest to the beginning of `given`, case and separators aside. There must be one. */
export function nearestName(given: string, candidates: readonly string[]): string {
  return nearest(given, candidates).candidate
}

/** As `nearestName`, where it is so close that it was meant; null otherwise. */
export function meantName(given: string, candidates: readonly string[]): string | null {
  const { candidate, distance } = nearest(given, candidates)
  return distance <= Math.min(MAX_MISTYPED, bareName(given).length / 2) ? candidate : null
}

function nearest(given: string, candidates: readonly string[]) {
  const name = given.slice(0, MAX_COMPARED_CHARACTERS)
  const scored = candidates.map((candidate) => ({
    candidate,
    distance: distanceBetween(name, candidate),
  }))
  return scored.reduce((best, other) => (other.distance < best.distance ? other : best))
}

function distanceBetween(name: string, candidate: string): number {
  const distance = editDistance(bareName(name), bareName(candidate))
  const isItsWord = candidate.toLowerCase().split(/[-_]/).includes(name.toLowerCase())
  return isItsWord ? Math.min(distance, WORD_DISTANCE) : distance
}

function bareName(name: string): string {
  return name.replaceAll(/[-_\s]/g, '').toLowerCase()
}

/** Levenshtein's distance: insertions, removals and replacements between two words. */
export function editDistance(from: string, to: string): number {
  let previous = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (const [row, letter] of Array.from(from).entries()) {
    const current = [row + 1]
    for (const [column, other] of Array.from(to).entries()) {
      const replaced = (previous[column] ?? 0) + (letter === other ? 0 : 1)
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1))
    }
    previous = current
  }
  return previous.at(-1) ?? 0
}
