// @ts-check
/** Everybody at once, again and again: three times as many requests as there are slots. */
import { startContenders, whileRunning } from '../servers/contenders.mjs'
import { openLoop } from '../load/load-generator.mjs'
import { measureRawLoop } from '../loops/measure-raw-loop.mjs'
import { takeTurns } from '../load/rounds.mjs'
import { createRandom } from '../report/statistics.mjs'

const SLOTS = 8
const SLOT_TOKENS = 512
const BURSTS = 3
const PROMPT_WORDS = 32
/** How much longer the time between two bursts is than the raw loop would decode one. */
const PAUSE = 2

/** @type {import('./index.mjs').Scenario} */
export const bursts = {
  id: 'bursts',
  title: 'Bursts',
  about: `${BURSTS} bursts of three times as many requests at one moment as there are slots (${SLOTS}).`,
  fixedModel: null,
  shows: ['ttftP50Ms', 'ttftP99Ms', 'e2eP50Ms', 'outputTokensPerSecond'],
  run: async (bench) => {
    const tokens = bench.tokens ?? 24
    const size = bench.requests ?? 3 * SLOTS
    const everyMs =
      bench.rate === null
        ? (PAUSE * 1000 * size * tokens) / measureRawLoop(bench, { sequences: SLOTS, tokens: 32 })
        : (1000 * size) / bench.rate
    const contenders = await startContenders(bench, {
      ...{ slots: SLOTS, slotTokens: SLOT_TOKENS, api: 'completion' },
    })
    const measured = await whileRunning(contenders, () =>
      takeTurns({
        contenders,
        rounds: bench.rounds,
        load: ({ send }, round) => {
          const random = createRandom(2, round)
          const count = round < 0 ? SLOTS : size * BURSTS
          const arrivals = Array.from({ length: count }, (_, index) => Math.floor(index / size) * everyMs)
          return openLoop(arrivals, (_, dueMs) => {
            const prompt = bench.model.words(random, PROMPT_WORDS)
            return send({ prompt, newTokens: tokens }, dueMs)
          })
        },
      }),
    )
    return {
      parameters: { bursts: BURSTS, burstRequests: size, everyMs, tokens, promptWords: PROMPT_WORDS },
      ...measured,
    }
  },
}
