// @ts-check
/** Random numbers from a seed, arrivals, percentiles and ranges of a measurement. */

/**
 * Gives numbers from 0 to 1 that are the same on every machine (mulberry32), others for other seeds.
 * @param {...number} seeds @returns {() => number}
 */
export function createRandom(...seeds) {
  let state = seeds.reduce((mixed, seed) => Math.imul(mixed ^ seed, 0x9e3779b1) >>> 0, seeds.length)
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/**
 * When each of `count` requests of a Poisson process arrives, in milliseconds from the start.
 * @param {{ ratePerSecond: number, count: number, random: () => number }} process
 */
export function poissonArrivals({ ratePerSecond, count, random }) {
  let atMs = 0
  return Array.from({ length: count }, () => (atMs += (-Math.log(1 - random()) / ratePerSecond) * 1000))
}

/**
 * The smallest figure that at least `percent` of all figures do not exceed; null of none.
 * @param {readonly number[]} figures @param {number} percent
 */
export function percentile(figures, percent) {
  const sorted = figures.toSorted((a, b) => a - b)
  return sorted[Math.max(0, Math.ceil((percent / 100) * sorted.length) - 1)] ?? null
}

/** @typedef {{ median: number, min: number, max: number }} Range */

/** Of the rounds of one figure; null when no round has it. @param {readonly (number | null | undefined)[]} figures @returns {Range | null} */
export function rangeOf(figures) {
  const given = figures.filter((figure) => typeof figure === 'number' && Number.isFinite(figure))
  const sorted = /** @type {number[]} */ (given).toSorted((a, b) => a - b)
  const [min, max] = [sorted[0], sorted.at(-1)]
  if (min === undefined || max === undefined) return null
  const middle = sorted.length / 2
  const low = sorted[Math.ceil(middle) - 1] ?? min
  const high = sorted[Math.floor(middle)] ?? max
  return { median: (low + high) / 2, min, max }
}

/**
 * Where the median of all such figures lies with about 95 % certainty, whatever their distribution: between two of those
 * measured (the sign test's interval). Of ten figures or fewer it is their whole range.
 * @param {readonly number[]} figures @returns {{ low: number, high: number }}
 */
export function medianInterval(figures) {
  const sorted = figures.toSorted((a, b) => a - b)
  const rank = Math.max(0, Math.floor((sorted.length - 1.96 * Math.sqrt(sorted.length)) / 2) - 1)
  return { low: sorted[rank] ?? Number.NaN, high: sorted.at(-1 - rank) ?? Number.NaN }
}
