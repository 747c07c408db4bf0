// @ts-check
/** A fixed number of clients, each of which asks again as soon as it is answered, against the peer and the raw decode loop. */
import { startContenders, whileRunning } from '../servers/contenders.mjs'
import { closedLoop } from '../load/load-generator.mjs'
import { measureRawLoop, rawLoopPrompt } from '../loops/measure-raw-loop.mjs'
import { DEFAULT_SAMPLING, USUAL_SAMPLING } from '../load/protocols.mjs'
import { takeTurns } from '../load/rounds.mjs'

const SLOT_TOKENS = 512
/** A server is measured as it runs all day, not in its first seconds. */
const WARM_UP_MS = 10_000
/** So many requests in a round, but two of each client at least. */
const REQUESTS = 24
/** Large models are slow enough to be measured with fewer. */
const TOKENS = new Map([
  ['125m', 64],
  ['1.1b', 32],
])

/** @param {number} clients @returns {import('./index.mjs').Scenario} */
export const steady = (clients) =>
  closedLoopOf(clients, {
    id: `steady-${clients}`,
    title: clients === 1 ? 'One client' : `${clients} clients`,
    about:
      `A closed loop: ${clients === 1 ? 'one client asks' : `each of ${clients} clients asks`} again as soon as it is answered, ` +
      `${turnsOf(clients)} times a round, with short prompts. The raw loop is llama.cpp without a server, which computes the same ` +
      'prompts and answers side by side in one process: the limit.',
    sampling: USUAL_SAMPLING,
  })

/** @param {number} clients @returns {import('./index.mjs').Scenario} */
export const defaultSampling = (clients) =>
  closedLoopOf(clients, {
    id: `default-sampling-${clients}`,
    title: `${clients} clients, default sampling`,
    about:
      `As with ${clients} clients above, but with what our routes take when a request says nothing of sampling: temperature 1, ` +
      'no top_k, no top_p. Every token of the vocabulary may come.',
    sampling: DEFAULT_SAMPLING,
  })

/**
 * @param {number} clients
 * @param {{ id: string, title: string, about: string, sampling: import('../load/protocols.mjs').AskedSampling }} options
 * @returns {import('./index.mjs').Scenario}
 */
const closedLoopOf = (clients, { id, title, about, sampling }) => ({
  ...{ id, title, about },
  fixedModel: null,
  shows: ['outputTokensPerSecond', 'ttftP50Ms', 'itlP50Ms', 'itlP99Ms'],
  run: async (bench) => {
    const turns = turnsOf(clients)
    const tokens = bench.tokens ?? TOKENS.get(bench.model.name) ?? 128
    const contenders = await startContenders(bench, {
      ...{ slots: clients, slotTokens: SLOT_TOKENS, api: 'completion' },
    })
    const measured = await whileRunning(contenders, () =>
      takeTurns({
        contenders,
        rounds: bench.rounds,
        warmUpMs: WARM_UP_MS,
        load: ({ send }, round) =>
          closedLoop({ clients, turns }, (client, turn) => {
            const number = ((round + 1) * turns + turn) * clients + client
            return send({ prompt: rawLoopPrompt(number), newTokens: tokens, sampling })
          }),
        beside: async () => ({
          contender: 'raw loop',
          group: null,
          rounds: [
            { outputTokensPerSecond: measureRawLoop(bench, { sequences: clients, tokens, turns, sampling }) },
          ],
        }),
      }),
    )
    return { parameters: { clients, turns, tokens }, ...measured }
  },
})

/** @param {number} clients */
function turnsOf(clients) {
  return Math.max(2, REQUESTS / clients)
}
