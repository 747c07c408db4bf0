// @ts-check
/**
 * `npm run bench:output-guard`: what the output guard costs. Two servers on the same model, one with and one without it,
 * stream chats whose system prompt is watched for, a configured secret too, in turns within one run:
 *
 *   npm run bench:output-guard -- [--model demo|passthrough] [--clients 8] [--tokens 256] [--rounds 50]
 *
 * The models are the harshest there are: the bundled one is tiny, so that HTTP's share is as large as it gets; the
 * passthrough model makes one byte per step and computes nothing. Rounds are short and many, because the machine's own speed
 * varies by more than the guard costs. Exits with 1 when the guard costs more than its bound.
 */
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { readProcesses } from './servers/processes.mjs'
import { startServer, streamChat } from './servers/serve.mjs'
import { medianInterval, rangeOf } from './report/statistics.mjs'

/** Of the throughput without the guard. */
const MIN_RATIO = 0.98
const ROOT = fileURLToPath(new URL('..', import.meta.url))

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: 'demo' },
    clients: { type: 'string', default: '8' },
    tokens: { type: 'string', default: '256' },
    rounds: { type: 'string', default: '50' },
  },
})
const clients = Number(values.clients)
const rounds = Number(values.rounds)

const model =
  values.model === 'demo' ? ['--checkpoint', path.join(ROOT, 'models/demo'), '--threads', '1'] : []
const SYSTEM_PROMPT =
  'You answer for the bank. Never name the internal rate, never promise a loan, and hand everybody who mentions ' +
  'a lawyer over to the legal desk at once, without a further word about it to anybody else.'

const body = {
  messages: [
    { role: 'system', content: SYSTEM_PROMPT },
    { role: 'user', content: 'Tell me of the sea. '.repeat(values.model === 'demo' ? 2 : 60) },
  ],
  max_tokens: Number(values.tokens),
  temperature: values.model === 'demo' ? 5 : 1,
  seed: 3,
}

/** @typedef {{ rate: number, cpuMicroseconds: number }} Turn per second, and of all the server's processes per token */

/** @param {import('./servers/serve.mjs').Server} server @returns {Promise<Turn>} */
async function measure({ address, pid }) {
  const cpuBefore = cpuSecondsOf(pid)
  const startedMs = performance.now()
  const counts = await Promise.all(Array.from({ length: clients }, () => streamChat(address, body)))
  const seconds = (performance.now() - startedMs) / 1000
  const made = counts.reduce((sum, count) => sum + count, 0)
  return { rate: made / seconds, cpuMicroseconds: ((cpuSecondsOf(pid) - cpuBefore) / made) * 1e6 }
}

/** @param {number} pid */
function cpuSecondsOf(pid) {
  return readProcesses(pid).reduce((sum, { cpuSeconds }) => sum + cpuSeconds, 0)
}

const guarded = await startServer(model)
const unguarded = await startServer([...model, '--disable-output-verify'])
/** @type {{ with: Turn[], without: Turn[] }} */
const turns = { with: [], without: [] }
try {
  // Both are warm before anything counts.
  for (const server of [guarded, unguarded, guarded, unguarded]) await measure(server)
  for (let round = 0; round < rounds; round++) {
    // Who comes first changes from round to round.
    const pair = /** @type {const} */ ([
      ['with', guarded],
      ['without', unguarded],
    ])
    for (const [name, server] of round % 2 === 0 ? pair : pair.toReversed()) {
      turns[name].push(await measure(server))
    }
  }
} finally {
  await Promise.all([guarded.stop(), unguarded.stop()])
}

/** @param {'rate' | 'cpuMicroseconds'} figure */
const ratiosOf = (figure) =>
  turns.with.map((turn, round) => turn[figure] / (turns.without[round]?.[figure] ?? Number.NaN))
/** @param {'with' | 'without'} name @param {'rate' | 'cpuMicroseconds'} figure */
const medianOf = (name, figure) =>
  (rangeOf(turns[name].map((turn) => turn[figure]))?.median ?? Number.NaN).toFixed(0)
const showRatio = (/** @type {number[]} */ ratios) => {
  const { low, high } = medianInterval(ratios)
  return `${rangeOf(ratios)?.median.toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)} with 95 % certainty)`
}
process.stdout.write(
  [
    `${os.cpus()[0]?.model ?? 'unknown CPU'}, ${os.availableParallelism()} cores, Node ${process.versions.node}`,
    `model ${values.model}, ${clients} clients, ${values.tokens} tokens, ${rounds} rounds; medians`,
    `with the guard     ${medianOf('with', 'rate')} tokens/s, ${medianOf('with', 'cpuMicroseconds')} us of CPU a token`,
    `without            ${medianOf('without', 'rate')} tokens/s, ${medianOf('without', 'cpuMicroseconds')} us of CPU a token`,
    `ratio of tokens/s  ${showRatio(ratiosOf('rate'))}`,
    `ratio of CPU       ${showRatio(ratiosOf('cpuMicroseconds'))}`,
    '',
  ].join('\n'),
)
process.exitCode = (rangeOf(ratiosOf('rate'))?.median ?? 0) >= MIN_RATIO ? 0 : 1
