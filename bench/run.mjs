// @ts-check
/**
 * `npm run bench`: measures scenarios, ours and the peer in turns within one run, writes `bench/results/NAME.json` and
 * regenerates `docs/benchmarks.md`.
 *
 *   npm run bench -- [--against llama-server=PATH] [--scenario steady-8,bursts] [--size demo|25m|125m|1.1b|FILE.gguf]
 *                    [--rounds 5] [--threads N] [--gpu off|auto] [--name cpu] [--tokens N] [--requests N] [--rate R]
 *                    [--no-save]
 *
 * `grow-waiting`, `grow-prompts`, `grow-slots`, `grow-keys` and `grow-usage` are sweeps over points, of ours only and each on
 * the one model it is about; `--rounds 1` makes them short.
 *
 * `--tokens`, `--requests` and `--rate` take the place of a scenario's own; with `--no-save` the figures are only printed.
 */
import { execFileSync } from 'node:child_process'
import os from 'node:os'
import { parseArgs } from 'node:util'
import { llamaServerVersion } from './llama-server.mjs'
import { formatFigure, METRICS } from './metrics.mjs'
import { findModel } from './models.mjs'
import { describeRange } from './plots.mjs'
import { writeReport } from './report.mjs'
import { describeProvenance, saveMeasurement } from './results.mjs'
import { SCENARIOS } from './scenarios/index.mjs'
import { rangeOf } from './statistics.mjs'

const { values } = parseArgs({
  options: {
    against: { type: 'string' },
    scenario: { type: 'string' },
    size: { type: 'string', default: '125m' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: String(os.availableParallelism()) },
    gpu: { type: 'string', default: 'off' },
    name: { type: 'string' },
    tokens: { type: 'string' },
    requests: { type: 'string' },
    rate: { type: 'string' },
    'no-save': { type: 'boolean', default: false },
  },
})

/** @param {string | undefined} word */
const numberOrNull = (word) => (word === undefined ? null : Number(word))

const chosen = values.scenario?.split(',') ?? SCENARIOS.map(({ id }) => id)
const unknown = chosen.find((id) => SCENARIOS.every((scenario) => scenario.id !== id))
if (unknown !== undefined) {
  throw new Error(`no scenario ${unknown}; there are ${SCENARIOS.map(({ id }) => id).join(', ')}`)
}
const peer = values.against === undefined ? null : /^llama-server=(.+)$/.exec(values.against)?.[1]
if (peer === undefined) throw new Error('--against must be llama-server=PATH')
/** @type {'auto' | 'off'} */
const gpu = values.gpu === 'auto' ? 'auto' : 'off'

const provenance = describeProvenance({
  command: ['npm run bench --', ...withoutPaths(process.argv.slice(2))].join(' '),
  peer: peer === null ? null : llamaServerVersion(peer),
  gpu: gpu === 'auto' ? gpuName() : null,
})

for (const scenario of SCENARIOS.filter(({ id }) => chosen.includes(id))) {
  const startedMs = performance.now()
  const modelName = scenario.fixedModel ?? values.size
  const model = await findModel(modelName === 'passthrough' ? 'demo' : modelName)
  const bench = {
    ...{ model, threads: Number(values.threads), gpu, peer },
    ...{ rounds: Number(values.rounds), tokens: numberOrNull(values.tokens) },
    ...{ requests: numberOrNull(values.requests), rate: numberOrNull(values.rate) },
  }
  const measured = await scenario.run(bench)
  const name = scenario.fixedModel ?? model.name
  const head = { scenario: scenario.id, model: name, threads: bench.threads }
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0)
  print(`${scenario.id} ${name} (${seconds} s)`, measured)
  if (values['no-save']) continue
  saveMeasurement(values.name ?? (gpu === 'auto' ? 'gpu' : 'cpu'), {
    ...head,
    provenance: { ...provenance, measuredAt: new Date().toISOString() },
    ...measured,
  })
  writeReport()
}

/** @param {string} heading @param {import('./scenarios/index.mjs').Measured} measured */
function print(heading, { rows, errors = [] }) {
  const lines = [heading]
  for (const { contender, group, rounds } of rows) {
    lines.push(`  ${[contender, group].filter(Boolean).join(', ')}`)
    for (const [metric, { label, unit }] of METRICS) {
      const range = rangeOf(rounds.map(({ [metric]: figure }) => figure))
      if (range !== null) lines.push(`    ${label.padEnd(34)} ${describeRange(range, formatFigure)} ${unit}`)
    }
  }
  process.stdout.write([...lines, ...errors.map((error) => `  error: ${error}`), ''].join('\n'))
}

/** What stands where on this machine is nobody's business. @param {string[]} words */
function withoutPaths(words) {
  return words.map((word) =>
    word.replace(/^((?:--\w+=)?llama-server=).*$/, '$1PATH').replace(/^.*\/(?=[^/]+\.gguf$)/, ''),
  )
}

function gpuName() {
  try {
    const words = ['--query-gpu=name', '--format=csv,noheader']
    return execFileSync('nvidia-smi', words, { encoding: 'utf8' }).trim().replaceAll('\n', ', ')
  } catch {
    return 'unknown GPU'
  }
}
