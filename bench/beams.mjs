// @ts-check
/**
 * What a beam search costs: one search of N beams against N sequences of the running batch, in turns, in this process,
 * over the same model. Each beam computes a token per step as a sequence does; only one of them is returned. And how long streams wait
 * when a search begins beside them.
 *
 *   npm run bench:beams -- [--size demo|25m|125m|1.1b] [--beams 4] [--tokens 96] [--rounds 5]
 */
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openLlamaRunner } from '../dist/engines/llamacpp/open-runner.js'
import { InProcessEngine } from '../dist/engines/process/step-loop/in-process-engine.js'
import { readDeliveries } from './load/deliveries.mjs'
import { findModel } from './models.mjs'

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '125m' },
    beams: { type: 'string', default: '4' },
    tokens: { type: 'string', default: '96' },
    rounds: { type: 'string', default: '5' },
  },
})
const beams = Number(values.beams)
const maxNewTokens = Number(values.tokens)

/** When a search begins beside streams. */
const START_MS = 150

const { path: modelPath } = await findModel(values.size)
const runner = await openLlamaRunner(
  {
    modelId: 'bench',
    modelPath,
    maxBatchSize: 8,
    maxSeqLen: 1024,
    threads: os.availableParallelism(),
    gpu: 'off',
    gpuLayers: null,
    kvCacheType: 'f16',
  },
  () => {},
)
const engine = new InProcessEngine({ runner })
const GREEDY = { temperature: 0, topK: 0, topP: 1, repetitionPenalty: 1, seed: null }
let requests = 0

/**
 * Steps' tokens per second, and the longest time between two deliveries.
 * @param {number} prompts @param {number} numBeams
 */
async function run(prompts, numBeams) {
  const request = {
    reqId: `bench-${++requests}`,
    prompts: Array.from({ length: prompts }, () => ({
      pieces: [`Prompt number ${requests}: once upon a time`],
      addSpecial: true,
    })),
    options: { maxNewTokens, sampling: GREEDY, stopStrings: [], numBeams },
    place: { priorityClass: 0, priority: 0, accountId: 'bench' },
  }
  const startedMs = performance.now()
  const { tokens, longestMs } = await readDeliveries(engine, request)
  return { rate: (tokens * numBeams * 1000) / (performance.now() - startedMs), longestMs }
}

/** @param {number} prompts @param {number} numBeams */
const measure = async (prompts, numBeams) => (await run(prompts, numBeams)).rate

/** Of streams beside whom a search begins. */
async function longestGapMs() {
  const streams = run(4, 1)
  await sleep(START_MS)
  await run(1, beams)
  return (await streams).longestMs
}

/** @param {number[]} figures */
const describe = (figures) => {
  const sorted = figures.toSorted((a, b) => a - b)
  const [least, middle, most] = [0, sorted.length >> 1, sorted.length - 1].map((i) => sorted[i]?.toFixed(0))
  return `${middle} (${least} to ${most})`
}

await measure(beams, 1)
// The first search of a process makes the beams' KV cache.
const gaps = { first: await longestGapMs(), later: await longestGapMs() }
const plain = []
const searched = []
for (let round = 0; round < Number(values.rounds); round++) {
  plain.push(await measure(beams, 1))
  searched.push(await measure(1, beams))
}
console.log(`${values.size}, ${os.availableParallelism()} threads, ${maxNewTokens} tokens, median (range):`)
console.log(`  ${beams} sequences of the batch: ${describe(plain)} tokens/s`)
console.log(`  one search of ${beams} beams:    ${describe(searched)} beam tokens/s`)
console.log(
  `  longest gap of 4 streams beside the first search: ${gaps.first.toFixed(0)} ms, beside a later one: ${gaps.later.toFixed(0)} ms`,
)
await engine.close()
