// @ts-check
/**
 * Where the HTTP process spends its time: microseconds of the main thread by package and folder, native calls counted with
 * who makes them. Waiting for events is left out; the time in which a process that was just written to takes the core is not.
 * The profiler makes everything a little slower.
 *
 *   npm run bench:profile -- [--load requests|streams] [--clients 32] [--seconds 5] [--size 125m]
 *
 * `requests`: `POST /v1/generate` on the passthrough model with a stored key, by request. `streams`: `POST
 * /v1/generate/stream` on a model of that size, by token.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import { closedLoop } from './load/load-generator.mjs'
import { rawLoopPrompt } from './loops/measure-raw-loop.mjs'
import { findModel } from './models.mjs'
import { askAtFullLoad } from './load/plain-requests.mjs'
import { PROTOCOLS } from './load/protocols.mjs'
import { startGated } from './scenarios/passthrough.mjs'
import { KEY, startServer } from './servers/serve.mjs'
import { readExchange, sendStream } from './load/stream-client.mjs'

/** @typedef {{ functionName: string, url: string }} CallFrame */
/** @typedef {{ id: number, callFrame: CallFrame, children?: number[] }} ProfileNode */
/** @typedef {{ nodes: ProfileNode[], startTime: number, samples: number[], timeDeltas: number[] }} Profile moments in microseconds of the monotonic clock */
/** @typedef {{ fromMs: number, toMs: number, count: number }} Window what was done, and when */

const TOKENS = 64
const SLOT_TOKENS = 512
const LEAST_MICROSECONDS = 0.5

const { values } = parseArgs({
  options: {
    load: { type: 'string', default: 'requests' },
    clients: { type: 'string' },
    seconds: { type: 'string', default: '5' },
    size: { type: 'string', default: '125m' },
  },
})
const isStreams = values.load === 'streams'
const clients = Number(values.clients ?? (isStreams ? 1 : 32))
const ms = Number(values.seconds) * 1000

const folder = mkdtempSync(path.join(os.tmpdir(), 'sluice-profile-'))
const window = await (isStreams ? profileStreams() : profileRequests())
const [file = ''] = readdirSync(folder)
/** @type {Profile} */
const profile = JSON.parse(readFileSync(path.join(folder, file), 'utf8'))
rmSync(folder, { recursive: true })
print(sumByOwner(profile, window), window)

/** @returns {Promise<Window>} */
async function profileRequests() {
  const server = await startGated({ profileTo: folder })
  const target = { address: server.address, keys: [server.key] }
  const load = () =>
    askAtFullLoad(target, JSON.stringify({ prompt: 'sixteen bytes ab' }), { connections: clients, ms })
  await load()
  const fromMs = nowMs()
  const { answers } = await load()
  const window = { fromMs, toMs: nowMs(), count: answers }
  await server.stop()
  return window
}

/** @returns {Promise<Window>} */
async function profileStreams() {
  const model = await findModel(values.size)
  const words = ['--checkpoint', model.path, '--max-batch-size', String(clients)]
  const server = await startServer([...words, '--max-seq-len', String(SLOT_TOKENS), '--gpu', 'off'], {
    profileTo: folder,
  })
  const target = { address: server.address, key: KEY, protocol: PROTOCOLS.sluice.completion }
  const load = async () => {
    const untilMs = nowMs() + ms
    const turns = { clients, turns: Number.POSITIVE_INFINITY, isOver: () => nowMs() >= untilMs }
    const exchanges = await closedLoop(turns, (client, turn) =>
      sendStream(target, { prompt: rawLoopPrompt(turn * clients + client), newTokens: TOKENS }),
    )
    return exchanges.reduce(
      (sum, exchange) => sum + readExchange(exchange, target.protocol).completionTokens,
      0,
    )
  }
  await load()
  const fromMs = nowMs()
  const count = await load()
  const window = { fromMs, toMs: nowMs(), count }
  await server.stop()
  return window
}

/** On the clock that a profile has, of any process of this machine. */
function nowMs() {
  return Number(process.hrtime.bigint()) / 1e6
}

/** Microseconds of self time. @param {Profile} profile @param {Window} window */
function sumByOwner({ nodes, startTime, samples, timeDeltas }, { fromMs, toMs }) {
  const owners = ownersOf(nodes)
  /** @type {Map<string, number>} */
  const sums = new Map()
  let atMicroseconds = startTime
  for (const [index, id] of samples.entries()) {
    const delta = timeDeltas[index] ?? 0
    atMicroseconds += delta
    const owner = owners.get(id) ?? null
    if (owner === null || atMicroseconds < fromMs * 1000 || atMicroseconds > toMs * 1000) continue
    sums.set(owner, (sums.get(owner) ?? 0) + delta)
  }
  return sums
}

/** Whose time a sample of each node is; null for nobody's. @param {ProfileNode[]} nodes */
function ownersOf(nodes) {
  /** @type {Map<number, string | null>} */
  const owners = new Map()
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const visit = (/** @type {ProfileNode} */ node, /** @type {string | null} */ caller) => {
    const owner = ownerOf(node.callFrame, caller)
    owners.set(node.id, owner)
    for (const child of node.children ?? []) {
      const childNode = byId.get(child)
      if (childNode !== undefined) visit(childNode, owner)
    }
  }
  if (nodes[0] !== undefined) visit(nodes[0], null)
  return owners
}

/** @param {CallFrame} frame @param {string | null} caller */
function ownerOf({ functionName, url }, caller) {
  if (functionName === '(idle)' || functionName === '(root)') return null
  if (functionName === '(garbage collector)') return 'garbage collection'
  if (functionName === '(program)') return 'Node itself, outside JavaScript'
  const library = /\/node_modules\/((?:@[^/]+\/)?[^/]+)\/(?!.*\/node_modules\/)/.exec(url)?.[1]
  if (library !== undefined) return library
  const own = /\/dist\/((?:engines\/)?[^/]+)\//.exec(url)?.[1]
  if (own !== undefined) return `src/${own}`
  if (/^node:(internal\/)?_?http/.test(url)) return 'node:http'
  if (/^node:(net|events|stream|internal\/(stream|streams|js_stream))/.test(url))
    return 'node:net and streams'
  if (/^node:.*(timers|async_hooks|task_queues|promise)/.test(url)) return 'node: timers and task queues'
  if (url.startsWith('node:')) return 'node: other'
  return caller ?? 'other'
}

/** @param {Map<string, number>} sums @param {Window} window */
function print(sums, { fromMs, toMs, count }) {
  const unit = isStreams ? 'token' : 'request'
  const all = [...sums.values()].reduce((sum, each) => sum + each, 0)
  const rate = (count / (toMs - fromMs)) * 1000
  const lines = [
    `${count} ${unit}s of ${clients} client${clients === 1 ? '' : 's'}, ${rate.toFixed(0)} a second; ${(all / count).toFixed(0)} us of the main thread a ${unit}`,
    `| part | us a ${unit} | share |`,
    '|---|---|---|',
    ...[...sums]
      .toSorted(([, a], [, b]) => b - a)
      .filter(([, sum]) => sum / count >= LEAST_MICROSECONDS)
      .map(
        ([owner, sum]) => `| ${owner} | ${(sum / count).toFixed(1)} | ${((sum / all) * 100).toFixed(0)} % |`,
      ),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}
