// @ts-check
/**
 * `npm run bench`: measures scenarios, ours and the peer in turns within one run, writes `bench/results/NAME.json` and
 * regenerates `docs/benchmarks.md`.
 */
import { execFileSync } from 'node:child_process'
import os from 'node:os'
import { parseArgs } from 'node:util'
import { llamaServerVersion } from './servers/llama-server.mjs'
import { formatFigure, METRICS } from './report/metrics.mjs'
import { findModel } from './models.mjs'
import { describeRange } from './report/plots.mjs'
import { writeReport } from './report/report.mjs'
import { describeProvenance, saveMeasurement } from './report/results.mjs'
import { SCENARIOS } from './scenarios/index.mjs'
import { rangeOf } from './report/statistics.mjs'

const USAGE = `npm run bench -- [--against llama-server=PATH] [--scenario steady-8,bursts] [--size demo|25m|125m|1.1b|FILE.gguf]
                 [--rounds 5] [--threads N] [--gpu off|auto] [--name cpu] [--tokens N] [--requests N] [--rate R]
                 [--no-save]

Scenarios: ${SCENARIOS.map(({ id }) => id).join(', ')}. Without --scenario all of them run.
Those that begin with grow- are sweeps over points, of ours only and each on the one model it is about; --rounds 1 makes
them short. --tokens, --requests and --rate take the place of a scenario's own. With --no-save the figures are only printed.
`

const values = readOptions()
const chosen = values.scenario?.split(',') ?? SCENARIOS.map(({ id }) => id)
const unknown = chosen.find((id) => SCENARIOS.every((scenario) => scenario.id !== id))
if (unknown !== undefined) refuse(`--scenario: there is no scenario '${unknown}'`)
const peer = values.against === undefined ? null : /^llama-server=(.+)$/.exec(values.against)?.[1]
if (peer === undefined) refuse(`--against must be llama-server=PATH, but was '${values.against}'`)
if (values.gpu !== 'off' && values.gpu !== 'auto')
  refuse(`--gpu must be off or auto, but was '${values.gpu}'`)
/** @type {'auto' | 'off'} */
const gpu = values.gpu === 'auto' ? 'auto' : 'off'
const numbers = {
  ...{ rounds: readNumber('rounds') ?? 5, threads: readNumber('threads') ?? os.availableParallelism() },
  ...{ tokens: readNumber('tokens'), requests: readNumber('requests'), rate: readNumber('rate') },
}

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
    ...{ model, gpu, peer },
    ...numbers,
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

function readOptions() {
  const word = /** @type {const} */ ({ type: 'string' })
  const flag = /** @type {const} */ ({ type: 'boolean', default: false })
  try {
    const { values } = parseArgs({
      options: {
        ...{ against: word, scenario: word, rounds: word, threads: word, name: word },
        ...{ tokens: word, requests: word, rate: word },
        size: { ...word, default: '125m' },
        gpu: { ...word, default: 'off' },
        ...{ 'no-save': flag, help: flag },
      },
    })
    if (!values.help) return values
    process.stdout.write(USAGE)
    process.exit()
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error))
  }
}

/** @param {'rounds' | 'threads' | 'tokens' | 'requests' | 'rate'} name */
function readNumber(name) {
  const word = values[name]
  if (word === undefined) return null
  const number = Number(word)
  const isGood = name === 'rate' ? number > 0 : Number.isInteger(number) && number >= 1
  const kind = name === 'rate' ? 'number above 0' : 'whole number of at least 1'
  return isGood ? number : refuse(`--${name} must be a ${kind}, but was '${word}'`)
}

/** @param {string} message @returns {never} */
function refuse(message) {
  process.stderr.write(`${message}\n\n${USAGE}`)
  process.exit(2)
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
