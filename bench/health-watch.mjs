// @ts-check
/**
 * A thread that asks for health on a connection of its own until it is told to stop, and then posts the milliseconds of
 * each answer. A thread, because whoever makes the load is busy.
 */
import http from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

const EVERY_MS = 100

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 })
/** @type {number[]} */
const latencies = []
let failures = 0
let isStopped = false
parentPort?.once('message', () => (isStopped = true))

while (!isStopped) {
  const startedMs = performance.now()
  await new Promise((resolve) => {
    const request = http.get(`${workerData.address}/v1/health`, { agent }, (response) => {
      if (response.statusCode !== 200) failures++
      response.resume().on('end', resolve)
    })
    request.on('error', () => resolve(failures++))
  })
  latencies.push(performance.now() - startedMs)
  await new Promise((resolve) => setTimeout(resolve, EVERY_MS))
}
agent.destroy()
parentPort?.postMessage({ latencies: latencies.toSorted((a, b) => a - b), failures })
