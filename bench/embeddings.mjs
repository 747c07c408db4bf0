// @ts-check
/**
 * `npm run bench:embeddings`: texts that an embedding model makes vectors of in a second, for 1, 8 and 64 clients that send one
 * text after another, and for one that sends lists of 64. Beside llama-server where its program and a GGUF file are given.
 *
 *   npm run bench:embeddings -- --checkpoint MODEL [--seconds 10] [--rounds 3] [--threads N]
 *       [--llama-server PROGRAM --gguf FILE]    FILE is the same model; our own is in the data folder after a conversion
 */
import http from 'node:http'
import os from 'node:os'
import { parseArgs } from 'node:util'
import { llamaServerVersion, startLlamaServer } from './servers/llama-server.mjs'
import { KEY, startServer } from './servers/serve.mjs'

const { values } = parseArgs({
  options: {
    checkpoint: { type: 'string' },
    seconds: { type: 'string', default: '10' },
    rounds: { type: 'string', default: '3' },
    threads: { type: 'string', default: String(os.availableParallelism()) },
    'llama-server': { type: 'string' },
    gguf: { type: 'string' },
  },
})
const { checkpoint, threads, gguf, 'llama-server': peer } = values
if (checkpoint === undefined) {
  console.error(
    '--checkpoint must name an embedding model: a GGUF file, or a folder in the Hugging Face layout.',
  )
  process.exit(2)
}

const WORDS =
  'time person year way day thing man world life hand part child eye woman place work week case point government'.split(
    ' ',
  )
/** @param {number} seed @param {number} words */
const textOf = (seed, words) =>
  Array.from({ length: words }, (_, i) => WORDS[(seed * 7 + i * i + i) % WORDS.length]).join(' ')

const LOADS = [
  { name: '1 client, 16 words', clients: 1, words: 16, batch: 1 },
  { name: '8 clients, 16 words', clients: 8, words: 16, batch: 1 },
  { name: '64 clients, 16 words', clients: 64, words: 16, batch: 1 },
  { name: '8 clients, 200 words', clients: 8, words: 200, batch: 1 },
  { name: '1 client, lists of 64', clients: 1, words: 16, batch: 64 },
]

/** @param {string} address @param {http.Agent} agent @param {readonly string[]} input @returns {Promise<void>} */
function embed(address, agent, input) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const request = http.request(`${address}/v1/embeddings`, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().on('end', () => {
        if (answer.statusCode === 200) resolve()
        else reject(new Error(`status ${answer.statusCode}`))
      })
    })
    request.on('error', reject).end(JSON.stringify({ input, encoding_format: 'base64' }))
  })
}

/** Texts a second. @param {string} address @param {typeof LOADS[number]} load @param {number} seconds */
async function measure(address, { clients, words, batch }, seconds) {
  const agent = new http.Agent({ keepAlive: true })
  const startMs = performance.now()
  const endMs = startMs + seconds * 1000
  let texts = 0
  const run = async (/** @type {number} */ client) => {
    for (let i = 0; performance.now() < endMs; i++) {
      await embed(
        address,
        agent,
        Array.from({ length: batch }, (_, at) => textOf(client + i * batch + at, words)),
      )
      texts += batch
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => run(client)))
  agent.destroy()
  return (texts * 1000) / (performance.now() - startMs)
}

/** @param {readonly number[]} rates */
const median = (rates) => rates.toSorted((one, other) => one - other)[Math.floor(rates.length / 2)] ?? 0

const ours = await startServer(['--checkpoint', checkpoint, '--threads', threads, '--log-level', 'info'])
const theirs =
  peer === undefined || gguf === undefined
    ? null
    : await startLlamaServer(peer, {
        ...{ model: gguf, slots: 64, slotTokens: 512, threads: Number(threads), gpu: 'auto' },
        words: ['--embeddings', '-b', '2048', '-ub', '2048'],
      })
if (peer !== undefined && theirs !== null) console.log(`beside llama-server ${llamaServerVersion(peer)}`)
else console.log('no llama-server was given (--llama-server and --gguf), so there is nothing beside')
try {
  const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
  for (const load of LOADS) {
    /** @type {number[]} */
    const own = []
    /** @type {number[]} */
    const peers = []
    for (let round = 0; round < rounds; round++) {
      own.push(await measure(ours.address, load, seconds))
      if (theirs !== null) peers.push(await measure(theirs.address, load, seconds))
    }
    const beside =
      theirs === null
        ? ''
        : `, llama-server ${median(peers).toFixed(1)}, ratio ${(median(own) / median(peers)).toFixed(2)}`
    console.log(`${load.name}: ${median(own).toFixed(1)} texts/s${beside}`)
  }
} finally {
  await ours.stop()
  await theirs?.stop()
}
