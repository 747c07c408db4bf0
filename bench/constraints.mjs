// @ts-check
/**
 * What constraints cost, in the engine alone, on a model of 125M random weights with a vocabulary of 32,000: tokens/s of
 * one and of eight streams with and without a JSON schema, in turn, drawn and greedy, where choosing a token costs least; and the
 * longest gap of running streams while other constraints are compiled. With a peer, the same streams over HTTP from both servers.
 *
 *   npm run bench:constraints -- [rounds] [--against llama-server=PATH]
 */
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { openLlamaRunner } from '../dist/engines/llamacpp/open-runner.js'
import { InProcessEngine } from '../dist/engines/process/step-loop/in-process-engine.js'
import { readDeliveries } from './load/deliveries.mjs'
import { readExchange } from './load/stream-client.mjs'
import { writeRandomModel } from './random-model.mjs'
import { rangeOf } from './report/statistics.mjs'
import { startContenders, whileRunning } from './servers/contenders.mjs'

const { values, positionals } = parseArgs({
  options: { against: { type: 'string' } },
  allowPositionals: true,
})
const ROUNDS = Number(positionals[0] ?? 5)
const PEER = values.against?.replace(/^llama-server=/, '') ?? null
const STREAMS = 8
const TOKENS = 96
const COMPILED = 6
const DRAWN = { temperature: 0.8, topK: 0, topP: 0.95, repetitionPenalty: 1, seed: null }
const GREEDY = { ...DRAWN, temperature: 0 }
const PROMPT = 'a list of people '
/** Never complete within a round. */
const SCHEMA = {
  type: 'array',
  minItems: 100,
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
 * @param {import('../dist/protocol/constraint.js').Constraint | null} constraint
 * @param {{ maxNewTokens?: number, sampling?: typeof DRAWN }} [options]
 */
async function stream(constraint, { maxNewTokens = TOKENS, sampling = DRAWN } = {}) {
  const request = {
    reqId: String(requests++),
    prompts: [{ pieces: [PROMPT], addSpecial: true }],
    options: {
      ...{ maxNewTokens, sampling, stopStrings: [] },
      ...(constraint === null
        ? { endRules: { minTokens: 0, ignoresEndTokens: true, stopTokenIds: [] } }
        : { constraint }),
    },
    place: { priorityClass: 0, priority: 0, accountId: 'bench' },
  }
  return await readDeliveries(engine, request)
}

/**
 * @param {number} streams @param {import('../dist/protocol/constraint.js').Constraint | null} constraint
 * @param {typeof DRAWN} sampling
 */
async function tokensPerSecond(streams, constraint, sampling) {
  const startedMs = performance.now()
  const results = await Promise.all(Array.from({ length: streams }, () => stream(constraint, { sampling })))
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

/** @param {string} label @param {(isHeld: boolean) => Promise<number>} measure tokens/s with and without the schema */
async function inTurns(label, measure) {
  await measure(false)
  /** @type {{ free: number[], held: number[], shares: number[] }} */
  const rates = { free: [], held: [], shares: [] }
  for (let round = 0; round < ROUNDS; round++) {
    const free = await measure(false)
    const held = await measure(true)
    rates.free.push(free)
    rates.held.push(held)
    rates.shares.push(held / free)
  }
  const share = rangeOf(rates.shares)?.median ?? 0
  console.log(
    `${label}: ${show(rates.free)} tokens/s free, ${show(rates.held)} with a schema, ${share.toFixed(3)} of free`,
  )
}

/** @param {import('./servers/contenders.mjs').Contender} contender @param {object | undefined} schema */
async function served({ send, protocol }, schema) {
  const startedMs = performance.now()
  const asks = Array.from({ length: STREAMS }, () =>
    send({ prompt: PROMPT, newTokens: TOKENS, ...(schema && { schema }) }),
  )
  const samples = (await Promise.all(asks)).map((exchange) => readExchange(exchange, protocol))
  const tokens = samples.reduce((sum, { completionTokens }) => sum + completionTokens, 0)
  for (const { error } of samples) if (error !== null) console.error(error)
  return (tokens * 1000) / (performance.now() - startedMs)
}

const constraint = toConstraint(SCHEMA)
await stream(constraint, { maxNewTokens: 2 })
for (const streams of [1, STREAMS]) {
  for (const sampling of [DRAWN, GREEDY]) {
    const label = `${streams} streams, ${sampling === GREEDY ? 'greedy' : 'drawn'}`
    await inTurns(label, (isHeld) => tokensPerSecond(streams, isHeld ? constraint : null, sampling))
  }
}

for (const compiles of [0, COMPILED]) {
  const running = Promise.all(Array.from({ length: 4 }, () => stream(null, { maxNewTokens: 400 })))
  await new Promise((resolve) => setTimeout(resolve, 300))
  const startedMs = performance.now()
  const others = Array.from({ length: compiles }, (_, index) =>
    stream(toConstraint({ ...SCHEMA, description: 'x', maxItems: 2000 + index }), { maxNewTokens: 2 }),
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
if (PEER !== null) {
  const bench = {
    ...{ model: { name: '125m', path: modelPath, words: () => '' }, threads: os.availableParallelism() },
    ...{
      gpu: /** @type {const} */ ('off'),
      peer: PEER,
      rounds: ROUNDS,
      tokens: null,
      requests: null,
      rate: null,
    },
  }
  const contenders = await startContenders(bench, { slots: STREAMS, slotTokens: 1024, api: 'completion' })
  await whileRunning(contenders, async () => {
    for (const contender of contenders) await served(contender, SCHEMA)
    for (const contender of contenders)
      await inTurns(`${contender.name}, ${STREAMS} streams`, (isHeld) =>
        served(contender, isHeld ? SCHEMA : undefined),
      )
  })
}
await rm(folder, { recursive: true, force: true })
