// @ts-check
/**
 * `npm run bench:hostile-clients`: the built server under everything at once that a hostile client sends, with the firewall on:
 * random requests to every endpoint, made from its OpenAPI document, while other clients hold idle connections, send heads
 * and bodies byte by byte and do not read their streams. Asks for health all the while, and for its memory before and
 * after. Exits with 1 when an answer was 5xx, when one did not come, or when a figure is beyond its goal.
 *
 *   npm run bench:hostile-clients -- [--requests 10000] [--clients 16] [--idle 2000] [--seed 5]
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import os from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import fc from 'fast-check'
import { readEndpoints } from './load/openapi-requests.mjs'
import { startServer } from './servers/serve.mjs'

const ADMIN_KEY = 'bench-admin-key-0123456789'
const ANSWER_TIMEOUT_MS = 30_000
/** Made at a time: all of them would be in memory at once. */
const CHUNK = 200
const MAX_HEALTH_MS = 100
/** Rate windows last a minute, and V8 gives back what it does not use when it has had nothing to do for some time. */
const SETTLE_MS = 75_000
/** One collection leaves free pages between used ones, the next ones put them together. */
const COLLECTIONS = 4
const COLLECTION_MS = 2000
const MAX_GROWTH = 1.1
/** Requests to each endpoint before memory is first read: code is compiled and caches are filled by then. */
const WARM_UP_SHARE = 0.3
const WARM_AGAIN_SHARE = 0.02

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '10000' },
    clients: { type: 'string', default: '16' },
    idle: { type: 'string', default: '2000' },
    seed: { type: 'string', default: '5' },
  },
})
const [requests, clients, idle, seed] = [values.requests, values.clients, values.idle, values.seed].map(
  Number,
)

/** @typedef {{ method: string, url: string, body: string | null, key: string | null }} Call */
/** @typedef {import('./load/openapi-requests.mjs').Endpoint} Endpoint */

const server = await startServer(['--admin-key', ADMIN_KEY, '--enable-firewall', '--log-level', 'error'], {
  collectsGarbage: true,
})
const { hostname, port } = new URL(server.address)
const agent = new http.Agent({ keepAlive: true, maxSockets: clients })

/** Resolves with the status, 0 when no answer came in time. @param {Call} call @returns {Promise<{ status: number, body: string }>} */
function ask({ method, url, body, key }) {
  return new Promise((resolve) => {
    const headers = {
      ...(key !== null && { authorization: `Bearer ${key}` }),
      ...(body !== null && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    const options = { agent, hostname, port, method, path: url, headers, timeout: ANSWER_TIMEOUT_MS }
    const request = http.request(options, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => (text += chunk))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text }))
      response.on('error', () => resolve({ status: 0, body: '' }))
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve({ status: 0, body: '' }))
    request.end(body ?? undefined)
  })
}

const admin = (/** @type {string} */ method, /** @type {string} */ url) =>
  ask({ method, url, body: null, key: ADMIN_KEY })

/** Bytes that are in use, without garbage. @returns {Promise<{ resident: number, heap: number }>} */
async function readMemory() {
  await sleep(SETTLE_MS)
  for (let i = 0; i < COLLECTIONS; i++) {
    process.kill(server.pid, 'SIGUSR2')
    await sleep(COLLECTION_MS)
  }
  const { body } = await admin('GET', '/metrics')
  const read = (/** @type {string} */ name) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1])
  return { resident: read('process_resident_memory_bytes'), heap: read('nodejs_heap_size_used_bytes') }
}

/** A key that no limit of requests keeps from asking. */
async function createKey() {
  const { id, key } = JSON.parse((await admin('POST', '/v1/admin/keys?tier=enterprise')).body)
  await admin('PATCH', `/v1/admin/keys/${id}?rate_limit_rpm=1000000`)
  return /** @type {string} */ (key)
}

/** @type {Map<string, number>} */
const statuses = new Map()
/** @type {string[]} */
const failures = []

/** @param {Endpoint} endpoint @param {{ count: number, seed: number, key: string }} options */
async function attack({ name, method, access, requests: arbitrary }, options) {
  const secret = { public: null, key: options.key, admin: ADMIN_KEY }[access]
  for (let made = 0; made < options.count; made += CHUNK) {
    const numRuns = Math.min(CHUNK, options.count - made)
    const samples = fc.sample(arbitrary, { numRuns, seed: options.seed + made })
    await askAll(samples, { name, method, secret })
  }
}

/** @param {import('./load/openapi-requests.mjs').RandomRequest[]} samples @param {{ name: string, method: string, secret: string | null }} endpoint */
async function askAll(samples, { name, method, secret }) {
  await Promise.all(
    Array.from({ length: clients ?? 1 }, async () => {
      for (let sample = samples.pop(); sample !== undefined; sample = samples.pop()) {
        const { status, body } = await ask({ method, ...sample, key: secret })
        statuses.set(String(status), (statuses.get(String(status)) ?? 0) + 1)
        if (status === 0 || status >= 500)
          failures.push(`${status} ${name}: ${JSON.stringify(sample)} ${body}`)
      }
    }),
  )
}

