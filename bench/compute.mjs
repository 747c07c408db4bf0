// @ts-check
/**
 * What a step of llama.cpp costs under settings of its threads, its KV cache and its attention: tokens/s of one prompt and
 * of steps with one token for each sequence. Each measurement is a process of its own (`compute-loop.mjs`), in turns.
 * Prints the tables of docs/decisions/0007-compute-threads.md, 0014-the-kv-cache.md, 0015-huge-pages.md
 * and 0034-one-kv-budget.md.
 *
 *   npm run bench:compute -- [--size demo|25m|125m|1.1b] [--sequences 1,8,32] [--prompt 1000] [--depth 32] [--seconds 1]
 *     [--rounds 3] [--beside] SETTINGS...
 *
 * SETTINGS, one word for each row: threads=2,batch-threads=1,poll=50,pin=on,kv=q8_0,flash=off,ubatch=128,huge=on,repack=off,
 * layout=unified (one KV cache for all sequences, of `cells` tokens; streams, the default, gives each its own)
 * `--beside`: a process that works 2 ms of every 5, as HTTP does; how late its timer is, is shown.
 */
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parseArgs, promisify } from 'node:util'
import { withHugePages } from '../dist/engines/process/host/huge-pages.js'
import { findModel } from './models.mjs'

const LOOP = fileURLToPath(new URL('loops/compute-loop.mjs', import.meta.url))
const BUSY_TIMER = `
const late = []
let due = performance.now() + 5
setTimeout(function tick() {
  const now = performance.now()
  late.push(now - due)
  while (performance.now() < now + 2);
  due = performance.now() + 3
  setTimeout(tick, 3)
}, 5)
process.on('SIGTERM', () => {
  late.sort((a, b) => a - b)
  process.stdout.write(String(late[Math.floor(late.length * 0.99)]), () => process.exit())
})`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    size: { type: 'string', default: '125m' },
    sequences: { type: 'string', default: '1,8,32' },
    prompt: { type: 'string', default: '1000' },
    depth: { type: 'string', default: '32' },
    seconds: { type: 'string', default: '1' },
    rounds: { type: 'string', default: '3' },
    beside: { type: 'boolean', default: false },
  },
})
const counts = values.sequences.split(',')
const { path: modelPath } = await findModel(values.size)

/** @param {string} settings @returns {Promise<Record<string, number>>} figures by their column */
async function measure(settings) {
  const words = [modelPath, values.sequences, values.prompt, values.depth, values.seconds, settings]
  const busy = values.beside
    ? spawn(process.execPath, ['-e', BUSY_TIMER], { stdio: ['ignore', 'pipe', 'inherit'] })
    : null
  const env = settings.split(',').includes('huge=on') ? withHugePages(process.env) : process.env
  const { stdout } = await promisify(execFile)(process.execPath, [LOOP, ...words], { env })
  if (busy === null) return JSON.parse(stdout)
  busy.kill('SIGTERM')
  const [late] = await once(busy.stdout, 'data')
  return { ...JSON.parse(stdout), 'timer late, p99 ms': Number(late) }
}

/** @type {Map<string, Record<string, number>[]>} */
const measured = new Map(positionals.map((settings) => [settings, []]))
for (let round = 0; round < Number(values.rounds); round++) {
  for (const [settings, rounds] of measured) rounds.push(await measure(settings))
}

/** Median and range. @param {number[]} figures */
function describe(figures) {
  const sorted = figures.toSorted((a, b) => a - b)
  const [least, middle, most] = [0, sorted.length >> 1, sorted.length - 1].map((i) => round(sorted[i] ?? 0))
  return least === most ? middle : `${middle} (${least} to ${most})`
}

/** @param {number} figure */
const round = (figure) => figure.toFixed(figure < 100 ? 1 : 0)

const columns = Object.keys(measured.values().next().value?.[0] ?? {})
console.log(
  `${values.size}, prompt of ${values.prompt}, steps at ${values.depth} tokens, ${counts.join(', ')} sequences`,
)
console.log(`| settings | ${columns.join(' | ')} |\n|---|${columns.map(() => '---|').join('')}`)
for (const [settings, rounds] of measured) {
  console.log(
    `| ${settings} | ${columns.map((column) => describe(rounds.map((one) => one[column] ?? 0))).join(' | ')} |`,
  )
}
