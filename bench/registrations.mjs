// @ts-check
/**
 * `node bench/registrations.mjs`: registrations and logins per second of the built server, and how long one takes when
 * nobody else asks. Nearly all of it is the hashing of the password, which is meant to be slow.
 *
 *   node bench/registrations.mjs [--count 200] [--clients 8]
 */
import http from 'node:http'
import os from 'node:os'
import { parseArgs } from 'node:util'
import { startServer } from './servers/serve.mjs'

const { values } = parseArgs({
  options: { count: { type: 'string', default: '200' }, clients: { type: 'string', default: '8' } },
})
const count = Number(values.count)
const clients = Number(values.clients)

/** One address may try 100 a minute, so the users come from several of this machine. */
const USERS_OF_AN_ADDRESS = 90

/** @param {string} url @param {number} user @returns {Promise<void>} */
function post(url, user) {
  const localAddress = `127.0.1.${1 + Math.floor(user / USERS_OF_AN_ADDRESS)}`
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' }
    const request = http.request(url, { method: 'POST', headers, localAddress }, (answer) => {
      const { statusCode } = answer.on('end', resolve).resume()
      if (statusCode !== 200) reject(new Error(`status ${statusCode}`))
    })
    request.on('error', reject)
    request.end(JSON.stringify({ email: `user-${user}@example.org`, password: 'correct horse battery' }))
  })
}

/** @param {string} url @param {{ from: number, width: number }} users @returns {Promise<{ perSecond: number, medianMs: number }>} */
async function measure(url, { from, width }) {
  /** @type {number[]} */
  const latencies = []
  let next = from
  const startedMs = performance.now()
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (next < from + count) {
        const user = next++
        const askedMs = performance.now()
        await post(url, user)
        latencies.push(performance.now() - askedMs)
      }
    }),
  )
  const perSecond = count / ((performance.now() - startedMs) / 1000)
  return { perSecond, medianMs: latencies.toSorted((a, b) => a - b)[Math.floor(count / 2)] ?? Number.NaN }
}

const server = await startServer([])
try {
  process.stdout.write(
    `${os.cpus()[0]?.model ?? 'unknown CPU'}, ${os.availableParallelism()} cores, Node ${process.versions.node}\n`,
  )
  for (const route of ['register', 'login']) {
    const url = `${server.address}/v1/auth/${route}`
    for (const [turn, width] of [1, clients].entries()) {
      const { perSecond, medianMs } = await measure(url, { from: turn * count, width })
      process.stdout.write(
        `${route.padEnd(8)} ${String(width).padStart(3)} at once  ${perSecond.toFixed(0).padStart(4)} a second  ${medianMs.toFixed(1).padStart(6)} ms median\n`,
      )
    }
  }
} finally {
  await server.stop()
}
