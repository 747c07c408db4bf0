// @ts-check
/**
 * `npm run bench:embeddings`: texts that an embedding model makes vectors of in a second, or documents that a reranking model gives
 * scores, for 1, 8 and 64 clients that send one request after another, and for one that sends lists of 64. Beside llama-server, in
 * turns within a run, where its program is given.
 *
 *   npm run bench:embeddings -- --checkpoint MODEL [--against llama-server=PATH --gguf FILE] [--seconds 10] [--rounds 5] [--threads N]
 *
 * FILE is the same model as MODEL where that is a folder; our own is in the data folder after a conversion.
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
    rounds: { type: 'string', default: '5' },
    threads: { type: 'string', default: String(os.availableParallelism()) },
    against: { type: 'string' },
    gguf: { type: 'string' },
  },
})
const { checkpoint, threads, against } = values
if (checkpoint === undefined) {
  refuse(
    '--checkpoint must name an embedding or a reranking model: a GGUF file, or a folder in the Hugging Face layout.',
  )
}
const peer = against === undefined ? null : /^llama-server=(.+)$/.exec(against)?.[1]
if (peer === undefined) refuse(`--against must be llama-server=PATH, but was '${against}'`)
const gguf = values.gguf ?? (checkpoint.endsWith('.gguf') ? checkpoint : null)
if (peer !== null && gguf === null) refuse('--gguf must name the file that llama-server reads')

const WORDS =
  'time person year way day thing man world life hand part child eye woman place work week case point government'.split(
    ' ',
  )
/** @param {number} seed @param {number} words */
const textOf = (seed, words) =>
  Array.from({ length: words }, (_, i) => WORDS[(seed * 7 + i * i + i) % WORDS.length]).join(' ')

/** @typedef {{ name: string, clients: number, words: number, batch: number }} Load */

/** @type {readonly Load[]} */
const LOADS = [
  { name: '1 client, 16 words', clients: 1, words: 16, batch: 1 },
  { name: '8 clients, 16 words', clients: 8, words: 16, batch: 1 },
  { name: '64 clients, 16 words', clients: 64, words: 16, batch: 1 },
  { name: '8 clients, 200 words', clients: 8, words: 200, batch: 1 },
  { name: '1 client, lists of 64', clients: 1, words: 16, batch: 64 },
]
/** @type {readonly Load[]} */
const RERANK_LOADS = [
  { name: '1 client, 8 documents of 16 words', clients: 1, words: 16, batch: 8 },
  { name: '8 clients, 8 documents of 16 words', clients: 8, words: 16, batch: 8 },
  { name: '64 clients, 8 documents of 16 words', clients: 64, words: 16, batch: 8 },
  { name: '8 clients, 8 documents of 150 words', clients: 8, words: 150, batch: 8 },
]

/** @param {string} message @returns {never} */
function refuse(message) {
  console.error(message)
  process.exit(2)
}

/** @param {string} url @param {http.Agent} agent @param {object} body @returns {Promise<void>} */
function post(url, agent, body) {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const request = http.request(url, { method: 'POST', agent, headers }, (answer) => {
      answer.resume().on('end', () => {
        if (answer.statusCode === 200) resolve()
        else reject(new Error(`status ${answer.statusCode}`))
      })
    })
    request.on('error', reject).end(JSON.stringify(body))
  })
}

/** Texts a second. @param {string} address @param {Load} load @param {number} seconds */
async function measure(address, { clients, words, batch }, seconds) {
  const agent = new http.Agent({ keepAlive: true })
  const startMs = performance.now()
  const endMs = startMs + seconds * 1000
  let texts = 0
  const run = async (/** @type {number} */ client) => {
    for (let i = 0; performance.now() < endMs; i++) {
      const input = Array.from({ length: batch }, (_, at) => textOf(client + i * batch + at, words))
      if (reranks)
        await post(`${address}/v1/rerank`, agent, { query: textOf(client + i, 8), documents: input })
      else await post(`${address}/v1/embeddings`, agent, { input, encoding_format: 'base64' })
      texts += batch
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, client) => run(client)))
  agent.destroy()
  return (texts * 1000) / (performance.now() - startMs)
}

/** Of the default model. @param {string} address @returns {Promise<boolean>} */
async function isReranker(address) {
  const answer = await fetch(`${address}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } })
  const { data } = /** @type {{ data: { meta?: { capabilities?: string[] } }[] }} */ (await answer.json())
  return data[0]?.meta?.capabilities?.includes('embeddings') === false
}

/** Median and range. @param {readonly number[]} rates */
function describe(rates) {
  const sorted = rates.toSorted((one, other) => one - other)
  const [least = 0, middle = 0, most = 0] = [0, Math.floor(rates.length / 2), -1].map((at) => sorted.at(at))
  return { middle, text: `${middle.toFixed(1)} (${least.toFixed(1)} to ${most.toFixed(1)})` }
}

const ours = await startServer(['--checkpoint', checkpoint, '--threads', threads, '--log-level', 'info'])
const reranks = await isReranker(ours.address)
const theirs =
  peer === null || gguf === null
    ? null
    : await startLlamaServer(peer, {
        ...{ model: gguf, slots: 64, slotTokens: 512, threads: Number(threads), gpu: 'auto' },
        words: [reranks ? '--reranking' : '--embeddings', '-b', '2048', '-ub', '2048'],
      })
console.log(peer === null ? 'without a peer (--against)' : `beside llama-server ${llamaServerVersion(peer)}`)
try {
  const [seconds, rounds] = [Number(values.seconds), Number(values.rounds)]
  for (const load of reranks ? RERANK_LOADS : LOADS) {
    /** @type {number[]} */
    const own = []
    /** @type {number[]} */
    const peers = []
    // The first round warms both up.
    for (let round = -1; round < rounds; round++) {
      const rate = await measure(ours.address, load, round < 0 ? 1 : seconds)
      const peerRate = theirs === null ? 0 : await measure(theirs.address, load, round < 0 ? 1 : seconds)
      if (round < 0) continue
      own.push(rate)
      peers.push(peerRate)
    }
    const [mine, other] = [describe(own), describe(peers)]
    const beside =
      theirs === null ? '' : `, llama-server ${other.text}, ratio ${(mine.middle / other.middle).toFixed(2)}`
    console.log(`${load.name}: ${mine.text} texts/s${beside}`)
  }
} finally {
  await ours.stop()
  await theirs?.stop()
}
