// @ts-check
/**
 * What keeping a conversation at one endpoint is worth: conversations of several turns over four servers of one model, once through
 * a Sluice in front of them, once sent to them in turn by the clients themselves, which costs nothing on the way. Both in rounds
 * beside each other, each round with conversations of its own, so that no cache knows them. Usage:
 *
 *   node bench/affinity.mjs [--size 125m] [--conversations 64] [--turns 6] [--words 60] [--clients 4] [--rounds 2]
 */
import { parseArgs } from 'node:util'
import { findModel } from './models.mjs'
import { KEY, startServer } from './servers/serve.mjs'

const UPSTREAMS = 4

const { values } = parseArgs({
  options: {
    size: { type: 'string', default: '125m' },
    conversations: { type: 'string', default: '64' },
    turns: { type: 'string', default: '6' },
    words: { type: 'string', default: '60' },
    clients: { type: 'string', default: '4' },
    rounds: { type: 'string', default: '2' },
  },
})
const [conversations, turns, words, clients, rounds] = [
  Number(values.conversations),
  Number(values.turns),
  Number(values.words),
  Number(values.clients),
  Number(values.rounds),
]

const model = await findModel(values.size)
const upstreams = await Promise.all(
  Array.from({ length: UPSTREAMS }, () =>
    startServer(['--checkpoint', model.path, '--model-id', 'm', '--threads', '1']),
  ),
)
const urls = upstreams.map(({ address }) => address)
const front = await startServer(['--upstream', urls.join(','), '--upstream-key', KEY, '--model-id', 'm'])

/** Milliseconds to the first token of an answer, and its text. @param {string} url @param {object[]} messages */
async function ask(url, messages) {
  const began = performance.now()
  const body = JSON.stringify({ model: 'm', messages, max_tokens: 8, temperature: 0, stream: true })
  const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
  const response = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
  if (!response.ok || response.body === null) throw new Error(`${response.status} ${await response.text()}`)
  let firstMs = 0
  let answer = ''
  let text = ''
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) {
    text += piece
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      if (!event.startsWith('data: {')) continue
      const content = JSON.parse(event.slice('data: '.length)).choices[0]?.delta?.content ?? ''
      if (content !== '' && firstMs === 0) firstMs = performance.now() - began
      answer += content
    }
  }
  return { firstMs, answer }
}

/** Times to the first token of all turns. @param {() => string} nextUrl of each request @param {() => number} random */
async function converse(nextUrl, random) {
  /** @type {number[]} */
  const times = []
  let left = conversations
  const client = async () => {
    while (left-- > 0) {
      const messages = [{ role: 'system', content: 'You are a storyteller.' }]
      for (let turn = 0; turn < turns; turn++) {
        messages.push({ role: 'user', content: model.words(random, words) })
        const { firstMs, answer } = await ask(nextUrl(), messages)
        times.push(firstMs)
        messages.push({ role: 'assistant', content: answer })
      }
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return times
}

/** Uniform, 0 to 1; the same numbers for the same seed. @param {number} seed */
function createRandom(seed) {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

let asked = 0
const ways = [
  { name: 'by conversation', nextUrl: () => front.address, times: /** @type {number[]} */ ([]) },
  { name: 'in turn', nextUrl: () => urls[asked++ % UPSTREAMS] ?? '', times: /** @type {number[]} */ ([]) },
]
for (let round = 0; round < rounds; round++)
  for (const [index, way] of ways.entries())
    way.times.push(...(await converse(way.nextUrl, createRandom(1 + 2 * round + index))))

/** @param {number[]} times @param {number} share */
function percentile(times, share) {
  const sorted = times.toSorted((one, other) => one - other)
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN
}
for (const { name, times } of ways)
  console.log(
    `${name}: ${times.length} turns, first token p50 ${percentile(times, 0.5).toFixed(0)} ms, p99 ${percentile(times, 0.99).toFixed(0)} ms`,
  )
const [kept, inTurn] = ways
console.log(
  `p50 by conversation / in turn: ${(percentile(kept?.times ?? [], 0.5) / percentile(inTurn?.times ?? [], 0.5)).toFixed(2)}`,
)
await Promise.all([front, ...upstreams].map((server) => server.stop()))
