// @ts-check
/**
 * `npm run bench:attack`: for how long one request, or one attack, keeps everyone waiting. Starts the built server with the
 * bundled model and sends it the worst bodies that the bounds of each route admit, then the known attacks; meanwhile one
 * process asks for health every 5 ms and another reads a stream of an enterprise key. Writes `bench/results/attack.json`.
 *
 *   npm run bench:attack -- [--only PATTERN] [--no-save]        PATTERN is looked for in "route kind"
 */
import { once, setMaxListeners } from 'node:events'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { ATTACK } from './report/report.mjs'
import { describeProvenance, writeResults } from './report/results.mjs'
import { listCases } from './attack-cases/cases.mjs'
import { startWatchedServer } from './attack-cases/watched-server.mjs'

/** @typedef {import('./attack-cases/cases.mjs').Case} Case */
/** @typedef {import('./attack-cases/watched-server.mjs').WatchedServer} WatchedServer */
/** @typedef {import('./attack-cases/watched-server.mjs').Figures} Figures */
/** @typedef {'done' | 'timed out' | 'too much memory' | 'server died' | 'engine died' | 'not run'} End */
/** @typedef {{ route: string, kind: string, end: End, seconds: number, answers: Record<string, number>, note: string, figures: Figures | null }} Row */

/** Cases that could last longer than that are not run: the whole takes less than six minutes. */
const BUDGET_MS = 350_000
/** What is cut off gets so long to end by itself. */
const GRACE_MS = 1000
/** The machine may be shared: a case that makes the server larger is cut off. */
const MAX_MB = 3000
const LOOK_EVERY_MS = 100
const COLUMNS = /** @type {const} */ ([
  ['health p99', 'healthP99Ms'],
  ['max', 'healthMaxMs'],
  ['loop max', 'loopMaxMs'],
  ['engine loop', 'engineLoopMaxMs'],
  ['stream gap', 'streamGapMaxMs'],
  ['stream start', 'streamStartMaxMs'],
  ['RSS MB', 'peakMb'],
  ['engine MB', 'enginePeakMb'],
])

const { values } = parseArgs({
  options: { only: { type: 'string', default: '' }, 'no-save': { type: 'boolean', default: false } },
})
const pattern = new RegExp(values.only, 'i')
const startedMs = performance.now()
const loadBefore = os.loadavg()[0] ?? 0

/** @type {WatchedServer | null} */
let server = await startWatchedServer()
const document = /** @type {Record<string, any>} */ (
  await (await fetch(`${server.address}/openapi.json`)).json()
)
const cases = listCases(document).filter(
  ({ route, kind }) => route === 'nothing' || pattern.test(`${route} ${kind}`),
)
const widest = Math.max(...cases.map(({ route, kind }) => `${route}, ${kind}`.length))
process.stdout.write(
  `${' '.repeat(widest)} ${COLUMNS.map(([heading]) => heading.padStart(12)).join('')}  answers, note\n`,
)
/** @type {Row[]} */
const rows = []
let isFresh = true
for (const one of cases) {
  const isLate = performance.now() - startedMs + one.timeoutMs > BUDGET_MS
  if (!isLate && one.needsFreshServer && (!isFresh || one.options !== undefined)) {
    await server?.kill()
    server = null
  }
  server ??= await startWatchedServer(one.options)
  const row = isLate ? notRun(one) : await measure(one, server)
  rows.push(row)
  print(row)
  isFresh = false
  if (row.end === 'done' || row.end === 'not run') continue
  await server.kill()
  server = await startWatchedServer()
  isFresh = true
}
await server?.kill()

const machine = `load ${loadBefore.toFixed(1)} before and ${(os.loadavg()[0] ?? 0).toFixed(1)} after, ${os.availableParallelism()} cores`
process.stdout.write(`${machine}; ${((performance.now() - startedMs) / 1000).toFixed(0)} s\n`)
if (!values['no-save']) {
  const command = ['npm run bench:attack', ...(values.only === '' ? [] : ['--', '--only', values.only])].join(
    ' ',
  )
  const provenance = describeProvenance({ command, peer: null, gpu: null })
  writeResults(ATTACK, { name: ATTACK, provenance, machine, rows })
}

/** @param {Case} one @param {WatchedServer} watched @returns {Promise<Row>} */
async function measure({ route, kind, timeoutMs, run }, watched) {
  await watched.reset()
  const beganMs = performance.now()
  /** @type {Record<string, number>} */
  const answers = {}
  const stopping = new AbortController()
  // Every open request listens.
  setMaxListeners(0, stopping.signal)
  /** @type {End} */
  let end = 'done'
  const stop = (/** @type {End} */ why) => {
    end = why
    stopping.abort()
  }
  const timer = setTimeout(() => stop('timed out'), timeoutMs)
  const look = setInterval(() => watched.peakMb() > MAX_MB && stop('too much memory'), LOOK_EVERY_MS)
  const scene = {
    ...{ address: watched.address, key: watched.key, signal: stopping.signal },
    count: (/** @type {{ status: number | string }} */ { status }, times = 1) => {
      answers[status] = (answers[status] ?? 0) + times
    },
  }
  const cutOff = once(stopping.signal, 'abort').then(() => sleep(GRACE_MS))
  const note = await Promise.race([run(scene), cutOff]).catch((/** @type {Error} */ error) => error.message)
  clearTimeout(timer)
  clearInterval(look)
  const { figures, hasSettled } = await watched.read(Math.max(0, beganMs + timeoutMs - performance.now()))
  if (end === 'done' && figures.peakMb === 0) end = 'server died'
  if (end === 'done' && !watched.isEngineSame()) end = 'engine died'
  if (end === 'done' && !hasSettled) end = 'timed out'
  return {
    route,
    kind,
    end,
    seconds: (performance.now() - beganMs) / 1000,
    answers,
    note: note ?? '',
    figures,
  }
}

/** @param {Case} one @returns {Row} */
function notRun({ route, kind }) {
  return { route, kind, end: 'not run', seconds: 0, answers: {}, note: '', figures: null }
}

/** @param {Row} row */
function print({ route, kind, end, answers, note, figures }) {
  const cells = COLUMNS.map(([, name]) => {
    const figure = figures?.[name] ?? null
    return (figure === null ? '-' : figure.toFixed(figure < 100 ? 1 : 0)).padStart(12)
  })
  const counts = Object.entries(answers).map(([status, count]) => `${count} x ${status}`)
  const failures = [
    ...((figures?.healthFailures ?? 0) > 0 ? [`health failed ${figures?.healthFailures} times`] : []),
    ...((figures?.streamFailures ?? 0) > 0 ? [`streams failed ${figures?.streamFailures} times`] : []),
  ]
  const words = [...(end === 'done' ? [] : [end.toUpperCase()]), counts.join(', '), note, ...failures]
  process.stdout.write(
    `${`${route}, ${kind}`.padEnd(widest)} ${cells.join('')}  ${words.filter((word) => word !== '').join('; ')}\n`,
  )
}
