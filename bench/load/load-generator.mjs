// @ts-check
/**
 * The two shapes of load. In an open loop requests are sent when they are due, whether or not earlier ones were answered,
 * as users do who know nothing of each other; in a closed loop each client asks again once it is answered.
 */
import { setTimeout as sleep } from 'node:timers/promises'

/** @typedef {import('./stream-client.mjs').Exchange} Exchange */

/**
 * @param {readonly number[]} arrivalsMs from the start @param {(index: number, dueMs: number) => Promise<Exchange>} send
 * @returns {Promise<Exchange[]>}
 */
export async function openLoop(arrivalsMs, send) {
  const startedMs = performance.now()
  const exchanges = []
  for (const [index, arrivalMs] of arrivalsMs.entries()) {
    const dueMs = startedMs + arrivalMs
    await sleep(Math.max(0, dueMs - performance.now()))
    exchanges.push(send(index, dueMs))
  }
  return Promise.all(exchanges)
}

/**
 * @param {{ clients: number, turns: number, isOver?: () => boolean }} options a client that is over asks no more
 * @param {(client: number, turn: number) => Promise<Exchange>} send @returns {Promise<Exchange[]>}
 */
export async function closedLoop({ clients, turns, isOver = () => false }, send) {
  const perClient = await Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      const exchanges = []
      for (let turn = 0; turn < turns && !isOver(); turn++) exchanges.push(await send(client, turn))
      return exchanges
    }),
  )
  return perClient.flat()
}
