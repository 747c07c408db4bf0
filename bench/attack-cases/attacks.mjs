// @ts-check
/**
 * What was done to a server whose clients meant no good, each as it was done: batches that are aborted, bodies without a key,
 * huge messages, a backlog of another tier, of one key and of many, logins from a few addresses. Each runs until it is done or
 * its signal aborts; what it says beside the figures of the watchers is its note.
 */
import { setMaxListeners } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { createKey } from '../servers/serve.mjs'
import { batchOf, fill, hugeMessage, longBatch, slowestBatch } from './bodies.mjs'
import { send, sendInTinyChunks, sendSlowly } from './client.mjs'

/** @typedef {import('./client.mjs').Outcome} Outcome */
/** @typedef {{ address: string, signal: AbortSignal, count: (outcome: Pick<Outcome, 'status'>, times?: number) => void }} Scene */
/** @typedef {{ name: string, run: (scene: Scene) => Promise<string | void>, options?: string[] }} Attack what `run` resolves with is its note; the server is started with the options */

const BATCHES = 30
const LEAVE_AFTER_MS = 400
const REPEATED_BODIES = 8
const SLOW = { connections: 300, bytes: 8 * 1024 * 1024, pieceBytes: 256 * 1024, everyMs: 500 }
const TINY = { chunks: 2_000_000 }
const CROWD = { connections: 500, chunks: 40_000 }
const BACKLOG_AGE_MS = 20_000
/** After this wait a free sequence has risen above the enterprise class. */
const QUEUE_AGE_MS = 12_000
const TEXT = 'Once upon a time'
const MAX_BATCH = 64
const RETRY_MS = 100
const LONG_TEXT = { max_new_tokens: 2048, temperature: 1 }
const LOGIN_MS = 10_000
const LOGINS_AT_ONCE = 10
const PASSWORD = 'a long password'

/** @type {readonly Attack[]} */
export const ATTACKS = [
  {
    name: 'A1 batches of <s>, aborted',
    run: (scene) => abortBatches(scene, longBatch()),
  },
  ...[2048, 8192].map((tokens) => ({
    name: `A1 the slowest batches that a context of ${tokens} admits, aborted`,
    options: ['--max-seq-len', String(tokens)],
    run: (/** @type {Scene} */ scene) => abortBatches(scene, slowestBatch(tokens)),
  })),
  ...['register', 'login'].map((route) => ({
    name: `A2 8 MiB of JSON without a key, ${route}`,
    run: async (/** @type {Scene} */ { address, signal, count }) => {
      const body = `{"x":[${fill('[],')}0]}`
      for (let i = 0; i < REPEATED_BODIES && !signal.aborted; i++)
        count(await send(address, { method: 'POST', path: `/v1/auth/${route}`, body }, signal))
    },
  })),
  {
    name: 'A2 300 connections, 8 MiB each, slowly',
    run: async ({ address, signal, count }) => {
      const answers = await sendSlowly(address, { path: '/v1/auth/login', ...SLOW }, signal)
      for (const { status, count: times } of answers)
        count({ status: status === 'open' ? 'aborted' : status }, times)
      return answers.map(({ status, count: times }) => `${times} ${status}`).join(', ')
    },
  },
  {
    name: 'A2 bodies in chunks of one byte, four free keys',
    run: async ({ address, signal, count }) => {
      const keys = await createKeys(address, 4)
      const sending = keys.map(async (key) =>
        count(await sendInTinyChunks(address, { path: '/v1/chat/completions', key, ...TINY }, signal)),
      )
      await Promise.all(sending)
    },
  },
  {
    name: 'A2 500 bodies in chunks of one byte at once, without a key, again and again',
    run: async ({ address, signal, count }) => {
      const sendMany = async () => {
        const what = { path: '/v1/auth/login', chunks: CROWD.chunks }
        while (!signal.aborted) count(await sendInTinyChunks(address, what, signal))
      }
      await Promise.all(Array.from({ length: CROWD.connections }, sendMany))
    },
  },
  {
    name: 'A2 300 whole bodies of 8 MiB at once, with a key',
    run: async ({ address, signal, count }) => {
      const key = await createKey(address, 'enterprise')
      const body = Buffer.from(hugeMessage('user', 'word '))
      const path = '/v1/chat/completions'
      const sending = Array.from({ length: SLOW.connections }, async () =>
        count(await send(address, { method: 'POST', path, key, body }, signal)),
      )
      await Promise.all(sending)
    },
  },
  ...[
    { role: 'system', unit: 'word ' },
    { role: 'user', unit: '<|reserved_' },
  ].map(({ role, unit }) => ({
    name: `A3 a ${role} message of 8 MB`,
    run: async (/** @type {Scene} */ { address, signal, count }) => {
      const key = await createKey(address, 'free')
      const body = hugeMessage(role, unit)
      for (let i = 0; i < 4 && !signal.aborted; i++)
        count(await send(address, { method: 'POST', path: '/v1/chat/completions', key, body }, signal))
    },
  })),
  {
    name: 'A4 four free batches that have waited',
    run: async ({ address, signal, count }) => {
      const keys = await createKeys(address, 4)
      const backlog = holdBacklog({ address, signal, count }, keys, LONG_TEXT)
      await sleep(BACKLOG_AGE_MS, undefined, { signal }).catch(() => {})
      const enterprise = await createKey(address, 'enterprise')
      const wait = await waitFor(address, { key: enterprise }, signal)
      backlog.stop()
      return `an enterprise request waited ${wait}`
    },
  },
  {
    name: 'A5 one free key, 64 x 2048 tokens',
    run: async ({ address, signal, count }) => {
      const [first, second] = await createKeys(address, 2)
      const backlog = holdBacklog({ address, signal, count }, [first ?? ''], LONG_TEXT)
      await sleep(1000)
      const wait = await waitFor(address, { key: second ?? '' }, signal)
      backlog.stop()
      return `another free key waited ${wait}`
    },
  },
  {
    name: 'A6 20 free accounts fill the queue',
    run: async ({ address, signal, count }) => {
      const keys = await createKeys(address, 20)
      const backlog = holdBacklog({ address, signal, count }, keys, LONG_TEXT)
      await sleep(QUEUE_AGE_MS)
      const enterprise = await createKey(address, 'enterprise')
      const wait = await waitFor(address, { key: enterprise }, signal)
      backlog.stop()
      return `an enterprise request waited ${wait}`
    },
  },
  {
    name: 'A6 64 beam searches take the seats',
    run: async ({ address, signal, count }) => {
      const [free = ''] = await createKeys(address, 1)
      const backlog = holdBacklog({ address, signal, count }, [free], { max_new_tokens: 2000, num_beams: 8 })
      await sleep(QUEUE_AGE_MS)
      const enterprise = await createKey(address, 'enterprise')
      const wait = await waitFor(address, { key: enterprise, options: { num_beams: 2 } }, signal)
      backlog.stop()
      return `an enterprise search waited ${wait}`
    },
  },
  { name: 'A7 20 accounts log in from 3 addresses', run: crowdLogins },
]

