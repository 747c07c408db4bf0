/**
 * The candidates for the next token, as two parallel arrays: the truncations (the k largest, those above a floor, the
 * smallest set with a given share of the probability), the weights and the selection of one. The memory is allocated
 * once and reused for every draw. All truncations are linear in the vocabulary; each loop over the whole vocabulary is
 * a function of its own, which V8 optimizes better.
 */
import { InvariantError } from '../../../core/errors.ts'
import { fastExp } from './fast-exp.ts'

export interface Candidates {
  readonly ids: Int32Array
  /** Logits, until `weigh` replaces them with weights. */
  readonly weights: Float64Array
  count: number
}

export function createCandidates(vocabSize: number): Candidates {
  return { ids: new Int32Array(vocabSize), weights: new Float64Array(vocabSize), count: 0 }
}

/** Index of the largest logit; the lowest index among equals. */
export function findLargest(logits: Float32Array): number {
  let largest = Number.NEGATIVE_INFINITY
  let index = -1
  let next = findAbove(logits, 0, largest)
  while (next < logits.length) {
    largest = logits[next] as number
    index = next
    if (Number.isNaN(largest)) break
    next = findAbove(logits, next + 1, largest)
  }
  checkFinite(largest)
  return index
}

/** Such logits come from damaged weights or a failed computation, and cannot be sampled from. */
function checkFinite(largest: number): void {
  if (!Number.isFinite(largest)) throw new InvariantError(`The model's logits hold ${largest}.`)
}

/**
 * Fills with the `k` largest logits, unordered, or with all of them in order of id where there are at most `k`. A NaN
 * is always included.
 */
export function keepTop(candidates: Candidates, logits: Float32Array, k: number): void {
  const { ids, weights } = candidates
  const count = Math.min(k, logits.length)
  for (let i = 0; i < count; i++) {
    ids[i] = i
    weights[i] = logits[i] as number
  }
  candidates.count = count
  if (count === logits.length) return

  // A min-heap of the kept logits: most tokens are discarded with one comparison against its top.
  if (Number.isNaN(largestWeight(candidates))) return
  for (let i = (count >> 1) - 1; i >= 0; i--) siftDown(candidates, i)
  let next = findAbove(logits, count, weights[0] as number)
  while (next < logits.length) {
    ids[0] = next
    weights[0] = logits[next] as number
    if (Number.isNaN(weights[0])) return
    siftDown(candidates, 0)
    next = findAbove(logits, next + 1, weights[0])
  }
}

/** Fills with the logits above `floor`, in order of id; NaN counts as above. */
export function keepAbove(candidates: Candidates, logits: Float32Array, floor: number): void {
  const { ids, weights } = candidates
  let count = 0
  let next = findAbove(logits, 0, floor)
  while (next < logits.length) {
    ids[count] = next
    weights[count++] = logits[next] as number
    next = findAbove(logits, next + 1, floor)
  }
  candidates.count = count
}

/** The largest of the weights, or NaN where there is one. */
export function largestWeight({ weights, count }: Candidates): number {
  let largest = Number.NEGATIVE_INFINITY
  for (let i = 0; i < count; i++) {
    const weight = weights[i] as number
    // Not `weight > largest`: that is false for NaN.
    if (!(weight <= largest)) {
      largest = weight
      if (Number.isNaN(weight)) break
    }
  }
  return largest
}

/** Index of the next logit above `floor`, or of a NaN; the length when there is none. */
function findAbove(logits: Float32Array, from: number, floor: number): number {
  const end = logits.length
  let i = from
  // Unrolled four times: a third faster.
  for (const last = end - 3; i < last; i += 4) {
    const isNoneAbove =
      (logits[i] as number) <= floor &&
      (logits[i + 1] as number) <= floor &&
      (logits[i + 2] as number) <= floor &&
      (logits[i + 3] as number) <= floor
    if (!isNoneAbove) break
  }
  while (i < end && (logits[i] as number) <= floor) i++
  return i
}