/** @typedef {{ latencies: number[], failures: number }} Health */

/** Asks for health from now on. @returns {{ lap: () => Promise<Health>, stop: () => void }} What came since the last lap. */
function watchHealth() {
  const watcher = fork(new URL('load/health-watch.mjs', import.meta.url), [server.address])
  return {
    lap: async () => {
      const answered = once(watcher, 'message')
      watcher.send('lap')
      const [result] = await answered
      return result
    },
    stop: () => watcher.disconnect(),
  }
}

/** Connections that cost the server something and bring it nothing. @param {string} key @returns {Promise<() => void>} */
async function holdConnections(key) {
  const post = (/** @type {string} */ path, /** @type {number} */ length) =>
    `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`
  const open = async (/** @type {string} */ first, /** @type {string} */ drip) => {
    const socket = net.connect(Number(port), hostname)
    socket.on('error', () => {})
    await once(socket, 'connect').catch(() => {})
    if (first !== '') socket.write(first)
    const timer = drip === '' ? null : setInterval(() => socket.writable && socket.write(drip), 1000)
    socket.on('close', () => timer && clearInterval(timer))
    return socket
  }
  const stream = '{"prompt":"abc","max_new_tokens":4096}'
  const sockets = await Promise.all([
    ...Array.from({ length: idle ?? 0 }, () => open('', '')),
    ...Array.from({ length: 50 }, () => open('GET /v1/health HTTP/1.1\r\nhost: x\r\n', 'x: y\r\n')),
    ...Array.from({ length: 50 }, () => open(post('/v1/generate', 100_000), ' ')),
    ...Array.from({ length: 50 }, async () =>
      (await open(post('/v1/generate/stream', stream.length) + stream, '')).pause(),
    ),
  ])
  return () => sockets.forEach((socket) => socket.destroy())
}

const key = await createKey()
const document = JSON.parse((await admin('GET', '/openapi.json')).body)
// The stream of the status answers for a minute, whatever comes in.
const endpoints = readEndpoints(document).filter(({ name }) => name !== 'GET /v1/admin/status/stream')
const count = requests ?? 0
for (const endpoint of endpoints)
  await attack(endpoint, { count: Math.ceil(count * WARM_UP_SHARE), seed: (seed ?? 0) + 1, key })
const before = await readMemory()
// The collections have thrown away compiled code too: a server that works has it.
for (const endpoint of endpoints)
  await attack(endpoint, { count: Math.ceil(count * WARM_AGAIN_SHARE), seed: (seed ?? 0) + 2, key })

const health = watchHealth()
/** @type {number[]} */
const latencies = []
/** @param {string} during */
async function reportHealth(during) {
  const { latencies: lap, failures: healthFailures } = await health.lap()
  if (healthFailures > 0) failures.push(`${during}: health failed ${healthFailures} times`)
  process.stdout.write(`${during}: health within ${Math.max(...lap).toFixed(0)} ms\n`)
  latencies.push(...lap)
}
const release = await holdConnections(key)
await reportHealth(`${idle} idle connections and 150 hostile ones`)
const startedMs = performance.now()
for (const endpoint of endpoints) {
  await attack(endpoint, { count, seed: seed ?? 0, key })
  await reportHealth(`${endpoint.name}, ${count} requests`)
}
const seconds = (performance.now() - startedMs) / 1000
release()
const after = await readMemory()
await reportHealth('all connections let go')
health.stop()
latencies.sort((a, b) => a - b)
await server.stop()

const quantile = (/** @type {number} */ share) => latencies[Math.ceil(latencies.length * share) - 1] ?? 0
const megabytes = (/** @type {number} */ bytes) => `${(bytes / 1e6).toFixed(1)} MB`
const growth = { heap: after.heap / before.heap, resident: after.resident / before.resident }
const slowestMs = latencies.at(-1) ?? 0
process.stdout.write(
  [
    '',
    `${os.cpus()[0]?.model}, ${os.availableParallelism()} cores, Node ${process.version}`,
    `${count} requests to each of ${endpoints.length} endpoints by ${clients} clients in ${seconds.toFixed(0)} s, ${idle} idle connections`,
    `answers by status: ${[...statuses]
      .toSorted(([a], [b]) => a.localeCompare(b))
      .map(([status, n]) => `${status}: ${n}`)
      .join(', ')}`,
    `5xx or none: ${failures.length}`,
    `health: p50 ${quantile(0.5).toFixed(1)} ms, p99 ${quantile(0.99).toFixed(1)} ms, slowest ${slowestMs.toFixed(1)} ms of ${latencies.length}`,
    `heap in use: ${megabytes(before.heap)} before, ${megabytes(after.heap)} after (${growth.heap.toFixed(2)}×)`,
    `resident: ${megabytes(before.resident)} before, ${megabytes(after.resident)} after (${growth.resident.toFixed(2)}×)`,
    ...failures.slice(0, 20),
    '',
  ].join('\n'),
)
process.exitCode =
  failures.length === 0 && slowestMs < MAX_HEALTH_MS && Math.max(growth.heap, growth.resident) <= MAX_GROWTH
    ? 0
    : 1
agent.destroy()
