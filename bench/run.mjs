// @ts-check
/**
 * `npm run bench`: output tokens per second through HTTP against the raw decode loop, same model file, same libraries,
 * same threads, in turns within one run; prints each figure's median and range and the ratio round by round.
 *
 *   npm run bench -- [--model FILE.gguf | --size demo|25m|125m|1.1b] [--clients 8] [--tokens 128] [--rounds 5] [--threads N]
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { SIZES, writeRandomModel } from './random-model.mjs'
import { startServer, streamGenerate } from './serve.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const RAW_LOOP = fileURLToPath(new URL('raw-loop.mjs', import.meta.url))

const { values } = parseArgs({
  options: {
    model: { type: 'string' },
    size: { type: 'string', default: '125m' },
    clients: { type: 'string', default: '8' },
    tokens: { type: 'string', default: '128' },
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: String(os.availableParallelism()) },
  },
})
const clients = Number(values.clients)
const tokens = Number(values.tokens)
const rounds = Number(values.rounds)
const { threads } = values

/** The model to measure: a file, random weights of a size, or the bundled one as the server converts it. */
async function findModel() {
  if (values.model !== undefined) return values.model
  const folder = path.join(os.tmpdir(), 'sluice-bench-models')
  mkdirSync(folder, { recursive: true })
  if (values.size !== 'demo') {
    if (!(values.size in SIZES)) throw new Error(`--size must be demo, ${Object.keys(SIZES).join(', ')}`)
    const file = path.join(folder, `random-${values.size}.gguf`)
    await writeRandomModel(/** @type {keyof typeof SIZES} */ (values.size), file)
    return file
  }
  const { resolveModelFile } = await import('../dist/weights/model-file.js')
  const options = { checkpoint: path.join(ROOT, 'models/demo'), modelConfig: null, tokenizer: null }
  return (await resolveModelFile({ ...options, dataDir: folder })).model.path
}

/** @param {string} model */
function measureRawLoop(model) {
  const output = execFileSync(process.execPath, [RAW_LOOP, model, String(clients), String(tokens), threads], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return Number(JSON.parse(output).tokensPerSecond)
}

/** Each client asks again as soon as it is answered, twice over. @param {string} address */
async function measureHttp(address) {
  const startedMs = performance.now()
  const counts = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      let made = 0
      for (let turn = 0; turn < 2; turn++) {
        made += await streamGenerate(address, {
          prompt: `Prompt number ${client}: once upon a time`,
          max_new_tokens: tokens,
          temperature: 0.8,
          top_k: 40,
          top_p: 0.95,
        })
      }
      return made
    }),
  )
  return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - startedMs) / 1000)
}

/** @param {number[]} figures */
function describe(figures) {
  const sorted = figures.toSorted((a, b) => a - b)
  const digits = (sorted[0] ?? 0) < 10 ? 2 : 0
  const [min, median, max] = [0, Math.floor(sorted.length / 2), sorted.length - 1].map((i) =>
    (sorted[i] ?? 0).toFixed(digits),
  )
  return `${median} (${min} to ${max})`
}

const model = await findModel()
const server = await startServer([
  ...['--checkpoint', model, '--max-batch-size', String(clients), '--max-seq-len', '512'],
  ...['--threads', threads, '--log-level', 'info'],
])
/** @type {number[]} */
const raw = []
/** @type {number[]} */
const served = []
try {
  await measureHttp(server.address)
  for (let round = 0; round < rounds; round++) {
    raw.push(measureRawLoop(model))
    served.push(await measureHttp(server.address))
  }
} finally {
  await server.stop()
}
const ratios = served.map((figure, round) => figure / (raw[round] ?? Number.NaN))
process.stdout.write(
  [
    `${path.basename(model)}: ${clients} clients, ${tokens} tokens each, ${threads} compute threads, ${rounds} rounds`,
    `${os.cpus()[0]?.model ?? 'unknown CPU'}, ${os.availableParallelism()} cores, Node ${process.versions.node}`,
    `median (range)      tokens/s`,
    `raw decode loop     ${describe(raw)}`,
    `through HTTP        ${describe(served)}`,
    `ratio               ${describe(ratios)}`,
    '',
  ].join('\n'),
)
