// @ts-check
/**
 * What a request costs as the databases grow: keys, and rows of usage. Each point has a database of its own; in every
 * round a server is started on a copy of each, measured on the passthrough model and stopped.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { whileRunning } from '../servers/contenders.mjs'
import { databaseFiles, makeKeys, makeUsage } from '../servers/databases.mjs'
import { nameOfPoint } from '../report/growth-steps.mjs'
import { askAtFullLoad, askGenerate, readPath } from '../load/plain-requests.mjs'
import { processesBetween, readProcesses } from '../servers/processes.mjs'
import { ADMIN_KEY, startServer } from '../servers/serve.mjs'
import { percentile } from '../report/statistics.mjs'

/** @typedef {import('../servers/databases.mjs').MadeKey} MadeKey */
/** @typedef {{ folder: string, keys: MadeKey[] }} Filled */

/**
 * @typedef {object} StoredSweep
 * @property {string} id
 * @property {string} title
 * @property {string} about
 * @property {string} unit of what grows
 * @property {readonly number[]} points
 * @property {(folder: string, point: number) => Promise<MadeKey[]>} fill makes both databases
 * @property {Record<string, { path: () => string, isAdmin: boolean }>} reads by the metric
 */

const BODY = JSON.stringify({ prompt: 'sixteen bytes ab' })
const CONNECTIONS = 32
const REQUESTS = 200
const LOAD_MS = 1000
const WARM_UP_MS = 500
const SECONDS_PER_DAY = 86_400
/** How many keys take turns at most: as many as one command line can hold. */
const ASKING_KEYS = 256
const USAGE_KEYS = 20

/** Almost two days: the rest of a minute, all other minutes of that day, and a day, which is the most that a sum reads. */
const sinceYesterday = () => (Math.floor(Date.now() / 1000 / SECONDS_PER_DAY) - 1) * SECONDS_PER_DAY + 1

/** @type {StoredSweep[]} */
const SWEEPS = [
  {
    id: 'grow-keys',
    title: 'From 1 to 100,000 keys',
    about:
      `\`POST /v1/generate\` on the passthrough model, up to ${ASKING_KEYS} of the stored keys in turn, ` +
      'a listing of the keys of one account (10 at most) and of the first 100 of all, which also tells how many there are: ' +
      'they are counted.',
    unit: 'keys',
    points: [1, 100, 1000, 10_000, 100_000],
    fill: async (folder, count) => {
      const { apiDb, usageDb } = databaseFiles(folder)
      const keys = await makeKeys(apiDb, count)
      await makeUsage(usageDb, 0, keys)
      return keys
    },
    reads: {
      ownKeysP50Ms: { path: () => '/v1/keys', isAdmin: false },
      adminKeysP50Ms: { path: () => '/v1/admin/keys?limit=100', isAdmin: true },
    },
  },
  {
    id: 'grow-usage',
    title: 'From 0 to 1,000,000 rows of usage',
    about:
      `So many rows of ${USAGE_KEYS} keys, 100 in each minute up to now. \`POST /v1/generate\` on the passthrough model records one more ` +
      'each; the sums are those of one account and of all, over everything and since a second after the day before began: ' +
      'no moment makes more buckets to read, about a day of minutes, however many rows there are.',
    unit: 'rows',
    points: [0, 1000, 10_000, 100_000, 1_000_000],
    fill: async (folder, rows) => {
      const { apiDb, usageDb } = databaseFiles(folder)
      const keys = await makeKeys(apiDb, USAGE_KEYS)
      await makeUsage(usageDb, rows, keys)
      return keys
    },
    reads: {
      ownUsageP50Ms: { path: () => '/v1/usage', isAdmin: false },
      ownUsageSinceP50Ms: { path: () => `/v1/usage?since=${sinceYesterday()}`, isAdmin: false },
      adminUsageP50Ms: { path: () => '/v1/admin/usage', isAdmin: true },
      adminUsageSinceP50Ms: { path: () => `/v1/admin/usage?since=${sinceYesterday()}`, isAdmin: true },
    },
  },
]

/** @type {import('./index.mjs').Scenario[]} */
export const storedGrowth = SWEEPS.map((sweep) => ({
  ...{ id: sweep.id, title: sweep.title, about: sweep.about },
  fixedModel: 'passthrough',
  shows: [
    ...['cpuMicrosecondsPerRequest', 'latencyP50Ms', ...Object.keys(sweep.reads)],
    ...['listeningMs', 'peakMemoryMb'],
  ],
  xAxis: { label: sweep.unit, isLogarithmic: true },
  isSweep: true,
  run: (bench) => runSweep(sweep, bench),
}))

