// @ts-check
/** Does memory grow with the requests that are over? Of the HTTP process and the engine, after collecting garbage. */
import { setTimeout as sleep } from 'node:timers/promises'
import { whileRunning } from '../servers/contenders.mjs'
import { askGenerate } from '../load/plain-requests.mjs'
import { readProcesses } from '../servers/processes.mjs'
import { createKey, startServer } from '../servers/serve.mjs'

const CLIENTS = 16
const REQUESTS = 100_000
/** Parts of all requests after which memory is read. */
const MARKS = [0.01, 0.03, 0.1, 0.3, 1]
const SETTLE_MS = 500

/** @type {import('./index.mjs').Scenario} */
export const memory = {
  id: 'memory',
  title: 'Memory after many requests',
  about:
    `Resident memory of all processes after so many requests of one token each to the bundled model, ${CLIENTS} at a time, each with ` +
    'another prompt, usage recorded; one round.',
  fixedModel: 'demo',
  shows: ['residentMb', 'requestsPerSecond'],
  xAxis: { label: 'requests', isLogarithmic: true },
  run: async (bench) => {
    const requests = bench.requests ?? REQUESTS
    const server = await startServer(
      [
        ...['--checkpoint', bench.model.path, '--max-batch-size', String(CLIENTS), '--max-seq-len', '256'],
        ...['--threads', String(bench.threads), '--gpu', bench.gpu],
      ],
      { collectsGarbage: true },
    )
    /** @type {import('../load/rounds.mjs').Row[]} */
    const rows = []
    await whileRunning([server], async () => {
      const target = { address: server.address, key: await createKey(server.address, 'enterprise') }
      let asked = 0
      for (const count of MARKS.map((part) => Math.round(part * requests))) {
        const startedMs = performance.now()
        const fresh = count - asked
        await Promise.all(
          Array.from({ length: CLIENTS }, async () => {
            while (asked < count) {
              asked++
              await askGenerate(target, JSON.stringify({ prompt: `Request ${asked}`, max_new_tokens: 1 }))
            }
          }),
        )
        const seconds = (performance.now() - startedMs) / 1000
        rows.push(await measure(server, { count, requestsPerSecond: fresh / seconds }))
      }
    })
    return { parameters: { requests, clients: CLIENTS }, rows }
  },
}

/** @param {{ pid: number }} server @param {{ count: number, requestsPerSecond: number }} done @returns {Promise<import('../load/rounds.mjs').Row>} */
async function measure({ pid }, { count, requestsPerSecond }) {
  // What has just ended is let go of first.
  await sleep(SETTLE_MS)
  process.kill(pid, 'SIGUSR2')
  await sleep(SETTLE_MS)
  const residentMb = readProcesses(pid).reduce((sum, { memoryMb }) => sum + memoryMb, 0)
  return {
    contender: 'sluice',
    group: `${count.toLocaleString('en-US')} requests`,
    rounds: [{ residentMb, requestsPerSecond }],
  }
}
