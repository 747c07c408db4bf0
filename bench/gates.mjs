// @ts-check
/**
 * `npm run bench:gates`: what authentication, limits and durable usage add to `POST /v1/generate` on the passthrough
 * model. One client asks the three servers the same in turns, all in one run:
 *
 *   all gates        a stored key, looked up, admitted and recorded
 *   auth-mode none   no key and no limit; usage is recorded
 *   no gates         the same routes without authentication, limits and records
 *
 *   npm run bench:gates -- [--requests 2000] [--rounds 7] [--clients 32]
 */
import { spawn } from 'node:child_process'
import http from 'node:http'
import os from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startServer } from './serve.mjs'

const UNGATED = fileURLToPath(new URL('ungated-server.mjs', import.meta.url))
const ADMIN_KEY = 'bench-admin'

const { values } = parseArgs({
  options: {
    requests: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '7' },
    clients: { type: 'string', default: '32' },
  },
})
const requests = Number(values.requests)
const rounds = Number(values.rounds)
const clients = Number(values.clients)

/** @typedef {{ name: string, address: string, key: string, stop: () => Promise<void> }} Target */

/** @returns {Promise<Target>} */
async function startGated() {
  const server = await startServer(['--admin-key', ADMIN_KEY])
  const headers = { authorization: `Bearer ${ADMIN_KEY}` }
  const created = await fetch(`${server.address}/v1/admin/keys?tier=enterprise`, { method: 'POST', headers })
  const { id, key } = /** @type {{ id: string, key: string }} */ (await created.json())
  // More than one client can ask for: the limit is counted, and never reached.
  await fetch(`${server.address}/v1/admin/keys/${id}?rate_limit_rpm=1000000`, { method: 'PATCH', headers })
  return { name: 'all gates', key, ...server }
}

/** @returns {Promise<Target>} */
async function startOpen() {
  return { name: 'auth-mode none', key: '', ...(await startServer(['--auth-mode', 'none'])) }
}

/** @returns {Promise<Target>} */
async function startUngated() {
  const child = spawn(process.execPath, [UNGATED], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const address = await new Promise((resolve) => {
    child.stdout.once('data', (line) => resolve(/listening on (\S+)/.exec(String(line))?.[1] ?? ''))
  })
  child.stderr.resume()
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { name: 'no gates', key: '', address, stop }
}

const agent = new http.Agent({ keepAlive: true })
const BODY = JSON.stringify({ prompt: 'sixteen bytes ab' })

/** Resolves with the milliseconds from asking to the last byte. @param {Target} target @returns {Promise<number>} */
function ask({ address, key }) {
  const startedMs = performance.now()
  return new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      'content-length': BODY.length,
      ...(key !== '' && { authorization: `Bearer ${key}` }),
    }
    const request = http.request(`${address}/v1/generate`, { method: 'POST', agent, headers }, (response) => {
      response.resume()
      response.on('end', () => {
        if (response.statusCode === 200) resolve(performance.now() - startedMs)
        else reject(new Error(`status ${response.statusCode}`))
      })
    })
    request.on('error', reject)
    request.end(BODY)
  })
}

/** @param {Target} target */
async function medianLatencyMs(target) {
  /** @type {number[]} */
  const latencies = []
  for (let count = 0; count < requests; count++) latencies.push(await ask(target))
  return median(latencies)
}

/** @param {Target} target */
async function requestsPerSecond(target) {
  const startedMs = performance.now()
  const each = Math.ceil(requests / clients)
  await Promise.all(
    Array.from({ length: clients }, async () => {
      for (let count = 0; count < each; count++) await ask(target)
    }),
  )
  return (each * clients) / ((performance.now() - startedMs) / 1000)
}

/** @param {number[]} figures */
function median(figures) {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}

const targets = [await startGated(), await startOpen(), await startUngated()]
/** @type {Map<Target, { latencyMs: number[], rate: number[] }>} */
const measured = new Map(targets.map((target) => [target, { latencyMs: [], rate: [] }]))
try {
  for (const target of targets) await medianLatencyMs(target)
  for (let round = 0; round < rounds; round++) {
    for (const [target, figures] of measured) figures.latencyMs.push(await medianLatencyMs(target))
    for (const [target, figures] of measured) figures.rate.push(await requestsPerSecond(target))
  }
} finally {
  await Promise.all(targets.map((target) => target.stop()))
}

const [gated, ...others] = [...measured].map(([{ name }, { latencyMs, rate }]) => ({ name, latencyMs, rate }))
const added = others.map(({ name, latencyMs }) => {
  const differences = (gated?.latencyMs ?? []).map(
    (figure, round) => figure - (latencyMs[round] ?? Number.NaN),
  )
  return `all gates add to ${name.padEnd(14)}  ${median(differences).toFixed(3)} ms p50`
})
process.stdout.write(
  [
    `${os.cpus()[0]?.model ?? 'unknown CPU'}, ${os.availableParallelism()} cores, Node ${process.versions.node}`,
    `${rounds} rounds of ${requests} requests; p50 at 1 client, requests/s at ${clients}; median of the rounds`,
    ...[...measured].map(
      ([{ name }, { latencyMs, rate }]) =>
        `${name.padEnd(32)}  ${median(latencyMs).toFixed(3)} ms p50  ${median(rate).toFixed(0).padStart(6)} requests/s`,
    ),
    ...added,
    '',
  ].join('\n'),
)
