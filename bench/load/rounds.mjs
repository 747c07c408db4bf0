// @ts-check
/** Rounds of a load in turns, A B A B, and what each of them comes to. */
import { setTimeout as sleep } from 'node:timers/promises'
import { processesBetween, readProcesses } from '../servers/processes.mjs'
import { percentile } from '../report/statistics.mjs'
import { readExchange } from './stream-client.mjs'

/** @typedef {import('../servers/contenders.mjs').Contender} Contender */
/** @typedef {import('./stream-client.mjs').Exchange} Exchange */
/** @typedef {import('./stream-client.mjs').Sample} Sample */
/** @typedef {Record<string, number | null>} Metrics by the names of `metrics.mjs` */
/** @typedef {{ contender: string, group: string | null, rounds: Metrics[] }} Row figures of one contender; a group is some of its requests */
/** @typedef {{ name: string, cpuSeconds: number, peakMemoryMb: number }} ProcessUse */
/** @typedef {{ contender: string, rounds: ProcessUse[][] }} ContenderProcesses */

const WARM_UP = -1
const LOG_WAIT_MS = 2000
/** llama-server's threads still spin for a while after their last step, on the cores of who comes next. */
const PAUSE_MS = 1000

/**
 * @param {object} options
 * @param {Contender[]} options.contenders
 * @param {number} options.rounds
 * @param {(contender: Contender, round: number) => Promise<Exchange[]>} options.load round -1 warms up
 * @param {((samples: Sample[]) => Metrics) | undefined} [options.more] figures that only this scenario has
 * @param {((round: number) => Promise<Row>) | undefined} [options.beside] what takes its turn without being a server
 * @param {number} [options.warmUpMs] how long the warm-up is repeated at least: Node compiles what is called often
 * @returns {Promise<{ rows: Row[], processes: ContenderProcesses[], errors: string[] }>}
 */
export async function takeTurns({ contenders, rounds, load, more, beside, warmUpMs = 0 }) {
  /** @type {Map<string, Row>} */
  const rows = new Map()
  /** @type {Map<string, ContenderProcesses>} */
  const processes = new Map()
  /** @type {Set<string>} */
  const errors = new Set()
  const add = (
    /** @type {string} */ contender,
    /** @type {string | null} */ group,
    /** @type {Metrics} */ metrics,
  ) => {
    const id = `${contender} ${group}`
    const row = rows.get(id) ?? { contender, group, rounds: [] }
    rows.set(id, row)
    row.rounds.push(metrics)
  }
  for (const contender of contenders) {
    const untilMs = performance.now() + warmUpMs
    do await load(contender, WARM_UP)
    while (performance.now() < untilMs)
  }
  for (let round = 0; round < rounds; round++) {
    for (const contender of contenders) {
      await sleep(PAUSE_MS)
      const measured = await measureRound(contender, () => load(contender, round))
      add(contender.name, null, { ...measured.metrics, ...more?.(measured.samples) })
      for (const [group, samples] of groupsOf(measured.samples)) {
        add(contender.name, group, latencies(samples, measured.queueMs))
      }
      const used = processes.get(contender.name) ?? { contender: contender.name, rounds: [] }
      processes.set(contender.name, used)
      used.rounds.push(measured.processes)
      for (const { error } of measured.samples) if (error !== null) errors.add(`${contender.name}: ${error}`)
    }
    await sleep(PAUSE_MS)
    for (const { contender, group, rounds } of beside === undefined ? [] : [await beside(round)]) {
      for (const metrics of rounds) add(contender, group, metrics)
    }
  }
  return { rows: [...rows.values()], processes: [...processes.values()], errors: [...errors].slice(0, 10) }
}

