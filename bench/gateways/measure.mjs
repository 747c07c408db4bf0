// @ts-check
/**
 * What a layer in front of an upstream costs: `node bench/gateways/measure.mjs FOLDER`. The upstream answers at once; the same requests go to
 * it bare and through each layer, in turns within one run. Prints latency at fixed rates (`--rate 5,20,100`) with what it adds to the first
 * byte and to the whole answer, requests a second of CPU under full load, and the memory of many open streams (`--streams 0` leaves them
 * out). FOLDER/venv may hold litellm and vllm-router (PyPI).
 */
import { spawn } from 'node:child_process'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { GATEWAYS, KEY, startGateway } from './contenders.mjs'
import { readProcesses } from '../servers/processes.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    only: { type: 'string', default: GATEWAYS.join(',') },
    rounds: { type: 'string', default: '3' },
    rate: { type: 'string', default: '20' },
    seconds: { type: 'string', default: '6' },
    clients: { type: 'string', default: '32' },
    streams: { type: 'string', default: '2000' },
  },
})
const folder = path.resolve(positionals[0] ?? '/tmp/gateways')
const rounds = Number(values.rounds)
const rates = values.rate.split(',').map(Number)
const seconds = Number(values.seconds)
const clients = Number(values.clients)
const streams = Number(values.streams)
const FAST = 'http://127.0.0.1:9100'
const SLOW = 'http://127.0.0.1:9101'
const BODY = JSON.stringify({
  ...{ model: 'fast', stream: true, max_tokens: 64, temperature: 0 },
  messages: [{ role: 'user', content: 'Say something about the sea.' }],
})

/** @type {Record<string, http.Agent>} */
const agents = {}
let requests = 0
const upstreams = [startUpstream('9100', '0'), startUpstream('9101', '1000')]
await sleep(1500)
/** @type {import('./contenders.mjs').Gateway[]} */
const gateways = [{ name: 'bare', url: FAST, keys: [KEY], pid: upstreams[0]?.pid ?? 0, stop: async () => {} }]
for (const [at, name] of values.only.split(',').entries()) {
  const gateway = await startGateway(name, { upstream: FAST, folder, port: 9110 + at })
  if (gateway === null) console.log(`${name}: not installed`)
  else gateways.push(gateway)
}
try {
  console.log(
    `${os.cpus()[0]?.model}, ${os.availableParallelism()} cores, Node ${process.version}, load ${os.loadavg()[0]?.toFixed(1)}`,
  )
  for (const gateway of gateways) await closedLoop(gateway, 3)
  for (const rate of rates) await measureLatency(rate)
  await measureLoad()
} finally {
  for (const { stop } of gateways) await stop()
}
if (streams > 0) await measureStreams()
for (const { child } of upstreams) child.kill('SIGKILL')
process.exit(0)

/** @param {string} port @param {string} pauseMs */
function startUpstream(port, pauseMs) {
  const file = path.join(import.meta.dirname, 'fast-upstream.mjs')
  const child = spawn(process.execPath, [file, '--port', port, '--pause-ms', pauseMs], { stdio: 'inherit' })
  return { child, pid: child.pid ?? 0 }
}

/** Open loop at a rate that each of them can do: what a request waits beyond the bare upstream. @param {number} rate */
async function measureLatency(rate) {
  /** @type {Map<string, { firstMs: number[], wholeMs: number[] }>} */
  const all = new Map()
  for (let round = 0; round < rounds; round++) {
    for (const gateway of gateways) {
      const times = all.get(gateway.name) ?? { firstMs: [], wholeMs: [] }
      all.set(gateway.name, times)
      const asked = []
      const beganMs = performance.now()
      for (let at = 0; at < rate * seconds; at++) {
        asked.push(ask(gateway.url))
        // From the beginning on, or what each pause is late would add up.
        await sleep(Math.max(0, beganMs + (1000 * (at + 1)) / rate - performance.now()))
      }
      for (const { firstMs, wholeMs } of await Promise.all(asked)) {
        times.firstMs.push(firstMs)
        times.wholeMs.push(wholeMs)
      }
    }
  }
  console.log(
    `\nlatency at ${rate} requests/s, ms\n| | first byte p50 | p99 | added p50 | p99 | whole answer p50 | p99 | added p50 | p99 |\n|---|---|---|---|---|---|---|---|---|`,
  )
  const bare = all.get('bare')
  for (const [name, { firstMs, wholeMs }] of all) {
    const figures = [...addedTo(bare?.firstMs ?? [], firstMs), ...addedTo(bare?.wholeMs ?? [], wholeMs)]
    console.log(`| ${name} | ${figures.map((figure) => figure.toFixed(2)).join(' | ')} |`)
  }
}

/** The median and the 99th percentile, and what they are above those of the bare upstream. @param {number[]} bare @param {number[]} times */
function addedTo(bare, times) {
  const shares = [0.5, 0.99]
  return [
    ...shares.map((share) => at(times, share)),
    ...shares.map((share) => at(times, share) - at(bare, share)),
  ]
}

