// @ts-check
/** Plain requests that are answered at once: how long one takes alone, and how many a second at full load. */
import { execFile } from 'node:child_process'
import http from 'node:http'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const LOAD = fileURLToPath(new URL('load.mjs', import.meta.url))
const agent = new http.Agent({ keepAlive: true })

/** @typedef {{ address: string, key: string }} Target */

/** Resolves when the whole answer is here. @param {Target} target @param {string} body @returns {Promise<string>} */
export function askGenerate(target, body) {
  return ask(target, { method: 'POST', path: '/v1/generate', body })
}

/** Resolves when the whole answer is here. @param {Target} target @param {string} path @returns {Promise<string>} */
export function readPath(target, path) {
  return ask(target, { method: 'GET', path, body: null })
}

/** @param {Target} target @param {{ method: string, path: string, body: string | null }} what @returns {Promise<string>} */
function ask({ address, key }, { method, path, body }) {
  return new Promise((resolve, reject) => {
    const headers = { ...(body === null ? {} : describeBody(body)), ...authorization(key) }
    const request = http.request(`${address}${path}`, { method, agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => (text += chunk))
      response.on('end', () => {
        if (response.statusCode === 200) resolve(text)
        else reject(new Error(`status ${response.statusCode}: ${text.slice(0, 200)}`))
      })
    })
    request.on('error', reject)
    request.end(body ?? undefined)
  })
}

/** One after the other, in milliseconds. @param {Target} target @param {string} body @param {number} count */
export async function askInTurn(target, body, count) {
  const latencies = []
  for (let asked = 0; asked < count; asked++) {
    const startedMs = performance.now()
    await askGenerate(target, body)
    latencies.push(performance.now() - startedMs)
  }
  return latencies
}

/**
 * From a process of its own, on many connections at once. Several keys take turns, request by request.
 * @param {{ address: string, keys: readonly string[] }} target @param {string} body
 * @param {{ connections: number, ms: number }} load
 * @returns {Promise<{ answers: number, seconds: number, cpuSeconds: number }>}
 */
export async function askAtFullLoad({ address, keys }, body, load) {
  const { hostname, port } = new URL(address)
  const requests = keys.map((key) => {
    const head = { host: hostname, ...describeBody(body), ...authorization(key) }
    const lines = Object.entries(head).map(([name, value]) => `${name}: ${value}\r\n`)
    return `POST /v1/generate HTTP/1.1\r\n${lines.join('')}\r\n${body}`
  })
  const words = JSON.stringify({ port: Number(port), requests, pipelined: 1, ...load })
  const { stdout } = await promisify(execFile)(process.execPath, [LOAD, words])
  return JSON.parse(stdout)
}

/** @param {string} body */
function describeBody(body) {
  return { 'content-type': 'application/json', 'content-length': body.length }
}

/** @param {string} key */
function authorization(key) {
  return key === '' ? {} : { authorization: `Bearer ${key}` }
}
