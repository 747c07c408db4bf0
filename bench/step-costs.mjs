// @ts-check
/**
 * How much longer a step takes for more tokens of each sequence, with logits after each of them: what a draft costs.
 * Sizes take turns, so that a change of the machine's speed falls on all of them.
 *
 *   npm run bench:step-costs -- [--size demo|25m|125m|1.1b] [--sequences 1] [--threads 1] [--rounds 10]
 */
import { parseArgs } from 'node:util'
import { findModel } from './models.mjs'
import { openNativeLoop } from './loops/native-loop.mjs'
import { rangeOf } from './report/statistics.mjs'

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: 'demo' },
    sequences: { type: 'string', default: '1' },
    threads: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '10' },
  },
})
const sequences = Number(values.sequences)
const threads = Number(values.threads)
/** Tokens of each sequence that are there before. */
const CONTEXT_TOKENS = 208
/** Steps of one size in a row: llama.cpp makes a new graph for the first of them. */
const BLOCK_STEPS = 8
const RUN_TOKENS = [1, 2, 3, 4, 5, 8, 16]
const MAX_STEP_TOKENS = Math.max(512, sequences * 16)

const { path: modelPath } = await findModel(values.size)
const { api, context, batch } = openNativeLoop({
  ...{ modelPath, sequences, threads, maxStepTokens: MAX_STEP_TOKENS },
})
const memory = api.contextMemory(context)
if (memory === null) throw new Error('the model keeps no KV cache')

/** @param {number} position @param {number} tokens @param {number} draftTokens */
function makeRuns(position, tokens, draftTokens) {
  return Array.from({ length: sequences }, (_, slotId) => ({
    slotId,
    position,
    tokenIds: Array.from({ length: tokens }, (_unused, i) => (position + i * 7 + slotId) % 200),
    wantsToken: true,
    draftTokens,
  }))
}

/** @param {ReturnType<typeof makeRuns>} runs @returns {number} milliseconds */
const compute = (runs) => {
  const startedMs = performance.now()
  const status = api.decode(context, batch.fill(runs))
  if (status !== 0) throw new Error(`llama_decode: ${status}`)
  // Waits for the result.
  api.logits(context)
  return performance.now() - startedMs
}

/** @param {number} tokens of each sequence, which are dropped again @returns {number} milliseconds */
const step = (tokens) => {
  const ms = compute(makeRuns(CONTEXT_TOKENS, tokens, tokens - 1))
  for (let slotId = 0; slotId < sequences; slotId++) api.memorySeqRm(memory, slotId, CONTEXT_TOKENS, -1)
  return ms
}

for (let position = 0; position < CONTEXT_TOKENS; position += 16) compute(makeRuns(position, 16, 0))
const firsts = RUN_TOKENS.map(() => /** @type {number[]} */ ([]))
const others = RUN_TOKENS.map(() => /** @type {number[]} */ ([]))
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [i, tokens] of RUN_TOKENS.entries()) {
    const [first = Number.NaN, ...rest] = Array.from({ length: BLOCK_STEPS }, () => step(tokens))
    firsts[i]?.push(first)
    others[i]?.push(...rest)
  }
}
/** @param {number[] | undefined} figures */
const median = (figures) => rangeOf(figures ?? [])?.median ?? Number.NaN
console.log(`${values.size}, ${threads} threads, ${sequences} sequences, ${values.rounds} rounds, medians:`)
for (const [i, tokens] of RUN_TOKENS.entries()) {
  const [first, ms] = [median(firsts[i]), median(others[i])]
  const ratio = (ms / median(others[0])).toFixed(2)
  console.log(
    `  ${tokens} tokens each: ${ms.toFixed(2)} ms, x ${ratio}; the first of its size ${first.toFixed(2)} ms`,
  )
}