/** @param {StoredSweep} sweep @param {import('./index.mjs').Bench} bench @returns {Promise<import('./index.mjs').Measured>} */
async function runSweep({ points, unit, fill, reads }, bench) {
  const requests = bench.requests ?? REQUESTS
  const folder = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'))
  try {
    /** @type {Filled[]} */
    const filled = []
    for (const point of points) {
      const own = path.join(folder, String(point))
      mkdirSync(own)
      filled.push({ folder: own, keys: await fill(own, point) })
    }
    /** @type {import('../load/rounds.mjs').Row[]} */
    const rows = points.map((point) => ({
      contender: 'sluice',
      group: nameOfPoint(point, unit),
      rounds: [],
    }))
    for (let round = 0; round < bench.rounds; round++) {
      for (const [index, one] of filled.entries())
        rows[index]?.rounds.push(await measure(one, { reads, requests }))
    }
    return { parameters: { latencyRequests: requests, connections: CONNECTIONS, loadMs: LOAD_MS }, rows }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/**
 * On a copy, so that no round begins with what another has recorded.
 * @param {Filled} filled @param {{ reads: StoredSweep['reads'], requests: number }} options
 */
async function measure({ folder, keys }, options) {
  const copy = mkdtempSync(path.join(folder, 'round-'))
  try {
    const [stored, used] = [databaseFiles(folder), databaseFiles(copy)]
    copyFileSync(stored.apiDb, used.apiDb)
    copyFileSync(stored.usageDb, used.usageDb)
    return await measureServer(used, keys, options)
  } finally {
    rmSync(copy, { recursive: true })
  }
}

/**
 * What is measured first is not disturbed by what the load at the end records.
 * @param {ReturnType<typeof databaseFiles>} files @param {readonly MadeKey[]} keys
 * @param {{ reads: StoredSweep['reads'], requests: number }} options
 */
async function measureServer({ apiDb, usageDb }, keys, { reads, requests }) {
  const startedMs = performance.now()
  const server = await startServer(['--api-db', apiDb, '--usage-db', usageDb])
  const listeningMs = performance.now() - startedMs
  return whileRunning([server], async () => {
    const { address, pid } = server
    const secrets = asking(keys)
    /** @param {(index: number) => Promise<unknown>} ask */
    const timeEach = async (ask) => {
      const latencies = []
      for (let index = 0; index < 2 * requests; index++) {
        const askedMs = performance.now()
        await ask(index)
        latencies.push(performance.now() - askedMs)
      }
      // The first half warms up.
      return percentile(latencies.slice(requests), 50)
    }
    /** @type {import('../load/rounds.mjs').Metrics} */
    const metrics = { listeningMs }
    for (const [metric, { path, isAdmin }] of Object.entries(reads)) {
      const target = { address, key: isAdmin ? ADMIN_KEY : (secrets[0] ?? '') }
      metrics[metric] = await timeEach(() => readPath(target, path()))
    }
    metrics['latencyP50Ms'] = await timeEach((index) =>
      askGenerate({ address, key: secrets[index % secrets.length] ?? '' }, BODY),
    )
    const load = { connections: CONNECTIONS, ms: LOAD_MS }
    await askAtFullLoad({ address, keys: secrets }, BODY, { ...load, ms: WARM_UP_MS })
    const before = readProcesses(pid)
    const { answers, seconds, cpuSeconds } = await askAtFullLoad({ address, keys: secrets }, BODY, load)
    const [used] = processesBetween(before, readProcesses(pid))
    return {
      ...metrics,
      requestsPerSecond: answers / seconds,
      cpuMicrosecondsPerRequest: used === undefined ? null : (used.cpuSeconds * 1e6) / answers,
      peakMemoryMb: used?.peakMemoryMb ?? null,
      clientCpuSeconds: cpuSeconds,
    }
  })
}

/** The secrets of keys that lie evenly among all. @param {readonly MadeKey[]} keys */
function asking(keys) {
  const count = Math.min(ASKING_KEYS, keys.length)
  return Array.from(
    { length: count },
    (_, index) => keys[Math.floor((index * keys.length) / count)]?.secret ?? '',
  )
}
