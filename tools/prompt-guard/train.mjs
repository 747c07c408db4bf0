// @ts-check
/**
 * Trains the prompt guard's attack classifier and writes `src/guards/prompt/classifier/weights.json`.
 *
 *   node tools/prompt-guard/train.mjs [--more file.jsonl]... [--validate]
 *
 * It learns from the tuning and training files of `test/data/prompt-guard`, from the grammars beside it and from the files of
 * `--more`, whose lines are objects with `label`, `text` and, if it is not 1, `weight`. The held-back, development and unseen
 * files are not read. `--validate` writes nothing: it trains on three quarters of the training files at a time, together with everything
 * else but the tuning half, and judges the other quarter and the tuning half.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { deflateRawSync } from 'node:zlib'
import { ATTACK_CLASSES } from '../../dist/guards/prompt/classifier/attack-classifier.js'
import { CONCEPT_COUNT, FeatureReader } from '../../dist/guards/prompt/classifier/features.js'
import { makePrompts } from './grammar.mjs'
import { scoreSample, SMOOTHING, train } from './regression.mjs'

const { values } = parseArgs({
  options: {
    more: { type: 'string', multiple: true, default: [] },
    validate: { type: 'boolean', default: false },
    'refused-above': { type: 'string', default: '3' },
    'confirmed-above': { type: 'string', default: '1' },
  },
})

/** @typedef {import('./regression.mjs').Sample & { attackClass: number, concepts: Uint8Array }} Sample */
/** @typedef {{ label: string, text: string, category?: string, family?: string, weight?: number }} Row */

const DATA = new URL('../../test/data/prompt-guard/', import.meta.url)
const WEIGHTS = new URL('../../src/guards/prompt/classifier/weights.json', import.meta.url)
const MADE_WEIGHT = 0.4
/** Of what was written by hand: it is closest to what people send. */
const WRITTEN_WEIGHT = 3
const FOLDS = 4
const MAX_STEP = 127

/** The categories of the data, and the symbols of the grammars, that belong to each class. @type {readonly (readonly string[])[]} */
const CATEGORIES = [
  'override fakesystem injected splitting mixing role-spoofing A_override A_inject A_quoted'.split(' '),
  'persona devmode refusal hypothetical A_persona A_refusal A_dev'.split(' '),
  'extraction social A_extract'.split(' '),
]

const reader = new FeatureReader()

/** @param {Row} row @returns {Sample} */
function toSample({ label, text, category, family, weight = 1 }) {
  /** @type {Uint32Array[]} */
  const windows = []
  const concepts = new Uint8Array(CONCEPT_COUNT)
  reader.read(text, (window) => {
    windows.push(window.buckets.slice(0, window.count))
    for (const [concept, isHeld] of window.concepts.entries()) if (isHeld === 1) concepts[concept] = 1
  })
  const attackClass = CATEGORIES.findIndex((names) => names.includes(category ?? family ?? ''))
  return { isAttack: label === 'attack', weight, windows, attackClass, concepts }
}

/** @param {string | URL} file @param {number} [weight] @returns {Sample[]} */
function readSamples(file, weight) {
  const lines = readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
  return lines.map((line) => toSample({ ...JSON.parse(line), ...(weight !== undefined && { weight }) }))
}

/** @param {string} half */
const readHalf = (half) =>
  ['attacks', 'harmless'].flatMap((label) =>
    readSamples(new URL(`${half}-${label}.jsonl`, DATA), WRITTEN_WEIGHT),
  )

const training = readHalf('training')
const tuning = readHalf('tuning')
const made = makePrompts((language) => (language === 'en' ? 1800 : 600)).map((row) =>
  toSample({ ...row, weight: MADE_WEIGHT }),
)
const more = values.more.flatMap((file) => readSamples(file))

if (values.validate) validate()
else write([...training, ...tuning, ...made, ...more])

function validate() {
  /** @type {{ isAttack: boolean, score: number }[]} */
  const judged = []
  for (let fold = 0; fold < FOLDS; fold++) {
    const model = train([...made, ...more, ...training.filter((_, index) => index % FOLDS !== fold)])
    const rest = training.filter((_, index) => index % FOLDS === fold)
    judged.push(...rest.map((sample) => ({ isAttack: sample.isAttack, score: scoreSample(model, sample) })))
  }
  print('training files, by quarters', judged)
  const model = train([...made, ...more, ...training])
  print(
    'tuning half',
    tuning.map((sample) => ({ isAttack: sample.isAttack, score: scoreSample(model, sample) })),
  )
}

/** @param {string} name @param {readonly { isAttack: boolean, score: number }[]} judged */
function print(name, judged) {
  const attacks = judged.filter(({ isAttack }) => isAttack)
  const harmless = judged.filter(({ isAttack }) => !isAttack)
  /** @param {readonly { score: number }[]} rows @param {number} bound */
  const share = (rows, bound) =>
    `${((100 * rows.filter(({ score }) => score > bound).length) / rows.length).toFixed(2)} %`
  console.log(`${name}: ${attacks.length} attacks, ${harmless.length} harmless`)
  for (const bound of [-1, 0, 1, 1.5, 2, 2.5, 3, 3.5, 4])
    console.log(
      `  above ${bound}: ${share(attacks, bound)} of the attacks, ${share(harmless, bound)} of the harmless`,
    )
}

/** @param {readonly Sample[]} samples */
function write(samples) {
  const { bias, weights } = train(samples)
  const largest = weights.reduce((most, weight) => Math.max(most, Math.abs(weight)), 0)
  const scale = largest / MAX_STEP
  const steps = Int8Array.from(weights, (weight) => Math.round(weight / scale))
  const content = {
    bias: round(bias),
    smoothing: SMOOTHING,
    scale,
    refusedAbove: Number(values['refused-above']),
    confirmedAbove: Number(values['confirmed-above']),
    classes: ATTACK_CLASSES.map((_, number) => conceptWeights(samples, number)),
    weights: deflateRawSync(Buffer.from(steps.buffer), { level: 9 }).toString('base64'),
  }
  writeFileSync(WEIGHTS, `${JSON.stringify(content)}\n`)
  console.log(`${samples.length} prompts, ${steps.filter((step) => step !== 0).length} weights`)
}

/** @param {readonly Sample[]} samples @param {number} attackClass */
function conceptWeights(samples, attackClass) {
  const own = samples.filter((sample) => sample.isAttack && sample.attackClass === attackClass)
  return Array.from({ length: CONCEPT_COUNT }, (_, concept) => {
    const count = own.filter(({ concepts }) => concepts[concept] === 1).length
    return round(Math.log((count + 1) / (own.length - count + 1)))
  })
}

/** @param {number} value */
function round(value) {
  return Math.round(value * 1000) / 1000
}