/** One free key sends a batch again and again, and leaves. @param {Scene} scene @param {string} body */
async function abortBatches({ address, signal, count }, body) {
  const key = await createKey(address, 'free')
  for (let i = 0; i < BATCHES && !signal.aborted; i++) {
    const request = { method: 'POST', path: '/v1/generate/batch', key, body, abortAfterMs: LEAVE_AFTER_MS }
    count(await send(address, request, signal))
  }
}

/** @param {string} address @param {number} count @returns {Promise<string[]>} free keys */
function createKeys(address, count) {
  return Promise.all(Array.from({ length: count }, () => createKey(address, 'free')))
}

/**
 * Each key keeps a batch there until they are stopped, smaller ones where there is no room for a large one.
 * @param {Scene} scene @param {readonly string[]} keys @param {object} options of each prompt
 */
function holdBacklog({ address, signal, count }, keys, options) {
  const stopping = stopWith(signal)
  for (const key of keys) void hold(key)
  return { stop: () => stopping.abort() }

  /** @param {string} key */
  async function hold(key) {
    for (let size = MAX_BATCH; !stopping.signal.aborted;) {
      const request = { method: 'POST', path: '/v1/generate/batch', key, body: batchOf(TEXT, options, size) }
      const { status } = await send(address, request, stopping.signal)
      count({ status })
      size = status === 429 ? Math.ceil(size / 2) : MAX_BATCH
      await sleep(RETRY_MS)
    }
  }
}

/**
 * Tries until a short request is answered. @param {string} address
 * @param {{ key: string, options?: object }} who @param {AbortSignal} signal @returns {Promise<string>} in words
 */
async function waitFor(address, { key, options = {} }, signal) {
  const startedMs = performance.now()
  const body = JSON.stringify({ prompt: 'Hello', max_new_tokens: 8, ...options })
  let refusals = 0
  for (;;) {
    const { status } = await send(address, { method: 'POST', path: '/v1/generate', key, body }, signal)
    const seconds = `${((performance.now() - startedMs) / 1000).toFixed(1)} s`
    if (status === 200) return refusals === 0 ? seconds : `${seconds}, refused ${refusals} times`
    if (signal.aborted) return `more than ${seconds}, refused ${refusals} times`
    refusals++
    await sleep(200)
  }
}

/**
 * Aborts with the signal, or before. Node 20 may collect the timer of `AbortSignal.any` and `timeout` unheard.
 * @param {AbortSignal} signal
 */
function stopWith(signal) {
  const stopping = new AbortController()
  // Every open request listens.
  setMaxListeners(0, stopping.signal)
  signal.addEventListener('abort', () => stopping.abort(), { once: true })
  return stopping
}

/** Right passwords of 20 accounts from three addresses, many at once; a victim tries from a fourth. @param {Scene} scene */
async function crowdLogins({ address, signal, count }) {
  const path = '/v1/auth/login'
  const emails = Array.from({ length: 21 }, (_, i) => `stall-${i}-${Date.now()}@example.com`)
  const bodies = emails.map((email) => JSON.stringify({ email, password: PASSWORD }))
  for (const body of bodies) await send(address, { method: 'POST', path: '/v1/auth/register', body }, signal)
  const [victim, ...crowd] = bodies
  const stopping = stopWith(signal)
  const over = stopping.signal
  setTimeout(() => stopping.abort(), LOGIN_MS)
  const lines = crowd.flatMap((body, i) =>
    Array.from({ length: LOGINS_AT_ONCE }, async () => {
      const from = `127.0.0.${2 + (i % 3)}`
      while (!over.aborted) {
        count(await send(address, { method: 'POST', path, body, from }, over))
        await sleep(5)
      }
    }),
  )
  let tries = 0
  let refused = 0
  let slowestMs = 0
  while (!over.aborted) {
    const { status, ms } = await send(
      address,
      { method: 'POST', path, body: victim ?? '', from: '127.0.0.9' },
      over,
    )
    if (status === 'aborted') break
    tries++
    if (status !== 200) refused++
    slowestMs = Math.max(slowestMs, ms)
    await sleep(100)
  }
  await Promise.all(lines)
  return `the victim was refused ${refused} of ${tries} times, slowest answer ${slowestMs.toFixed(0)} ms`
}
