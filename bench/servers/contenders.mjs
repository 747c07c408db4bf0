// @ts-check
/** The servers that a scenario compares, side by side on the same model file with the same slots and threads. */
import { startLlamaServer } from './llama-server.mjs'
import { PROTOCOLS } from '../load/protocols.mjs'
import { KEY, startServer } from './serve.mjs'
import { sendStream } from '../load/stream-client.mjs'

/** @typedef {import('../load/protocols.mjs').Ask} Ask */
/** @typedef {import('../scenarios/index.mjs').Bench} Bench */

/**
 * @typedef {object} Contender
 * @property {string} name
 * @property {string} address
 * @property {number} pid
 * @property {import('../load/protocols.mjs').Protocol} protocol
 * @property {(ask: Ask, dueMs?: number) => Promise<import('../load/stream-client.mjs').Exchange>} send
 * @property {(() => any[]) | null} takeLog null for one whose log says nothing of single requests
 * @property {() => Promise<void>} stop
 */

/**
 * Ours, and the peer when there is one; the caller stops them.
 * @param {Bench} bench
 * @param {{ slots: number, slotTokens: number, api: 'completion' | 'chat', words?: string[], peerWords?: string[] }} options further
 *   words of each command line
 * @returns {Promise<Contender[]>}
 */
export async function startContenders(bench, { slots, slotTokens, api, words = [], peerWords = [] }) {
  const { model, threads, gpu, peer } = bench
  const ours = await startServer(
    [
      ...['--checkpoint', model.path, '--max-batch-size', String(slots), '--max-seq-len', String(slotTokens)],
      ...['--threads', String(threads), '--gpu', gpu, ...words],
    ],
    { keepsLog: true },
  )
  const contenders = [toContender('sluice', ours, PROTOCOLS.sluice[api])]
  if (peer === null) return contenders
  try {
    const theirs = await startLlamaServer(peer, {
      ...{ model: model.path, slots, slotTokens, threads, gpu, words: peerWords },
    })
    return [...contenders, toContender('llama-server', theirs, PROTOCOLS['llama-server'][api])]
  } catch (error) {
    await ours.stop()
    throw error
  }
}

/**
 * @param {string} name
 * @param {{ address: string, pid: number, takeLog?: () => any[], stop: () => Promise<void> }} server
 * @param {import('../load/protocols.mjs').Protocol} protocol @returns {Contender}
 */
function toContender(name, { address, pid, takeLog, stop }, protocol) {
  const target = { address, key: takeLog === undefined ? '' : KEY, protocol }
  return {
    ...{ name, address, pid, protocol, takeLog: takeLog ?? null, stop },
    send: (ask, dueMs) => sendStream(target, ask, dueMs),
  }
}

/** Stops all servers whatever happened. @template T @param {{ stop: () => Promise<void> }[]} servers @param {() => Promise<T>} work @returns {Promise<T>} */
export async function whileRunning(servers, work) {
  try {
    return await work()
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
  }
}
