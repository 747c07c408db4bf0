/**
 * Scores how likely a text is an attack on a model's instructions: a logistic regression over the features of each window of
 * about forty words; the highest window is the score of the text. The weights are trained offline (`tools/prompt-guard`) and rounded to
 * a byte each. The class of an attack is the one whose concepts fit best.
 */
import { readFileSync } from 'node:fs'
import { inflateRawSync } from 'node:zlib'
import { BUCKETS, CONCEPT_COUNT, FeatureReader, type FeatureWindow } from './features.ts'

/** The rules that a classified text may break. */
export const ATTACK_CLASSES = ['instruction-override', 'unrestricted-persona', 'prompt-extraction'] as const
type AttackClass = (typeof ATTACK_CLASSES)[number]

/** The content of `weights.json`. */
interface Weights {
  readonly bias: number
  /** Keeps few features from deciding alone. */
  readonly smoothing: number
  /** What a step of a rounded weight is worth. */
  readonly scale: number
  /** A text that scores more is an attack. */
  readonly refusedAbove: number
  /** A text that scores less breaks no rule of words either. */
  readonly confirmedAbove: number
  /** For each class, by concept: the logarithm of how often its attacks hold the concept. */
  readonly classes: readonly (readonly number[])[]
  /** By bucket: signed bytes, most of them 0, compressed by Deflate, as base64: with Brotli a fifteenth less, and seven times as slow to read. */
  readonly weights: string
}

/** A window of five words has about as many. Fewer say too little: a single word such as `password` is no attack. */
const FEWEST_FEATURES = 80

const { bias, smoothing, scale, refusedAbove, confirmedAbove, classes, weights } = JSON.parse(
  readFileSync(new URL('weights.json', import.meta.url), 'utf8'),
) as Weights
const STEPS = new Int8Array(BUCKETS)
// In one piece: in the default ones of 16 KiB it takes longer, at every start.
STEPS.set(inflateRawSync(Buffer.from(weights, 'base64'), { chunkSize: BUCKETS }))

export interface Classification {
  readonly isAttack: boolean
  /** Whether a match of a word rule counts: the text is not clearly harmless. */
  readonly isSuspicious: boolean
  readonly score: number
  /** The class that fits best, whether or not it is an attack. */
  readonly attackClass: AttackClass
  readonly steps: number
}

export class AttackClassifier {
  readonly #reader = new FeatureReader()
  readonly #concepts = new Uint8Array(CONCEPT_COUNT)

  classify(text: string): Classification {
    let score = -Infinity
    const steps = this.#reader.read(text, (window) => {
      const windowScore = scoreWindow(window)
      if (windowScore <= score) return
      score = windowScore
      this.#concepts.set(window.concepts)
    })
    return {
      isAttack: score > refusedAbove,
      isSuspicious: score > confirmedAbove,
      score,
      attackClass: classOf(this.#concepts),
      steps,
    }
  }
}

function scoreWindow({ buckets, count }: FeatureWindow): number {
  let sum = 0
  for (let i = 0; i < count; i++) sum += STEPS[buckets[i] ?? 0] ?? 0
  return bias + (scale * sum) / Math.sqrt(Math.max(count, FEWEST_FEATURES) + smoothing)
}

function classOf(concepts: Uint8Array): AttackClass {
  let best: AttackClass = ATTACK_CLASSES[0]
  let bestFit = -Infinity
  for (const [index, attackClass] of ATTACK_CLASSES.entries()) {
    const fit = (classes[index] ?? []).reduce(
      (sum, weight, concept) => sum + weight * (concepts[concept] ?? 0),
      0,
    )
    if (fit <= bestFit) continue
    best = attackClass
    bestFit = fit
  }
  return best
}
