// @ts-check
/**
 * `npm run bench:output-guard`: what the output guard costs. Two servers on the same model, one with and one without it,
 * stream chats whose system prompt is watched for, a configured secret too, in turns within one run:
 *
 *   npm run bench:output-guard -- [--model demo|passthrough] [--clients 8] [--tokens 256] [--rounds 9]
 *
 * The models are the harshest there are: the bundled one is tiny, so that HTTP's share is as large as it gets; the
 * passthrough model makes one byte per step and computes nothing.
 */
import os from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startServer, streamChat } from './serve.mjs'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const { values } = parseArgs({
  options: {
    model: { type: 'string', default: 'demo' },
    clients: { type: 'string', default: '8' },
    tokens: { type: 'string', default: '256' },
    rounds: { type: 'string', default: '9' },
  },
})
const clients = Number(values.clients)
const rounds = Number(values.rounds)

const model =
  values.model === 'demo' ? ['--checkpoint', path.join(ROOT, 'models/demo'), '--threads', '1'] : []
const common = [...model, '--admin-key', 'bench-admin-key-0']
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

/** Each client asks twice, one after the other. @param {string} address */
async function tokensPerSecond(address) {
  const startedMs = performance.now()
  const counts = await Promise.all(
    Array.from(
      { length: clients },
      async () => (await streamChat(address, body)) + (await streamChat(address, body)),
    ),
  )
  return counts.reduce((sum, count) => sum + count, 0) / ((performance.now() - startedMs) / 1000)
}

/** @param {number[]} figures */
function median(figures) {
  return figures.toSorted((a, b) => a - b)[Math.floor(figures.length / 2)] ?? Number.NaN
}

const guarded = await startServer(common)
const unguarded = await startServer([...common, '--disable-output-verify'])
/** @type {{ with: number[], without: number[] }} */
const rates = { with: [], without: [] }
try {
  for (const { address } of [guarded, unguarded]) await tokensPerSecond(address)
  for (let round = 0; round < rounds; round++) {
    // Who comes first changes from round to round.
    const turns = /** @type {const} */ ([
      ['with', guarded],
      ['without', unguarded],
    ])
    for (const [name, { address }] of round % 2 === 0 ? turns : turns.toReversed()) {
      rates[name].push(await tokensPerSecond(address))
    }
  }
} finally {
  await Promise.all([guarded.stop(), unguarded.stop()])
}

const ratios = rates.with.map((rate, round) => rate / (rates.without[round] ?? Number.NaN))
const show = (/** @type {number[]} */ figures, digits = 0) =>
  `${median(figures).toFixed(digits)} (${Math.min(...figures).toFixed(digits)} to ${Math.max(...figures).toFixed(digits)})`
process.stdout.write(
  [
    `${os.cpus()[0]?.model ?? 'unknown CPU'}, ${os.availableParallelism()} cores, Node ${process.versions.node}`,
    `model ${values.model}, ${clients} clients, ${values.tokens} tokens, ${rounds} rounds; median (range)`,
    `with the guard     ${show(rates.with)} tokens/s`,
    `without            ${show(rates.without)} tokens/s`,
    `ratio by round     ${show(ratios, 3)}`,
    '',
  ].join('\n'),
)
