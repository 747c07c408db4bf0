// @ts-check
/** How a figure changes from one point of a sweep to the next, and which of these steps is the worst. */
import { rangeOf } from './statistics.mjs'

/** @typedef {{ x: number, range: import('./statistics.mjs').Range }} Point */
/** @typedef {{ from: number, to: number, times: number, isNoise: boolean }} Step `times` the median before it; noise when the rounds of both overlap */

/** `1 key`, `1,000 keys`. @param {number} point @param {string} unit in the plural */
export function nameOfPoint(point, unit) {
  return `${point.toLocaleString('en-US')} ${point === 1 ? unit.replace(/s$/, '') : unit}`
}

/** What a sweep's group has as its number: `1,000 keys` is 1000. @param {string | null} group */
export function numberOfGroup(group) {
  return group === null ? Number.NaN : Number(group.replaceAll(/\D/g, ''))
}

/**
 * The point of each group that has the metric, by number.
 * @param {readonly import('../load/rounds.mjs').Row[]} rows @param {string} metric @returns {Point[]}
 */
export function pointsOf(rows, metric) {
  return rows
    .flatMap(({ group, rounds }) => {
      const range = rangeOf(rounds.map(({ [metric]: figure }) => figure))
      return group === null || range === null ? [] : [{ x: numberOfGroup(group), range }]
    })
    .toSorted((a, b) => a.x - b.x)
}

/**
 * The step in which the figure gets worse by the greatest factor, of those that are more than noise as long as there is
 * one; null when it never gets worse.
 * @param {readonly Point[]} points in the order of x @param {'more' | 'less'} isBetter @returns {Step | null}
 */
export function worstStep(points, isBetter) {
  const worsening = (/** @type {Step} */ { times }) => (isBetter === 'more' ? 1 / times : times)
  const steps = stepsOf(points).filter((step) => worsening(step) > 1)
  const certain = steps.filter(({ isNoise }) => !isNoise)
  const candidates = certain.length > 0 ? certain : steps
  return candidates.toSorted((a, b) => worsening(b) - worsening(a))[0] ?? null
}

/** @param {readonly Point[]} points @returns {Step[]} */
function stepsOf(points) {
  return points.slice(1).flatMap(({ x, range }, index) => {
    const before = points[index]
    if (before === undefined || before.range.median === 0) return []
    const isNoise = range.min <= before.range.max && before.range.min <= range.max
    return [{ from: before.x, to: x, times: range.median / before.range.median, isNoise }]
  })
}
