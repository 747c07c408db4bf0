// @ts-check
/**
 * `npm run bench:compare-answers`: starts Sluice and llama-server on the same file, one sequence at a time, and compares how
 * they tokenize and continue 200 prompts greedily. Ends with 1 where a tokenization or an answer differs: at all where both compute
 * the same batches (`shapes.mjs`), by more than rounding where they do not.
 */
import os from 'node:os'
import { parseArgs } from 'node:util'
import { createCases } from './cases.mjs'
import { compareAnswers, TIE_GAP } from './compare.mjs'
import { askLlamaServer, askSluice } from './servers.mjs'
import { SHAPES } from './shapes.mjs'
import { findModel, realModelNames } from '../models.mjs'
import { whileRunning } from '../servers/contenders.mjs'
import { llamaServerVersion, startLlamaServer } from '../servers/llama-server.mjs'
import { startServer } from '../servers/serve.mjs'

const USAGE = `npm run bench:compare-answers -- --against llama-server=PATH [--size NAME|FILE.gguf,...] [--prompts 200] [--threads N]
                                 [--shapes fresh|reused|own] [--only chat-3,long-0]

Without --size all trained models are compared that are found in the folder that BENCH_MODELS names.
`
/** @typedef {import('./cases.mjs').Case} Case */
/** @typedef {import('./servers.mjs').Asked} Asked */

const SEQ_LEN = 4096
const BITS_SHOWN = 60

const { values } = parseArgs({
  options: {
    against: { type: 'string', default: '' },
    size: { type: 'string' },
    prompts: { type: 'string', default: '200' },
    threads: { type: 'string', default: String(os.availableParallelism()) },
    only: { type: 'string' },
    shapes: { type: 'string', default: 'fresh' },
  },
})
const binary = /^llama-server=(.+)$/.exec(values.against)?.[1]
const sizes = values.size?.split(',') ?? realModelNames()
const shapes = Object.hasOwn(SHAPES, values.shapes)
  ? SHAPES[/** @type {keyof typeof SHAPES} */ (values.shapes)]
  : undefined
if (binary === undefined || sizes.length === 0 || shapes === undefined) {
  process.stderr.write(USAGE)
  process.exit(2)
}
const threads = Number(values.threads)
const only = values.only?.split(',')
const cases = createCases(Number(values.prompts)).filter(({ id }) => only?.includes(id) ?? true)

let failures = 0
for (const size of sizes) failures += await compareOn(await findModel(size), { binary, shapes })
process.exitCode = failures === 0 ? 0 : 1

/**
 * @param {import('../models.mjs').BenchModel} model
 * @param {{ binary: string, shapes: import('./shapes.mjs').Shapes }} peer
 * @returns {Promise<number>} what differs
 */
async function compareOn({ name, path }, { binary, shapes }) {
  const words = [
    '--checkpoint',
    path,
    '--max-batch-size',
    '1',
    '--max-seq-len',
    String(SEQ_LEN),
    '--prefix-cache-mb',
    '0',
    ...shapes.ourWords,
  ]
  const ours = await startServer([...words, '--threads', String(threads), '--gpu', 'off'])
  return await whileRunning([ours], async () => {
    const options = { model: path, slots: 1, slotTokens: SEQ_LEN, threads, gpu: /** @type {const} */ ('off') }
    const theirs = await startLlamaServer(binary, {
      ...options,
      words: ['--jinja', '--cache-ram', '0', ...shapes.words],
    })
    print(`${name}, llama-server ${llamaServerVersion(binary)}, ${shapes.says}`)
    return await whileRunning([theirs], () =>
      compareEach(
        askSluice(ours.address, shapes.ours),
        askLlamaServer(theirs.address, shapes.theirs),
        shapes.areEqual,
      ),
    )
  })
}

/** @param {Asked} ours @param {Asked} theirs @param {boolean} mustBeEqual whether a tie counts too */
async function compareEach(ours, theirs, mustBeEqual) {
  const tokenized = await compareTokens(ours, theirs)
  print(`  the tokens of ${tokenized} of ${cases.length} prompts are equal`)
  const counts = { equal: 0, tie: 0, different: 0 }
  let logprobDifference = 0
  for (const one of cases) {
    const compared = await compareCase(one, ours, theirs)
    counts[compared.outcome]++
    logprobDifference = Math.max(logprobDifference, compared.logprobDifference)
  }
  print(
    `  answers: ${counts.equal} equal, ${counts.tie} part where the gaps are up to ${TIE_GAP}, ${counts.different} different; ` +
      `log probabilities of what both chose differ by ${logprobDifference.toFixed(4)} at most`,
  )
  return counts.different + (mustBeEqual ? counts.tie : 0) + cases.length - tokenized
}

/** @param {Asked} ours @param {Asked} theirs */
async function compareTokens(ours, theirs) {
  let equal = 0
  for (const one of cases) {
    const [ourIds, theirIds] = [await ours.tokenize(one), await theirs.tokenize(one)]
    const isEqual = ourIds.length === theirIds.length && ourIds.every((id, i) => id === theirIds[i])
    if (isEqual) equal++
    else print(`  ${one.id}: tokens ${firstDifference(ourIds, theirIds)}`)
  }
  return equal
}

/** @param {Case} one @param {Asked} ours @param {Asked} theirs */
async function compareCase(one, ours, theirs) {
  const [our, their] = [await ours.answer(one), await theirs.answer(one)]
  const compared = compareAnswers(our, their)
  if (compared.outcome === 'equal') return compared
  print(`  ${one.id}: ${describe(compared, our, their)}`)
  // A stop string hides the token at which a text parted.
  const { stop, ...whole } = one
  if (compared.what === 'token' || stop === undefined) return compared
  const [ourWhole, theirWhole] = [await ours.answer(whole), await theirs.answer(whole)]
  const comparedWhole = compareAnswers(ourWhole, theirWhole)
  print(`  ${one.id} without its stop strings: ${describe(comparedWhole, ourWhole, theirWhole)}`)
  return comparedWhole.outcome === 'tie' ? comparedWhole : compared
}

/** @param {string} line */
function print(line) {
  process.stdout.write(`${line}\n`)
}

/** @param {import('./compare.mjs').Comparison} compared @param {import('./compare.mjs').Answer} our @param {import('./compare.mjs').Answer} their */
function describe({ outcome, what, at, gaps }, our, their) {
  const where =
    gaps === undefined ? what : `token ${at}, gaps ${gaps.map((gap) => gap.toFixed(3)).join(' and ')}`
  const [one, other] = [our, their].map(
    (answer) =>
      `${JSON.stringify(answer.text.slice(0, BITS_SHOWN))} (${answer.finishReason}, ${answer.promptTokens}+${answer.tokens.length})`,
  )
  return `${outcome}, ${where}: ${one} | ${other}`
}

/** @param {number[]} ours @param {number[]} theirs */
function firstDifference(ours, theirs) {
  const at = ours.findIndex((id, i) => id !== theirs[i])
  const place = at === -1 ? Math.min(ours.length, theirs.length) : at
  return `differ at ${place}: ${ours.slice(place, place + 8).join(' ')} | ${theirs.slice(place, place + 8).join(' ')} (${ours.length} and ${theirs.length})`
}
