/** The spellings of an option in each place, and the nearest option to a misspelt one. */

/** `maxBatchSize` → `--max-batch-size`. */
export function flagName(name: string): string {
  return `--${toKebabCase(name)}`
}

/** `maxBatchSize` → `SLUICE_MAX_BATCH_SIZE`. */
export function envName(name: string): string {
  return `SLUICE_${toKebabCase(name).replaceAll('-', '_').toUpperCase()}`
}

function toKebabCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The candidate closest to `name`, case and separators aside. */
export function nearestName(name: string, candidates: readonly string[]): string {
  const scored = candidates.map((candidate) => ({
    candidate,
    distance: editDistance(bareName(name), bareName(candidate)),
  }))
  return scored.reduce((best, other) => (other.distance < best.distance ? other : best)).candidate
}

function bareName(name: string): string {
  return name.replaceAll(/[-_\s]/g, '').toLowerCase()
}

/** Levenshtein's distance: insertions, removals and replacements between two words. */
function editDistance(from: string, to: string): number {
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
