// @ts-check
/**
 * What constraints cost, in the engine alone, on a model of 125M random weights with a vocabulary of 32,000: tokens/s of
 * one and of eight streams with and without a JSON schema, in turn, and the longest gap of running streams while other
 * constraints are compiled.
 *
 *   npm run bench:constraints [rounds]
 */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { openLlamaRunner } from '../dist/engines/llamacpp/runner.js'
import { InProcessEngine } from '../dist/engines/process/step-loop/in-process-engine.js'
import { readDeliveries } from './load/deliveries.mjs'
import { writeRandomModel } from './random-model.mjs'
import { rangeOf } from './report/statistics.mjs'

const ROUNDS = Number(process.argv[2] ?? 5)
const TOKENS = 96
const COMPILED = 6
const SAMPLING = { temperature: 0.8, topK: 0, topP: 0.95, repetitionPenalty: 1, seed: null }
const PROMPT = 'a list of people '
/** Never complete within a round. */
const SCHEMA = {
  type: 'array',
  minItems: 1000,
  items: {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 40 },
      age: { type: 'integer', minimum: 0, maximum: 120 },
      tags: { type: 'array', items: { enum: ['red', 'green', 'blue'] } },
    },
    required: ['name', 'age', 'tags'],
  },
}

/** @param {object} schema @returns {import('../dist/protocol/constraint.js').Constraint} */
const toConstraint = (schema) => ({ kind: 'json-schema', schema: JSON.stringify(schema), isStrict: true })

const folder = await mkdtemp(path.join(os.tmpdir(), 'sluice-bench-'))
const modelPath = path.join(folder, '125m.gguf')
await writeRandomModel('125m', modelPath)
const runner = await openLlamaRunner(
  {
    ...{ modelId: 'bench', modelPath, maxBatchSize: 8, maxSeqLen: 1024, threads: null },
    ...{ gpu: 'off', gpuLayers: null, kvCacheType: 'f16', speculation: 'off' },
  },
  () => {},
)
const engine = new InProcessEngine({ runner })
let requests = 0

/**
 * Tokens, and the longest time between two of their deliveries.
 * @param {import('../dist/protocol/constraint.js').Constraint | null} constraint @param {number} [maxNewTokens]
 */
async function stream(constraint, maxNewTokens = TOKENS) {
  const request = {
    reqId: String(requests++),
    prompts: [{ pieces: [PROMPT], addSpecial: true }],
    options: {
      ...{ maxNewTokens, sampling: SAMPLING, stopStrings: [] },
      ...(constraint === null
        ? { endRules: { minTokens: 0, ignoresEndTokens: true, stopTokenIds: [] } }
        : { constraint }),
    },
    place: { priorityClass: 0, priority: 0, accountId: 'bench' },
  }
  return await readDeliveries(engine, request)
}

/** @param {number} streams @param {import('../dist/protocol/constraint.js').Constraint | null} constraint */
async function tokensPerSecond(streams, constraint) {
  const startedMs = performance.now()
  const results = await Promise.all(Array.from({ length: streams }, () => stream(constraint)))
  const tokens = results.reduce((sum, result) => sum + result.tokens, 0)
  return (tokens * 1000) / (performance.now() - startedMs)
}

/** @param {number[]} values */
const show = (values) => {
  const range = rangeOf(values)
  return range === null
    ? 'n/a'
    : `${range.median.toFixed(0)} (${range.min.toFixed(0)} to ${range.max.toFixed(0)})`
}

const constraint = toConstraint(SCHEMA)
await stream(constraint, 2)
for (const streams of [1, 8]) {
  await tokensPerSecond(streams, null)
  /** @type {{ free: number[], held: number[], shares: number[] }} */
  const rates = { free: [], held: [], shares: [] }
  for (let round = 0; round < ROUNDS; round++) {
    const free = await tokensPerSecond(streams, null)
    const held = await tokensPerSecond(streams, constraint)
    rates.free.push(free)
    rates.held.push(held)
    rates.shares.push(held / free)
  }
  const share = rangeOf(rates.shares)?.median ?? 0
  console.log(
    `${streams} streams: ${show(rates.free)} tokens/s free, ${show(rates.held)} with a schema, ${share.toFixed(3)} of free`,
  )
}

for (const compiles of [0, COMPILED]) {
  const running = Promise.all(Array.from({ length: 4 }, () => stream(null, 400)))
  await new Promise((resolve) => setTimeout(resolve, 300))
  const startedMs = performance.now()
  const others = Array.from({ length: compiles }, (_, index) =>
    stream(toConstraint({ ...SCHEMA, description: 'x', maxItems: 2000 + index }), 2),
  )
  await Promise.all(others)
  const compiledMs = performance.now() - startedMs
  const gaps = (await running).map(({ longestMs }) => longestMs)
  const what =
    compiles === 0
      ? 'nothing is compiled'
      : `${compiles} schemas are compiled, in ${compiledMs.toFixed(0)} ms`
  console.log(`longest gap of 4 streams while ${what}: ${Math.max(...gaps).toFixed(0)} ms`)
}
await engine.close()
await rm(folder, { recursive: true, force: true })
