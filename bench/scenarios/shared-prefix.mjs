// @ts-check
/** An application's users: one long system prompt, many short questions. */
import { startContenders, whileRunning } from '../servers/contenders.mjs'
import { closedLoop } from '../load/load-generator.mjs'
import { takeTurns } from '../load/rounds.mjs'
import { createRandom } from '../report/statistics.mjs'

const CLIENTS = 16
const SYSTEM_WORDS = 800
const QUESTION_WORDS = 16
const SLOT_TOKENS = 1280
const GROUPS = ['nobody has asked yet', 'asked before']

/** @type {import('./index.mjs').Scenario} */
export const sharedPrefix = {
  id: 'shared-prefix',
  title: 'Shared system prompt',
  about:
    `${CLIENTS} clients chat at once below one system prompt of ${SYSTEM_WORDS} words that is new in each round, each twice with ` +
    'other questions.',
  fixedModel: null,
  shows: ['ttftP50Ms', 'ttftP99Ms', 'e2eP50Ms', 'outputTokensPerSecond'],
  run: async (bench) => {
    const tokens = bench.tokens ?? 16
    const clients = bench.requests ?? CLIENTS
    const contenders = await startContenders(bench, {
      ...{ slots: CLIENTS, slotTokens: SLOT_TOKENS, api: 'chat' },
    })
    const measured = await whileRunning(contenders, () =>
      takeTurns({
        contenders,
        rounds: bench.rounds,
        load: ({ send }, round) => {
          const random = createRandom(4, round)
          const system = bench.model.words(random, round < 0 ? QUESTION_WORDS : SYSTEM_WORDS)
          return closedLoop({ clients, turns: GROUPS.length }, (client, turn) => {
            const question = bench.model.words(createRandom(4, round, client, turn), QUESTION_WORDS)
            const messages = [
              { role: 'system', content: system },
              { role: 'user', content: question },
            ]
            return send({ messages, newTokens: tokens, group: GROUPS[turn] ?? '' })
          })
        },
      }),
    )
    return {
      parameters: { clients, systemWords: SYSTEM_WORDS, questionWords: QUESTION_WORDS, tokens },
      ...measured,
    }
  },
}