function siftDown({ ids, weights, count }: Candidates, from: number): void {
  const id = ids[from] as number
  const weight = weights[from] as number
  let parent = from
  for (;;) {
    let child = 2 * parent + 1
    if (child >= count) break
    if (child + 1 < count && (weights[child + 1] as number) < (weights[child] as number)) child++
    const childWeight = weights[child] as number
    if (weight <= childWeight) break
    ids[parent] = ids[child] as number
    weights[parent] = childWeight
    parent = child
  }
  ids[parent] = id
  weights[parent] = weight
}

/**
 * Keeps the smallest set of the heaviest candidates whose weights add up to at least `needed` of their `sum`; at least
 * one. Weights are relative to the largest, which is 1. Returns the sum of the kept weights.
 */
export function keepHeaviest(candidates: Candidates, sum: number, needed: number): number {
  // All weights below this floor together are less than may be removed: a safe first cut that removes most tokens.
  keepFrom(candidates, Math.min(1, (sum - needed) / candidates.count), candidates.count)
  const { lightest, equals } = findCut(candidates.weights.slice(0, candidates.count), needed)
  return keepFrom(candidates, lightest, equals)
}

/**
 * Finds the lowest weight in the smallest set of heaviest weights that reaches `needed`, and how many weights equal to
 * it belong to the set: a quickselect by weight, which reorders `weights`.
 *
 *   start ── heavier ── middle ── equal to the pivot ── tail ── lighter ── end
 */
function findCut(weights: Float64Array, needed: number): { lightest: number; equals: number } {
  let start = 0
  let end = weights.length
  let missing = needed
  for (;;) {
    const pivot = weights[(start + end) >> 1] as number
    let middle = start
    let tail = end
    let heavier = 0
    for (let i = start; i < tail;) {
      const weight = weights[i] as number
      if (weight > pivot) {
        heavier += weight
        weights[i++] = weights[middle] as number
        weights[middle++] = weight
      } else if (weight < pivot) {
        weights[i] = weights[--tail] as number
        weights[tail] = weight
      } else i++
    }
    const equal = (tail - middle) * pivot
    if (heavier >= missing && middle > start) end = middle
    else if (heavier + equal >= missing || tail === end) {
      // Rounding may leave the sum short after the last weight: then all belong to the set.
      const equals = Math.ceil((missing - heavier) / pivot)
      return { lightest: pivot, equals: Math.min(Math.max(equals, 1), tail - middle) }
    } else {
      missing -= heavier + equal
      start = tail
    }
  }
}

/** Keeps the candidates of at least this weight, the heaviest weighing 1; returns the sum of their weights. */
export function keepAtLeast(candidates: Candidates, lightest: number): number {
  return keepFrom(candidates, lightest, candidates.count)
}

/** Keeps the weights above `lightest` and the first `equals` weights equal to it; returns their sum. */
function keepFrom(candidates: Candidates, lightest: number, equals: number): number {
  const { ids, weights, count } = candidates
  let kept = 0
  let room = equals
  let sum = 0
  for (let i = 0; i < count; i++) {
    const weight = weights[i] as number
    if (weight < lightest || (weight === lightest && room-- <= 0)) continue
    ids[kept] = ids[i] as number
    weights[kept] = weight
    kept++
    sum += weight
  }
  candidates.count = kept
  return sum
}

/** What a difference between logits is multiplied by; finite, so that no difference stays none. */
export function inverseOf(temperature: number): number {
  return Math.min(1 / temperature, Number.MAX_VALUE)
}

/** Turns logits into weights relative to the largest; returns their sum. */
export function weigh(candidates: Candidates, temperature: number): number {
  const { weights, count } = candidates
  const largest = largestWeight(candidates)
  checkFinite(largest)
  const inverse = inverseOf(temperature)
  let sum = 0
  for (let i = 0; i < count; i++) {
    const weight = fastExp(((weights[i] as number) - largest) * inverse)
    weights[i] = weight
    sum += weight
  }
  return sum
}

/** The candidate whose interval of the cumulative weights contains `target`. */
export function pick(candidates: Candidates, target: number): number {
  const { ids, weights, count } = candidates
  let reached = 0
  let last = 0
  for (let i = 0; i < count; i++) {
    const weight = weights[i] as number
    if (weight === 0) continue
    reached += weight
    last = i
    if (reached > target) break
  }
  return ids[last] as number
}
