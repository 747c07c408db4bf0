// @ts-check
/** Writes `docs/benchmarks.md` and its plots from all results: nothing in there is written by hand. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { formatAgainstGoal, formatBound, GOALS, isReached, measureGoal } from './goals.mjs'
import { pointsOf, worstStep } from './growth-steps.mjs'
import { formatFigure, METRICS } from './metrics.mjs'
import { describeRange, drawBars, drawLines } from './plots.mjs'
import { listResults, readResults, ROOT } from './results.mjs'
import { SCENARIOS } from '../scenarios/index.mjs'
import { rangeOf } from './statistics.mjs'

/** @typedef {import('./results.mjs').Measurement} Measurement */
/** @typedef {import('../load/rounds.mjs').Row} Row */
/** @typedef {import('../scenarios/index.mjs').Scenario} Scenario */

const PLOTS = 'benchmarks'
/** Measured with every one, kept in the JSON, of no interest in a table. */
const LEFT_OUT = new Set(['seconds', 'clientCpuSeconds'])
/** Written by `bench:quick`, and read by it only. */
export const QUICK = 'quick'
/** Written by `bench:attack`. */
export const ATTACK = 'attack'

const HEAD = `# Benchmarks

Written by \`npm run bench\` from \`bench/results/\`; nothing here is written by hand. Every figure is the median of the
rounds, with the least and the most in parentheses; contenders took turns within one run, on the same model file with the
same number of slots and compute threads. Latencies count from the moment a request was due. ITL is the time between two
pieces of streamed text. Peak memory is the sum of what each process held resident at most, mapped weights included.

Where a goal is not reached, [performance.md](performance.md) says what stands in the way.

Models named by a size have random weights (\`bench/random-model.mjs\`): they say nonsense at the speed of a trained model.
Trained ones, \`smollm2-135m\` and \`gemma3-270m\`, are found in the folder that the variable \`BENCH_MODELS\` names.

## How to repeat it

\`\`\`sh
npm run bench -- --against llama-server=PATH                       # every scenario, 125m
npm run bench -- --against llama-server=PATH --size 1.1b --scenario steady-1,steady-8,steady-32
npm run bench:quick                                                # ratios only, under 90 s
\`\`\`

The peer is llama-server of the same llama.cpp release as our libraries. Its sources are a git bundle of one commit, with a hash
of its own, inside the tarball of the npm package \`node-llama-cpp\`, which is fetched and never installed. On 2 cores it builds in about ten minutes; the
flags name the instructions because a native build crashes on some virtual machines:

\`\`\`sh
npm pack node-llama-cpp@VERSION && tar -xf node-llama-cpp-*.tgz   # the version of @node-llama-cpp in package.json
git clone package/llama/gitRelease.bundle llama.cpp && cd llama.cpp
cmake -B build -DCMAKE_BUILD_TYPE=Release -DGGML_NATIVE=OFF -DGGML_AVX=ON -DGGML_AVX2=ON -DGGML_FMA=ON -DGGML_F16C=ON \\
  -DGGML_BMI2=ON -DLLAMA_BUILD_TESTS=OFF -DLLAMA_BUILD_EXAMPLES=OFF -DLLAMA_BUILD_UI=OFF
cmake --build build --target llama-server
\`\`\`

To run it with the very libraries that ours uses, copy the binary and what it alone needs (\`libllama-server-impl.so\`,
\`libmtmd.so.0\`) to a folder, copy the \`.so\` files of \`@node-llama-cpp/linux-x64\` (\`bins/linux-x64\`) beside them, and link
them under the names it looks for: \`libllama.so.0\`, \`libggml.so.0\`, \`libggml-base.so.0\`, \`libllama-common.so.0\`.
`

export function writeReport() {
  const docs = path.join(ROOT, 'docs')
  rmSync(path.join(docs, PLOTS), { recursive: true, force: true })
  const sections = listResults()
    .filter((name) => name !== QUICK && name !== ATTACK)
    .map((name) =>
      describeResults(name, (file, svg) => {
        mkdirSync(path.dirname(path.join(docs, file)), { recursive: true })
        writeFileSync(path.join(docs, file), svg)
      }),
    )
  writeFileSync(path.join(docs, 'benchmarks.md'), [HEAD, ...sections].join('\n'))
}

