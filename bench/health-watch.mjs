// @ts-check
/**
 * A process that asks the server at the address it is given for health, on a connection of its own, until it is sent a
 * message, and then sends the milliseconds of each answer. A process, because whoever makes the load is busy.
 */
import http from 'node:http'

const EVERY_MS = 100

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
/** @type {number[]} */
const latencies = []
let failures = 0
const stop = new AbortController()
process.once('message', () => stop.abort())

while (!stop.signal.aborted) {
  const startedMs = performance.now()
  await new Promise((resolve) => {
    const request = http.get(`${process.argv[2]}/v1/health`, { agent }, (response) => {
      if (response.statusCode !== 200) failures++
      response.resume().on('end', resolve)
    })
    request.on('error', () => resolve(failures++))
  })
  latencies.push(performance.now() - startedMs)
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
}
agent.destroy()
process.send?.({ latencies: latencies.toSorted((a, b) => a - b), failures })