/** @param {Contender} contender @param {() => Promise<Exchange[]>} load */
export async function measureRound(contender, load) {
  contender.takeLog?.()
  const before = readProcesses(contender.pid)
  const clientBefore = process.cpuUsage()
  const exchanges = await load()
  const client = process.cpuUsage(clientBefore)
  const processes = processesBetween(before, readProcesses(contender.pid))
  const samples = exchanges.map((exchange) => readExchange(exchange, contender.protocol))
  const queueMs = await readQueueTimes(contender, samples)
  const seconds = secondsOf(samples)
  const tokens = samples.reduce((sum, { completionTokens }) => sum + completionTokens, 0)
  /** @type {Metrics} */
  const metrics = {
    requests: samples.length,
    errors: samples.filter(({ error }) => error !== null).length,
    outputTokensPerSecond: tokens / seconds,
    ...latencies(samples, queueMs),
    cpuSeconds: sum(processes.map(({ cpuSeconds }) => cpuSeconds)),
    cpuMsPerToken: (sum(processes.map(({ cpuSeconds }) => cpuSeconds)) * 1000) / tokens,
    peakMemoryMb: sum(processes.map(({ peakMemoryMb }) => peakMemoryMb)),
    clientCpuSeconds: (client.user + client.system) / 1e6,
    seconds,
  }
  return { metrics, samples, processes, queueMs }
}

/** @param {Sample[]} samples */
function secondsOf(samples) {
  return (
    (Math.max(...samples.map(({ endMs }) => endMs)) - Math.min(...samples.map(({ dueMs }) => dueMs))) / 1000
  )
}

/** @param {number[]} figures */
function sum(figures) {
  return figures.reduce((total, figure) => total + figure, 0)
}

/** Of requests that were answered. @param {Sample[]} samples @param {Map<string, number>} queueMs @returns {Metrics} */
function latencies(samples, queueMs) {
  const answered = samples.filter(({ error }) => error === null)
  const figures = {
    ttft: answered.flatMap(({ tokenMs, dueMs }) => tokenMs.slice(0, 1).map((atMs) => atMs - dueMs)),
    itl: answered.flatMap((sample) => gapsOf(sample)),
    e2e: answered.map(({ endMs, dueMs }) => endMs - dueMs),
    queue: answered.flatMap(({ requestId }) => queueMs.get(requestId) ?? []),
  }
  return Object.fromEntries(
    Object.entries(figures).flatMap(([name, each]) =>
      [50, 90, 99].map((percent) => [`${name}P${percent}Ms`, percentile(each, percent)]),
    ),
  )
}

/** Milliseconds between the pieces of text; of gaps that overlap with a window where there are any. @param {Sample} sample @param {{ fromMs: number, toMs: number }[]} [windows] */
export function gapsOf({ tokenMs }, windows = [{ fromMs: 0, toMs: Infinity }]) {
  return tokenMs
    .map((atMs, index) => ({ atMs, sinceMs: tokenMs[index - 1] ?? atMs }))
    .slice(1)
    .filter(({ atMs, sinceMs }) => windows.some(({ fromMs, toMs }) => atMs >= fromMs && sinceMs <= toMs))
    .map(({ atMs, sinceMs }) => atMs - sinceMs)
}

/** @param {Sample[]} samples */
function groupsOf(samples) {
  /** @type {Map<string, Sample[]>} */
  const groups = new Map()
  for (const sample of samples) {
    if (sample.group === null) continue
    groups.set(sample.group, [...(groups.get(sample.group) ?? []), sample])
  }
  return groups
}

/** By the id of the request; the line of the last one may come after its answer. @param {Contender} contender @param {Sample[]} samples */
async function readQueueTimes({ takeLog }, samples) {
  /** @type {Map<string, number>} */
  const queueMs = new Map()
  if (takeLog === null) return queueMs
  const waited = new Set(samples.filter(({ error }) => error === null).map(({ requestId }) => requestId))
  for (
    let untilMs = performance.now() + LOG_WAIT_MS;
    queueMs.size < waited.size && performance.now() < untilMs;
  ) {
    for (const line of takeLog()) if (waited.has(line.requestId)) queueMs.set(line.requestId, line.queueMs)
    await sleep(10)
  }
  return queueMs
}