/** @param {string} name @param {(file: string, svg: string) => void} savePlot */
function describeResults(name, savePlot) {
  const { measurements } = readResults(name)
  const sorted = SCENARIOS.flatMap((scenario) =>
    measurements.flatMap((measurement) =>
      measurement.scenario === scenario.id ? [{ scenario, measurement }] : [],
    ),
  )
  const machines = new Set(measurements.map((measurement) => describeMachine(measurement)))
  const overview = plotClients(measurements).map(({ model, svg }) => {
    const file = `${PLOTS}/${name}/${model}/clients.svg`
    savePlot(file, svg)
    return `![output tokens/s of ${model} by clients](${file})\n`
  })
  return [
    `## Results: ${name}\n`,
    `${[...machines].join('\n\n')}\n`,
    ...describeGoals(measurements),
    ...overview,
    ...sorted.map(({ scenario, measurement }) => {
      const file = `${PLOTS}/${name}/${measurement.model}/${scenario.id}.svg`
      savePlot(file, plotScenario(scenario, measurement))
      return describeMeasurement(scenario, measurement, file)
    }),
  ].join('\n')
}

/** @param {Measurement} measurement */
function describeMachine({ provenance: { cpu, cores, memoryGb, os, node, llamaCpp, peer, gpu } }) {
  const parts = [`${cpu}, ${cores} cores`, `${memoryGb} GiB`, gpu ?? 'no GPU', os, `Node ${node}`, llamaCpp]
  return `${parts.join(', ')}${peer === null ? '' : `; llama-server ${peer}`}.`
}

/** @param {Measurement[]} measurements */
function describeGoals(measurements) {
  const lines = GOALS.flatMap((goal) =>
    measurements.flatMap((measurement) => {
      if (measurement.scenario !== goal.scenario) return []
      const range = measureGoal(goal, measurement)
      if (range === null) return []
      const against =
        goal.against === null ? '' : [goal.against.contender, goal.against.group].filter(Boolean).join(', ')
      const found = describeRange(range, (figure) => formatAgainstGoal(goal, figure))
      const verdict = isReached(goal, range.median) ? 'yes' : 'no'
      return [
        `| ${goal.what} | ${measurement.model} | ${against} | ${formatBound(goal)} | ${found} | ${verdict} |`,
      ]
    }),
  )
  if (lines.length === 0) return []
  return ['| what | model | against | goal | measured | reached |', '|---|---|---|---|---|---|', ...lines, '']
}

