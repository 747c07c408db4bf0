// @ts-check
/**
 * `npm run bench:quick`: ratios that hardly depend on the machine, in under 90 s, for before and after a change. Compares
 * with `bench/results/quick.json`; `--save` writes it.
 *
 *   npm run bench:quick -- [--save] [--size 25m] [--threads N]
 */
import os from 'node:os'
import { parseArgs } from 'node:util'
import { formatFigure } from './report/metrics.mjs'
import { findModel } from './models.mjs'
import { describeRange } from './report/plots.mjs'
import { QUICK } from './report/report.mjs'
import { describeProvenance, readResults, writeResults } from './report/results.mjs'
import { passthrough } from './scenarios/passthrough.mjs'
import { sharedPrefix } from './scenarios/shared-prefix.mjs'
import { steady } from './scenarios/steady.mjs'
import { rangeOf } from './report/statistics.mjs'

/** @typedef {import('./load/rounds.mjs').Row} Row */
/** @typedef {{ what: string, range: import('./report/statistics.mjs').Range, isBetter: 'more' | 'less' }} Check */

const { values } = parseArgs({
  options: {
    save: { type: 'boolean', default: false },
    size: { type: 'string', default: '25m' },
    threads: { type: 'string', default: String(os.availableParallelism()) },
  },
})

const startedMs = performance.now()
/** @type {import('./scenarios/index.mjs').Bench} */
const bench = {
  ...{ model: await findModel(values.size), threads: Number(values.threads), gpu: 'off', peer: null },
  ...{ rounds: 3, tokens: null, requests: null, rate: null },
}

const throughput = await steady(8).run({ ...bench, tokens: 32 })
const chat = await sharedPrefix.run({ ...bench, requests: 4, tokens: 4 })
const gates = await passthrough.run({ ...bench, requests: 500 })
const [cold = '', warm = ''] = chat.rows.flatMap(({ group }) => group ?? [])

/** @type {Check[]} */
const checks = [
  compare('tokens/s at 8 clients, through HTTP / raw loop', 'more', {
    figures: figuresOf(throughput.rows, 'sluice', 'outputTokensPerSecond'),
    others: figuresOf(throughput.rows, 'raw loop', 'outputTokensPerSecond'),
  }),
  compare('chat TTFT p50, prefix known / new', 'less', {
    figures: figuresOf(chat.rows, warm, 'ttftP50Ms'),
    others: figuresOf(chat.rows, cold, 'ttftP50Ms'),
  }),
  compare('requests/s without a model, all gates / bare route', 'more', {
    figures: figuresOf(gates.rows, 'all gates', 'requestsPerSecond'),
    others: figuresOf(gates.rows, 'bare Fastify route', 'requestsPerSecond'),
  }),
  compare('latency p50 without a model, all gates / no gates', 'less', {
    figures: figuresOf(gates.rows, 'all gates', 'latencyP50Ms'),
    others: figuresOf(gates.rows, 'no gates', 'latencyP50Ms'),
  }),
]

/** What was measured with another model or other threads is no measure of a change. */
const settings = { model: bench.model.name, threads: bench.threads }
const saved = /** @type {Partial<typeof settings> & { checks?: Check[] }} */ (
  /** @type {unknown} */ (readResults(QUICK))
)
const isComparable = saved.model === settings.model && saved.threads === settings.threads
const committed = isComparable ? (saved.checks ?? []) : []
if (saved.checks !== undefined && !isComparable) {
  process.stdout.write(
    `bench/results/${QUICK}.json was measured with model ${saved.model}, ${saved.threads} threads: not compared\n`,
  )
}
for (const { what, range, isBetter } of checks) {
  const before = committed.find((other) => other.what === what)?.range
  const verdict =
    before === undefined ? 'nothing to compare with' : compareRanges({ range, before, isBetter })
  process.stdout.write(`${what.padEnd(52)} ${describeRange(range, formatFigure).padEnd(24)} ${verdict}\n`)
}
process.stdout.write(`${((performance.now() - startedMs) / 1000).toFixed(0)} s\n`)
if (values.save) {
  const command = ['npm run bench:quick --', ...process.argv.slice(2)].join(' ')
  const provenance = describeProvenance({ command, peer: null, gpu: null })
  writeResults(QUICK, { name: QUICK, provenance, ...settings, checks })
}

/** @param {string} what @param {'more' | 'less'} isBetter @param {{ figures: number[], others: number[] }} sides @returns {Check} */
function compare(what, isBetter, { figures, others }) {
  const range = rangeOf(figures.map((figure, round) => figure / (others[round] ?? Number.NaN)))
  if (range === null) throw new Error(`nothing was measured of: ${what}`)
  return { what, range, isBetter }
}

/** Of the contender, or of the group of requests, of that name. @param {Row[]} rows @param {string} name @param {string} metric */
function figuresOf(rows, name, metric) {
  const row = rows.find(({ contender, group }) => (group ?? contender) === name)
  return (row?.rounds ?? []).flatMap(({ [metric]: figure }) => figure ?? [])
}

/** What is outside the other range altogether is more than noise. @param {{ range: Check['range'], before: Check['range'], isBetter: Check['isBetter'] }} ranges */
function compareRanges({ range, before, isBetter }) {
  const was = `was ${describeRange(before, formatFigure)}`
  const isMore = range.min > before.max
  const isLess = range.max < before.min
  if (!isMore && !isLess) return was
  return `${was}: ${isMore === (isBetter === 'more') ? 'better' : 'WORSE'}`
}
