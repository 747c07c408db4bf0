// @ts-check
/** More clients than slots, of all three tiers: whom does the waiting queue serve first? */
import { startContenders, whileRunning } from '../servers/contenders.mjs'
import { closedLoop } from '../load/load-generator.mjs'
import { takeTurns } from '../load/rounds.mjs'
import { createKey } from '../servers/serve.mjs'
import { createRandom } from '../report/statistics.mjs'

const SLOTS = 8
const SLOT_TOKENS = 512
const TURNS = 3
const PROMPT_WORDS = 32
/** One key each: a free one may have one request under way. */
const CLIENTS = { free: 12, pro: 8, enterprise: 4 }

/** @type {import('./index.mjs').Scenario} */
export const tiers = {
  id: 'tiers',
  title: 'Mixed tiers',
  about: `${Object.entries(CLIENTS)
    .map(([tier, count]) => `${count} ${tier}`)
    .join(', ')} clients in closed loops on ${SLOTS} slots, served by priority. The peer has no tiers.`,
  fixedModel: null,
  shows: ['ttftP50Ms', 'ttftP99Ms', 'queueP50Ms', 'e2eP50Ms'],
  run: async (bench) => {
    const tokens = bench.tokens ?? 24
    const [ours, ...others] = await startContenders(
      { ...bench, peer: null },
      {
        ...{ slots: SLOTS, slotTokens: SLOT_TOKENS, api: 'completion' },
        words: ['--schedule-policy', 'priority'],
      },
    )
    const contenders = ours === undefined ? others : [ours]
    const measured = await whileRunning(contenders, async () => {
      const keys = await createKeys(ours?.address ?? '')
      return takeTurns({
        contenders,
        rounds: bench.rounds,
        load: ({ send }, round) =>
          closedLoop({ clients: keys.length, turns: round < 0 ? 1 : TURNS }, (client, turn) => {
            const prompt = bench.model.words(createRandom(6, round, client, turn), PROMPT_WORDS)
            const { key = '', tier = '' } = keys[client] ?? {}
            return send({ prompt, newTokens: tokens, key, group: tier })
          }),
      })
    })
    return { parameters: { ...CLIENTS, turns: TURNS, tokens, promptWords: PROMPT_WORDS }, ...measured }
  },
}

/** @param {string} address */
async function createKeys(address) {
  const wanted = Object.entries(CLIENTS).flatMap(([tier, count]) => Array.from({ length: count }, () => tier))
  return Promise.all(wanted.map(async (tier) => ({ tier, key: await createKey(address, tier) })))
}
