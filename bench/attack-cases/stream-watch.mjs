// @ts-check
/**
 * A process that streams from the server without an end, one stream after the other, and answers each message with the
 * longest gap between two pieces of a stream and the longest wait for a first piece since the last message, those that still
 * last included. A process, because whoever makes the load is busy.
 *
 *   node stream-watch.mjs ADDRESS KEY
 */
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const BODY = JSON.stringify({ prompt: 'Once upon a time', max_new_tokens: 1500, temperature: 0.9 })
const PAUSE_AFTER_FAILURE_MS = 100

const [, , address, key] = process.argv
const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
let pieces = 0
let failures = 0
let maxGapMs = 0
let maxStartMs = 0
/** Since when a piece is waited for, and whether it is the first of its stream. */
let waiting = { sinceMs: performance.now(), isFirst: true }

function endWait() {
  const waitedMs = performance.now() - waiting.sinceMs
  if (waiting.isFirst) maxStartMs = Math.max(maxStartMs, waitedMs)
  else maxGapMs = Math.max(maxGapMs, waitedMs)
  return waitedMs
}

process.on('message', () => {
  const openMs = endWait()
  process.send?.({ pieces, failures, maxGapMs, maxStartMs, openMs })
  // What still lasts is counted from its beginning again: a wait across two messages has its whole length in the second.
  pieces = failures = maxGapMs = maxStartMs = 0
})
// Whatever it waits for: a server that was killed may leave a question without an answer.
process.once('disconnect', () => process.exit())
if (!process.connected) process.exit()

/** Resolves when the stream is over, with whether it came to its end. @returns {Promise<boolean>} */
function stream() {
  return new Promise((resolve) => {
    waiting = { sinceMs: performance.now(), isFirst: true }
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const options = { method: 'POST', agent, headers: { ...headers, 'content-length': BODY.length } }
    const request = http.request(`${address}/v1/generate/stream`, options, (response) => {
      response.setEncoding('latin1')
      response.on('data', (text) => {
        // What is sent while a request waits is no piece of its text.
        if (response.statusCode !== 200 || text.startsWith(':')) return
        endWait()
        pieces++
        waiting = { sinceMs: performance.now(), isFirst: false }
      })
      response.on('end', () => resolve(response.statusCode === 200))
      response.on('error', () => resolve(false))
    })
    request.on('error', () => resolve(false))
    request.end(BODY)
  })
}

while (true) {
  if (await stream()) continue
  failures++
  await sleep(PAUSE_AFTER_FAILURE_MS)
}
