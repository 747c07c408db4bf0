// @ts-check
/**
 * A process that asks the server at the address it is given for health, on a connection of its own, and answers each
 * message with the milliseconds of every answer since the last one, and for how long the open one has been waited for. A
 * process, because whoever makes the load is busy.
 *
 *   node health-watch.mjs ADDRESS [MILLISECONDS FROM AN ANSWER TO THE NEXT QUESTION]
 */
import http from 'node:http'

const EVERY_MS = Number(process.argv[3] ?? 100)

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
/** @type {number[]} */
let latencies = []
let failures = 0
/** When the question was asked that has no answer yet. @type {number | null} */
let openSinceMs = null
process.on('message', () => {
  const openMs = openSinceMs === null ? 0 : performance.now() - openSinceMs
  process.send?.({ latencies, failures, openMs })
  latencies = []
  failures = 0
})
// Whatever it waits for: a server that was killed may leave a question without an answer.
process.once('disconnect', () => process.exit())
if (!process.connected) process.exit()

while (true) {
  const startedMs = performance.now()
  openSinceMs = startedMs
  await new Promise((resolve) => {
    const request = http.get(`${process.argv[2]}/v1/health`, { agent }, (response) => {
      if (response.statusCode !== 200) failures++
      response.resume().on('end', resolve)
    })
    request.on('error', () => resolve(failures++))
  })
  latencies.push(performance.now() - startedMs)
  openSinceMs = null
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
}
