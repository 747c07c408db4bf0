// @ts-check
/** Starts the built server for a measurement, and speaks to it as clients do. */
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import http from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'

export const KEY = 'bench-key-0123456789'
export const ADMIN_KEY = 'bench-admin-key-0123456789'
/** More than one client can ask for: the limit is counted, and never reached. */
const RATE_LIMIT_RPM = 1_000_000
const COLLECT_ON_SIGNAL = new URL('collect-on-signal.mjs', import.meta.url).href
const LOOP_DELAY = new URL('loop-delay.mjs', import.meta.url).href
const BIN = fileURLToPath(new URL('../../bin/sluice.js', import.meta.url))

/** @typedef {{ address: string, pid: number, takeLog: () => any[], stop: () => Promise<void> }} Server */

/**
 * @param {string[]} words
 * @param {{ keepsLog?: boolean, collectsGarbage?: boolean, profileTo?: string, loopDelaysTo?: string }} [options] whether
 *   `takeLog` gives the lines since it was last called; whether SIGUSR2 makes the server collect its garbage; folders for a
 *   CPU profile and for the delays of event loops (`loop-delay.mjs`, in place of collecting garbage)
 * @returns {Promise<Server>}
 */
export async function startServer(words, options = {}) {
  const { keepsLog = false, collectsGarbage = false, profileTo, loopDelaysTo } = options
  const dataDir = mkdtempSync(path.join(tmpdir(), 'sluice-bench-'))
  const profiler = profileTo === undefined ? [] : ['--cpu-prof', '--cpu-prof-dir', profileTo]
  const child = spawn(
    process.execPath,
    [
      ...profiler,
      BIN,
      'serve',
      '--port',
      '0',
      '--api-keys',
      KEY,
      '--admin-key',
      ADMIN_KEY,
      '--data-dir',
      dataDir,
      ...words,
    ],
    {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env,
        ...(collectsGarbage && { NODE_OPTIONS: `--import ${COLLECT_ON_SIGNAL}` }),
        ...(loopDelaysTo !== undefined && {
          NODE_OPTIONS: `--import ${LOOP_DELAY}`,
          BENCH_LOOP_DELAYS: loopDelaysTo,
        }),
      },
    },
  )
  /** @type {Buffer[]} */
  let log = []
  const ended = new Promise((resolve) => child.once('close', resolve))
  let output = ''
  const address = await new Promise((resolve, reject) => {
    const look = (/** @type {Buffer} */ chunk) => {
      output += chunk.toString()
      const found = /listening on (\S+)/.exec(output)?.[1]
      // The log line comes when the model is loaded; the passthrough model needs none.
      if (found === undefined || (!output.includes('"serving"') && words.includes('--checkpoint'))) return
      // From here on the log is read and dropped or kept unread: it must cost the measuring process nothing.
      for (const stream of [child.stdout, child.stderr]) stream.off('data', look).resume()
      if (keepsLog) child.stderr.on('data', (chunk) => log.push(chunk))
      resolve(found)
    }
    child.stdout.on('data', look)
    child.stderr.on('data', look)
    void ended.then(() => reject(new Error(`the server ended: ${output}`)))
  })
  return {
    address,
    pid: child.pid ?? 0,
    takeLog: () => {
      const taken = Buffer.concat(log)
      const end = taken.lastIndexOf('\n') + 1
      log = [taken.subarray(end)]
      const lines = taken.toString('utf8', 0, end).split('\n')
      return lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
    },
    stop: async () => {
      child.kill('SIGTERM')
      await ended
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/**
 * A stored key whose rate is no limit to a measurement.
 * @param {string} address @param {string} tier @returns {Promise<string>}
 */
export async function createKey(address, tier) {
  const headers = { authorization: `Bearer ${ADMIN_KEY}` }
  const created = await fetch(`${address}/v1/admin/keys?tier=${tier}`, { method: 'POST', headers })
  const { id, key } = /** @type {{ id: string, key: string }} */ (await created.json())
  await fetch(`${address}/v1/admin/keys/${id}?rate_limit_rpm=${RATE_LIMIT_RPM}`, { method: 'PATCH', headers })
  return key
}

/** Registers a model, and waits until it serves. @param {string} address @param {string} id @param {string} checkpoint */
export async function addModel(address, id, checkpoint) {
  const headers = { authorization: `Bearer ${ADMIN_KEY}`, 'content-type': 'application/json' }
  const body = JSON.stringify({ id, checkpoint })
  const answer = await fetch(`${address}/v1/admin/models?wait=true`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(`cannot add a model: ${await answer.text()}`)
  await answer.text()
}

/**
 * Streams one chat to its end. Resolves with the number of tokens it made.
 * @param {string} address @param {object} body @returns {Promise<number>}
 */
export function streamChat(address, body) {
  return new Promise((resolve, reject) => {
    const request = http.request(
      `${address}/v1/chat/completions`,
      {
        method: 'POST',
        agent,
        headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      },
      (response) => {
        let tail = ''
        response.setEncoding('utf8')
        // Parsing every chunk would measure the client: the last one holds the count.
        response.on('data', (text) => (tail = (tail + text).slice(-1000)))
        response.on('end', () => {
          const counts = [...tail.matchAll(/"completion_tokens":(\d+)/g)]
          const last = counts.at(-1)?.[1]
          if (last === undefined) reject(new Error(`no usage in: ${tail}`))
          else resolve(Number(last))
        })
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(JSON.stringify({ ...body, stream: true, stream_options: { include_usage: true } }))
  })
}

const agent = new http.Agent({ keepAlive: true })
