// @ts-check
/** Conversations: each turn sends all that was said before. */
import { startContenders, whileRunning } from '../servers/contenders.mjs'
import { closedLoop } from '../load/load-generator.mjs'
import { takeTurns } from '../load/rounds.mjs'
import { createRandom } from '../report/statistics.mjs'
import { readExchange } from '../load/stream-client.mjs'

const CONVERSATIONS = 8
const TURNS = 4
const FIRST_WORDS = 200
const LATER_WORDS = 40
const SLOT_TOKENS = 2048

/** @type {import('./index.mjs').Scenario} */
export const multiTurn = {
  id: 'multi-turn',
  title: 'Conversations',
  about:
    `${CONVERSATIONS} conversations of ${TURNS} turns; the first message has ${FIRST_WORDS} words, later ones ${LATER_WORDS}. ` +
    'What a server keeps of a conversation shows in the TTFT of its later turns.',
  fixedModel: null,
  shows: ['ttftP50Ms', 'ttftP99Ms', 'e2eP50Ms', 'outputTokensPerSecond'],
  xAxis: { label: 'turn', isLogarithmic: false },
  run: async (bench) => {
    const tokens = bench.tokens ?? 32
    const conversations = bench.requests ?? CONVERSATIONS
    const contenders = await startContenders(bench, {
      ...{ slots: CONVERSATIONS, slotTokens: SLOT_TOKENS, api: 'chat' },
    })
    const measured = await whileRunning(contenders, () =>
      takeTurns({
        contenders,
        rounds: bench.rounds,
        load: ({ send, protocol }, round) => {
          /** @type {{ role: string, content: string }[][]} */
          const said = Array.from({ length: conversations }, () => [])
          return closedLoop(
            { clients: conversations, turns: round < 0 ? 1 : TURNS },
            async (client, turn) => {
              const messages = said[client] ?? []
              const words = turn === 0 ? FIRST_WORDS : LATER_WORDS
              const content = bench.model.words(createRandom(5, round, client, turn), words)
              messages.push({ role: 'user', content })
              const exchange = await send({
                messages,
                newTokens: tokens,
                group: `turn ${turn + 1}`,
              })
              messages.push({ role: 'assistant', content: readExchange(exchange, protocol).text })
              return exchange
            },
          )
        },
      }),
    )
    return { parameters: { conversations, turns: TURNS, tokens }, ...measured }
  },
}