/** Closed loop: requests a second, and requests for a second of its CPU. */
async function measureLoad() {
  console.log(
    `\n${clients} clients, each asks again at once\n| | requests/s | CPU ms a request | requests/s per core | p50 ms | p99 ms |\n|---|---|---|---|---|---|`,
  )
  for (const gateway of gateways) {
    const results = []
    for (let round = 0; round < rounds; round++) results.push(await closedLoop(gateway, seconds))
    const count = results.reduce((sum, one) => sum + one.wholeMs.length, 0)
    const elapsed = results.reduce((sum, one) => sum + one.seconds, 0)
    const cpu = results.reduce((sum, one) => sum + one.cpuSeconds, 0)
    const wholeMs = results.flatMap((one) => one.wholeMs)
    const figures = [count / elapsed, (1000 * cpu) / count, count / cpu, at(wholeMs, 0.5), at(wholeMs, 0.99)]
    console.log(`| ${gateway.name} | ${figures.map((figure) => figure.toFixed(2)).join(' | ')} |`)
  }
}

/** @param {import('./contenders.mjs').Gateway} gateway @param {number} forSeconds */
async function closedLoop({ url, pid }, forSeconds) {
  const before = cpuOf(pid)
  const beganMs = performance.now()
  /** @type {number[]} */
  const wholeMs = []
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() - beganMs < 1000 * forSeconds) wholeMs.push((await ask(url)).wholeMs)
    }),
  )
  return { wholeMs, seconds: (performance.now() - beganMs) / 1000, cpuSeconds: cpuOf(pid) - before }
}

/** Memory with so many streams open, a token each second in each. */
async function measureStreams() {
  console.log(
    `\n${streams} open streams, one token a second in each\n| | MB before | MB | kB a stream | CPU cores |\n|---|---|---|---|---|`,
  )
  for (const [at, name] of values.only.split(',').entries()) {
    const gateway = await startGateway(name, { upstream: SLOW, folder, port: 9130 + at })
    if (gateway === null) continue
    const before = memoryOf(gateway.pid)
    const open = Array.from({ length: streams }, () => holdStream(gateway.url))
    const answered = await Promise.race([Promise.all(open.map(({ begun }) => begun)), sleep(40_000)])
    const cpuBefore = cpuOf(gateway.pid)
    await sleep(10_000)
    const cores = (cpuOf(gateway.pid) - cpuBefore) / 10
    const memory = memoryOf(gateway.pid)
    const note = answered === undefined ? ' (not all streams had begun)' : ''
    const each = (1000 * (memory - before)) / streams
    console.log(
      `| ${name}${note} | ${before.toFixed(0)} | ${memory.toFixed(0)} | ${each.toFixed(0)} | ${cores.toFixed(2)} |`,
    )
    for (const { stop } of open) stop()
    await gateway.stop()
  }
}

/** @param {string} url */
function holdStream(url) {
  const request = http.request(`${url}/v1/chat/completions`, { ...requestOptions(url), agent: false })
  const begun = new Promise((resolve) => {
    request.once('response', (response) => response.on('data', resolve))
    request.once('error', resolve)
  })
  request.end(BODY)
  return { begun, stop: () => request.destroy() }
}

/** With each of its keys in turns. @param {string} url */
function requestOptions(url) {
  const { keys = [KEY] } = gateways.find((gateway) => gateway.url === url) ?? {}
  const authorization = `Bearer ${keys[requests++ % keys.length]}`
  return { method: 'POST', headers: { 'content-type': 'application/json', authorization } }
}

/** @param {string} url @returns {Promise<{ firstMs: number, wholeMs: number }>} */
function ask(url) {
  const agent = (agents[url] ??= new http.Agent({ keepAlive: true, maxSockets: 4096 }))
  return new Promise((resolve, reject) => {
    const beganMs = performance.now()
    let firstMs = 0
    let length = 0
    const request = http.request(
      `${url}/v1/chat/completions`,
      { ...requestOptions(url), agent },
      (response) => {
        response.on('data', (piece) => {
          if (length === 0) firstMs = performance.now() - beganMs
          length += piece.length
        })
        response.once('end', () => {
          if (response.statusCode === 200 && length > 1000)
            resolve({ firstMs, wholeMs: performance.now() - beganMs })
          else reject(new Error(`${url} answered ${response.statusCode} with ${length} bytes`))
        })
      },
    )
    request.once('error', reject)
    request.end(BODY)
  })
}

/** @param {number[]} times @param {number} share */
function at(times, share) {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN
}

/** @param {number} pid */
function cpuOf(pid) {
  return readProcesses(pid).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
}

/** @param {number} pid */
function memoryOf(pid) {
  return readProcesses(pid).reduce((sum, { memoryMb }) => sum + memoryMb, 0)
}
