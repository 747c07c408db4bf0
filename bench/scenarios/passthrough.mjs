// @ts-check
/** What HTTP, authentication, limits and durable usage cost, without a model: against a bare route and between. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { whileRunning } from '../servers/contenders.mjs'
import { askAtFullLoad, askGenerate, askInTurn } from '../load/plain-requests.mjs'
import { processesBetween, readProcesses } from '../servers/processes.mjs'
import { createKey, startServer } from '../servers/serve.mjs'
import { percentile } from '../report/statistics.mjs'

const BODY = JSON.stringify({ prompt: 'sixteen bytes ab' })
const CONNECTIONS = 32

/** @typedef {{ name: string, address: string, key: string, pid: number, stop: () => Promise<void> }} Target */

/** @type {import('./index.mjs').Scenario} */
export const passthrough = {
  id: 'passthrough',
  title: 'HTTP without a model',
  about:
    '`POST /v1/generate` on the passthrough model: with a stored key that is looked up, admitted and recorded durably (all gates), ' +
    'with `--auth-mode none`, with the same routes without authentication, limits and records (no gates), and a bare Fastify route ' +
    `that answers with the same bytes. Latency at one connection, rate at ${CONNECTIONS}.`,
  fixedModel: 'passthrough',
  shows: ['requestsPerSecond', 'latencyP50Ms', 'latencyP99Ms', 'cpuMicrosecondsPerRequest'],
  run: async (bench) => {
    const requests = bench.requests ?? 2000
    /** As many milliseconds of full load as requests one by one: the two then weigh about the same. */
    const loadMs = requests
    const gated = await startGated()
    const answer = await askGenerate(gated, BODY)
    const targets = [gated, await startOpen(), await startScript('no gates', 'servers/ungated-server.mjs')]
    targets.push(await startScript('bare Fastify route', 'servers/bare-fastify.mjs', answer))
    /** @type {import('../load/rounds.mjs').Row[]} */
    const rows = targets.map(({ name }) => ({ contender: name, group: null, rounds: [] }))
    await whileRunning(targets, async () => {
      for (const target of targets) {
        await askInTurn(target, BODY, requests)
        await askAtFullLoad(loadOf(target), BODY, { connections: CONNECTIONS, ms: loadMs })
      }
      for (let round = 0; round < bench.rounds; round++) {
        for (const [index, target] of targets.entries())
          rows[index]?.rounds.push(await measure(target, { requests, loadMs }))
      }
    })
    return { parameters: { latencyRequests: requests, connections: CONNECTIONS, loadMs }, rows }
  },
}

/** @param {Target} target @param {{ requests: number, loadMs: number }} load */
async function measure(target, { requests, loadMs }) {
  const latencies = await askInTurn(target, BODY, requests)
  const before = readProcesses(target.pid)
  const { answers, seconds, cpuSeconds } = await askAtFullLoad(loadOf(target), BODY, {
    connections: CONNECTIONS,
    ms: loadMs,
  })
  const [server] = processesBetween(before, readProcesses(target.pid))
  return {
    requestsPerSecond: answers / seconds,
    latencyP50Ms: percentile(latencies, 50),
    latencyP99Ms: percentile(latencies, 99),
    cpuMicrosecondsPerRequest: server === undefined ? null : (server.cpuSeconds * 1e6) / answers,
    peakMemoryMb: server?.peakMemoryMb ?? null,
    clientCpuSeconds: cpuSeconds,
  }
}

/** @param {Target} target */
function loadOf({ address, key }) {
  return { address, keys: [key] }
}

/** With a stored key of the highest tier. @param {{ profileTo?: string }} [options] @returns {Promise<Target>} */
export async function startGated(options) {
  const server = await startServer([], options)
  const key = await createKey(server.address, 'enterprise')
  return { ...server, name: 'all gates', key }
}

/** @returns {Promise<Target>} */
async function startOpen() {
  return { ...(await startServer(['--auth-mode', 'none'])), name: 'auth-mode none', key: '' }
}

/** @param {string} name @param {string} script @param {string[]} words @returns {Promise<Target>} */
async function startScript(name, script, ...words) {
  const file = fileURLToPath(new URL(`../${script}`, import.meta.url))
  const child = spawn(process.execPath, [file, ...words], { stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = once(child, 'close')
  const [line] = await once(child.stdout, 'data')
  child.stderr.resume()
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return {
    name,
    address: /listening on (\S+)/.exec(String(line))?.[1] ?? '',
    key: '',
    pid: child.pid ?? 0,
    stop,
  }
}