/** @param {Scenario} scenario @param {Measurement} measurement @param {string} plot */
function describeMeasurement({ id, title, about, shows, isSweep = false, xAxis }, measurement, plot) {
  const { model, rows, parameters, processes = [], errors = [], provenance, threads } = measurement
  const present = [...METRICS.keys()].filter(
    (metric) => !LEFT_OUT.has(metric) && rows.some((row) => rangeOfRow(row, metric) !== null),
  )
  const metrics = [
    ...shows.filter((metric) => present.includes(metric)),
    ...present.filter((metric) => !shows.includes(metric)),
  ]
  const names = rows.map(({ contender, group }) => (group === null ? contender : `${contender}, ${group}`))
  const settings = Object.entries(parameters).map(
    ([name, value]) => `${name} ${typeof value === 'number' ? formatFigure(value) : value}`,
  )
  return [
    `### ${title}: ${model}\n`,
    `${about}\n`,
    `![${title}, ${model}](${plot})\n`,
    `| | ${names.join(' | ')} |`,
    `|---|${names.map(() => '---|').join('')}`,
    ...metrics.map((metric) => {
      const info = METRICS.get(metric)
      const cells = rows.map((row) => {
        const range = rangeOfRow(row, metric)
        return range === null ? 'n/a' : describeRange(range, formatFigure)
      })
      const unit = info?.unit === '' || info?.unit === '/s' ? '' : ` (${info?.unit})`
      return `| ${info?.label}${unit} | ${cells.join(' | ')} |`
    }),
    ...processes.map(describeProcesses),
    '',
    ...(isSweep ? [`${describeSteps(rows, shows, xAxis?.label ?? '')}\n`] : []),
    ...(errors.length === 0
      ? []
      : [`Errors: ${errors.map((error) => `\`${error.replaceAll('`', "'")}\``).join('; ')}\n`]),
    `\`${provenance.command}\` (${[`scenario ${id}`, `${threads} compute thread${threads === 1 ? '' : 's'}`, ...settings].join(', ')}); ` +
      `${provenance.measuredAt.slice(0, 10)}, commit ${provenance.commit}` +
      `${provenance.hasUncommittedChanges ? ' with uncommitted changes' : ''}.\n`,
  ].join('\n')
}

/** What gets worse most from one point to the next, of each figure that is shown. @param {Row[]} rows @param {string[]} shows @param {string} unit */
function describeSteps(rows, shows, unit) {
  const steps = shows.map((metric) => {
    const { label = metric, isBetter = 'less' } = METRICS.get(metric) ?? {}
    const step = worstStep(pointsOf(rows, metric), isBetter === 'more' ? 'more' : 'less')
    if (step === null) return `${label} never`
    const [from, to] = [formatFigure(step.from), formatFigure(step.to)]
    const work = step.from === 0 ? '' : `, for ${formatFigure(step.to / step.from)} times the work`
    return `${label} ${step.times.toFixed(2)}× from ${from} to ${to}${work}${step.isNoise ? ' (within the spread of the rounds)' : ''}`
  })
  return `The worst step between neighbours, in ${unit}: ${steps.join('; ')}.`
}

/** @param {import('../load/rounds.mjs').ContenderProcesses} processes */
function describeProcesses({ contender, rounds }) {
  const names = [...new Set(rounds.flatMap((round) => round.map(({ name }) => name)))]
  const parts = names.map((name) => {
    const own = rounds.flatMap((round) => round.filter((one) => one.name === name))
    const [cpu, memory] = [
      rangeOf(own.map(({ cpuSeconds }) => cpuSeconds)),
      rangeOf(own.map(({ peakMemoryMb }) => peakMemoryMb)),
    ]
    if (cpu === null || memory === null) return name
    return `${name} ${formatFigure(cpu.median)} s CPU, ${formatFigure(memory.median)} MB at most`
  })
  return `\nProcesses of ${contender}: ${parts.join('; ')}.`
}

/** @param {Scenario} scenario @param {Measurement} measurement */
function plotScenario({ shows, xAxis, isSweep = false }, { rows }) {
  if (xAxis !== undefined) {
    const metrics = isSweep ? shows : shows.slice(0, 1)
    const plots = metrics.map((metric) => plotGroups(rows, { metric, ...xAxis }))
    return drawLines(
      plots.filter(({ lines }) => lines.some(({ points }) => points.length > 0)),
      formatFigure,
    )
  }
  const panels = shows.flatMap((metric) => {
    const measured = rows.flatMap((row) => {
      const range = rangeOfRow(row, metric)
      return range === null ? [] : [{ row, range }]
    })
    const grouped = measured.filter(({ row }) => row.group !== null)
    const bars = (grouped.length > 0 ? grouped : measured).map(({ row: { contender, group }, range }) => ({
      ...{ label: [contender, group].filter(Boolean).join(', '), series: contender, range },
    }))
    const { label: title = metric, unit = '' } = METRICS.get(metric) ?? {}
    return bars.length === 0 ? [] : [{ title, unit: unit === '/s' ? '' : unit, bars }]
  })
  return drawBars(panels, formatFigure)
}

/** One line for each contender, over the number that its groups have in their name. @param {Row[]} rows @param {{ metric: string, label: string, isLogarithmic: boolean }} axis */
function plotGroups(rows, { metric, label: xLabel, isLogarithmic }) {
  const contenders = [...new Set(rows.map(({ contender }) => contender))]
  const lines = contenders.map((series) => ({
    series,
    points: pointsOf(
      rows.filter(({ contender }) => contender === series),
      metric,
    ),
  }))
  const { label: title = metric, unit = '' } = METRICS.get(metric) ?? {}
  return { title, unit: unit === '/s' ? '' : unit, xLabel, lines, isLogarithmic }
}

/** Throughput over the number of clients, for each model that has it. @param {Measurement[]} measurements */
function plotClients(measurements) {
  const metric = 'outputTokensPerSecond'
  const steady = measurements.filter(({ scenario }) => scenario.startsWith('steady-'))
  return [...new Set(steady.map(({ model }) => model))].map((model) => {
    const own = steady.filter((measurement) => measurement.model === model)
    const rows = own.flatMap(({ scenario, rows }) =>
      rows.map((row) => ({ ...row, group: scenario.replace('steady-', '') })),
    )
    const title = `Output tokens/s, ${model}`
    const series = [...new Set(rows.map(({ contender }) => contender))]
    const lines = series.map((name) => ({
      series: name,
      points: rows
        .flatMap((row) => {
          const range = rangeOfRow(row, metric)
          return row.contender !== name || range === null ? [] : [{ x: Number(row.group), range }]
        })
        .toSorted((a, b) => a.x - b.x),
    }))
    const plot = { title, unit: '', xLabel: 'clients', lines, isLogarithmic: true }
    const svg = drawLines([plot], formatFigure)
    return { model, svg }
  })
}

/** @param {Row} row @param {string} metric */
function rangeOfRow({ rounds }, metric) {
  return rangeOf(rounds.map(({ [metric]: figure }) => figure))
}
