// @ts-check
/** More conversations than slots: what a server keeps of those that lost theirs. */
import { startContenders, whileRunning } from '../servers/contenders.mjs'
import { closedLoop } from '../load/load-generator.mjs'
import { takeTurns } from '../load/rounds.mjs'
import { createRandom } from '../report/statistics.mjs'
import { readExchange } from '../load/stream-client.mjs'

const CONVERSATIONS = 64
const TURNS = 6
const SLOTS = 8
/** Half of the slots, so that none waits for one; a divisor of the conversations, so that one client asks all of one. */
const CLIENTS = 4
const FIRST_WORDS = 200
const LATER_WORDS = 40
const SLOT_TOKENS = 2048
/** Room for all of them, with the model of 125M: of both servers the same. */
const CACHE_MB = 4000
const BYTES_PER_MB = 1e6
const BYTES_PER_MIB = 2 ** 20
const WITHOUT = 'sluice, slots only'

/** @type {import('./index.mjs').Scenario} */
export const conversations = {
  id: 'conversations',
  title: 'More conversations than slots',
  about:
    `${CONVERSATIONS} conversations of ${TURNS} turns over ${SLOTS} slots, ${CLIENTS} of them asking at once, each in its turn; the first ` +
    `message has ${FIRST_WORDS} words, later ones ${LATER_WORDS}. When a turn comes, the slots have held others since: what a server keeps ` +
    `outside them shows in the TTFT of turns 2 to ${TURNS}. Both may keep ${CACHE_MB} MB (\`--prefix-cache-mb\`, llama-server's \`--cache-ram\`). ${WITHOUT}: with \`--prefix-cache-mb 0\`.`,
  fixedModel: null,
  shows: ['ttftP50Ms', 'ttftP99Ms', 'e2eP50Ms', 'outputTokensPerSecond'],
  run: async (bench) => {
    const tokens = bench.tokens ?? 32
    const rounded = Math.ceil((bench.requests ?? CONVERSATIONS) / CLIENTS) * CLIENTS
    const sizes = { slots: SLOTS, slotTokens: SLOT_TOKENS, api: /** @type {const} */ ('chat') }
    const contenders = await startContenders(bench, {
      ...sizes,
      words: ['--prefix-cache-mb', String(CACHE_MB)],
      peerWords: ['--cache-ram', String(Math.floor((CACHE_MB * BYTES_PER_MB) / BYTES_PER_MIB))],
    })
    const measured = await whileRunning(contenders, async () => {
      const words = ['--prefix-cache-mb', '0']
      const without = await startContenders({ ...bench, peer: null }, { ...sizes, words })
      const all = [...contenders, ...without.map((contender) => ({ ...contender, name: WITHOUT }))]
      return whileRunning(without, () =>
        takeTurns({
          contenders: all,
          rounds: bench.rounds,
          load: ({ send, protocol }, round) => {
            /** @type {{ role: string, content: string }[][]} */
            const said = Array.from({ length: rounded }, () => [])
            const asks = (rounded / CLIENTS) * (round < 0 ? 1 : TURNS)
            return closedLoop({ clients: CLIENTS, turns: asks }, async (client, ask) => {
              const place = ask * CLIENTS + client
              const conversation = place % rounded
              const turn = Math.floor(place / rounded)
              const messages = said[conversation] ?? []
              const length = turn === 0 ? FIRST_WORDS : LATER_WORDS
              const content = bench.model.words(createRandom(6, round, conversation, turn), length)
              messages.push({ role: 'user', content })
              const group = turn === 0 ? 'turn 1' : `turns 2 to ${TURNS}`
              const exchange = await send({ messages, newTokens: tokens, group })
              messages.push({ role: 'assistant', content: readExchange(exchange, protocol).text })
              return exchange
            })
          },
        }),
      )
    })
    return { parameters: { conversations: rounded, turns: TURNS, slots: SLOTS, tokens }, ...measured }
  },
}
