// @ts-check
/**
 * What the choice of a token costs by the settings that ask for it and the size of the vocabulary. The logits are made:
 * a bell curve as of a trained model, out of which a few hundred tokens stand as words that fit.
 *
 *   npm run bench:sampling
 */
import { createCandidates } from '../dist/engines/llamacpp/sampling/candidates.js'
import { LogprobMeter } from '../dist/engines/llamacpp/sampling/logprobs.js'
import { Sampler } from '../dist/engines/llamacpp/sampling/sampling.js'
import { createRandom, rangeOf } from './report/statistics.mjs'

const VOCABULARIES = [4_096, 32_000, 152_000]
/** More than the caches hold of the largest vocabulary, since a step leaves none of them behind. */
const ROWS = 16
const DRAWS = 400
const SPREAD = 2.2
const WORDS_THAT_FIT = 300
/** The logit of the best of them, and how fast the next ones fall. */
const [BEST, FALL] = [20, 2]

/** @type {readonly { temperature: number, topK: number, topP: number, minP?: number }[]} */
const SETTINGS = [
  { temperature: 0, topK: 0, topP: 1 },
  { temperature: 1, topK: 0, topP: 1 },
  { temperature: 1, topK: 0, topP: 0.95 },
  { temperature: 1, topK: 0, topP: 1, minP: 0.05 },
  { temperature: 0.8, topK: 40, topP: 0.95 },
  { temperature: 5, topK: 0, topP: 0.95 },
]

/** Measured alone: what they cost on top of a draw. */
const TOP_LOGPROBS = [0, 5, 20]

/** @param {number} size @param {number} seed */
function makeLogits(size, seed) {
  const random = createRandom(8, size, seed)
  const bell = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const logits = Float32Array.from({ length: size }, () => bell() * SPREAD)
  for (let rank = 1; rank <= WORDS_THAT_FIT; rank++) {
    logits[Math.floor(random() * size)] = BEST - FALL * Math.log(rank)
  }
  return logits
}

/** @param {(row: Float32Array) => void} work @param {readonly Float32Array[]} rows @returns microseconds */
function medianOf(work, rows) {
  const draws = Array.from({ length: DRAWS }, (_, draw) => {
    const row = rows[draw % ROWS] ?? new Float32Array()
    const startedMs = performance.now()
    work(row)
    return (performance.now() - startedMs) * 1000
  })
  return rangeOf(draws)?.median.toFixed(0) ?? 'n/a'
}

/** @param {number} size @param {string} name @param {string} median */
function print(size, name, median) {
  console.log(`${String(size).padStart(8)} tokens, ${name.padEnd(50)} ${median.padStart(6)} us`)
}

for (const size of VOCABULARIES) {
  const rows = Array.from({ length: ROWS }, (_, row) => makeLogits(size, row))
  const scratch = createCandidates(size)
  for (const settings of SETTINGS) {
    const sampler = new Sampler({ ...settings, repetitionPenalty: 1, seed: 1 }, new Int32Array())
    const { temperature, topK, topP, minP = 0 } = settings
    const name = `temperature ${temperature}, top_k ${topK}, top_p ${topP}, min_p ${minP}`
    print(
      size,
      name,
      medianOf((row) => sampler.sample(row, scratch), rows),
    )
  }
  for (const top of TOP_LOGPROBS) {
    const meter = new LogprobMeter(top, 1)
    print(
      size,
      `logprobs, top_logprobs ${top}`,
      medianOf((row) => meter.measure(row, 1, scratch), rows),
    )
  }
}
