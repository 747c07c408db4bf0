// @ts-check
/**
 * Logistic regression over windows of features: of an attack the window that looks most like one is learned, of a harmless
 * text those that look most like attacks. Steps are scaled by bucket (AdaGrad).
 */
import { BUCKETS } from '../../dist/guards/prompt/classifier/features.js'
import { createRandom } from './grammar.mjs'

/** @typedef {{ isAttack: boolean, weight: number, windows: readonly Uint32Array[] }} Sample */
/** @typedef {{ bias: number, weights: Float32Array }} Model */

/** Keeps few features from deciding alone. */
export const SMOOTHING = 600
const EPOCHS = 14
const RATE = 1
const DECAY = 1e-5
const HARMLESS_WINDOWS = 4
/** A bucket of fewer texts is not learned: it would explain those texts alone, and speak at random in others. */
const MIN_TEXTS = 6

/** @param {readonly Sample[]} samples @returns {Model} */
export function train(samples) {
  const random = createRandom(1)
  const learned = withoutRareBuckets(samples)
  const model = { bias: 0, weights: new Float32Array(BUCKETS) }
  const squares = new Float32Array(BUCKETS).fill(0.01)
  let biasSquares = 0.01
  for (let epoch = 0; epoch < EPOCHS; epoch++) {
    for (const { window, isAttack, weight } of shuffle(choose(model, learned), random)) {
      const error = (1 / (1 + Math.exp(-score(model, window))) - (isAttack ? 1 : 0)) * weight
      biasSquares += error * error
      model.bias -= (RATE * error) / Math.sqrt(biasSquares)
      const share = error / Math.sqrt(window.length + SMOOTHING)
      for (const bucket of window) {
        const step = share + DECAY * (model.weights[bucket] ?? 0)
        const sum = (squares[bucket] ?? 0) + step * step
        squares[bucket] = sum
        model.weights[bucket] = (model.weights[bucket] ?? 0) - (RATE * step) / Math.sqrt(sum)
      }
    }
  }
  return model
}

/** @param {readonly Sample[]} samples @returns {readonly Sample[]} */
function withoutRareBuckets(samples) {
  const texts = new Uint32Array(BUCKETS)
  for (const { windows } of samples) {
    const own = new Set(windows.flatMap((window) => [...window]))
    for (const bucket of own) texts[bucket] = (texts[bucket] ?? 0) + 1
  }
  return samples.map((sample) => ({
    ...sample,
    windows: sample.windows.map((window) => window.filter((bucket) => (texts[bucket] ?? 0) >= MIN_TEXTS)),
  }))
}

/** @param {Model} model @param {Sample} sample */
export function scoreSample(model, { windows }) {
  return windows.reduce((best, window) => Math.max(best, score(model, window)), -Infinity)
}

/** @param {Model} model @param {Uint32Array} window */
function score({ bias, weights }, window) {
  let sum = 0
  for (const bucket of window) sum += weights[bucket] ?? 0
  return bias + sum / Math.sqrt(window.length + SMOOTHING)
}

/** @param {Model} model @param {readonly Sample[]} samples */
function choose(model, samples) {
  return samples.flatMap(({ windows, isAttack, weight }) => {
    const most = isAttack ? 1 : HARMLESS_WINDOWS
    const best =
      windows.length <= most
        ? windows
        : windows
            .map((window) => ({ window, value: score(model, window) }))
            .sort((a, b) => b.value - a.value)
            .slice(0, most)
            .map(({ window }) => window)
    return best.map((window) => ({ window, isAttack, weight }))
  })
}

/** @template T @param {T[]} items @param {() => number} random */
function shuffle(items, random) {
  for (let i = items.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    const [a, b] = [items[i], items[j]]
    if (a === undefined || b === undefined) continue
    items[i] = b
    items[j] = a
  }
  return items
}
