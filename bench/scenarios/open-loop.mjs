// @ts-check
/** Users who know nothing of each other: Poisson arrivals at a rate that the machine can serve. */
import { startContenders, whileRunning } from '../servers/contenders.mjs'
import { openLoop } from '../load/load-generator.mjs'
import { measureRawLoop } from '../loops/measure-raw-loop.mjs'
import { takeTurns } from '../load/rounds.mjs'
import { createRandom, poissonArrivals } from '../report/statistics.mjs'

const SLOTS = 8
const SLOT_TOKENS = 512
const PROMPT_WORDS = 64
/** Of what the raw loop could decode. */
const LOAD = 0.6

/** @type {import('./index.mjs').Scenario} */
export const openLoopScenario = {
  id: 'open-loop',
  title: 'Poisson arrivals',
  about: `An open loop: requests arrive at random moments at ${LOAD} of the rate that the raw loop could decode, into ${SLOTS} slots.`,
  fixedModel: null,
  shows: ['ttftP50Ms', 'ttftP99Ms', 'itlP50Ms', 'e2eP50Ms'],
  run: async (bench) => {
    const tokens = bench.tokens ?? 48
    const count = bench.requests ?? 40
    const ratePerSecond =
      bench.rate ?? (measureRawLoop(bench, { sequences: SLOTS, tokens: 32 }) * LOAD) / tokens
    const contenders = await startContenders(bench, {
      ...{ slots: SLOTS, slotTokens: SLOT_TOKENS, api: 'completion' },
    })
    const measured = await whileRunning(contenders, () =>
      takeTurns({
        contenders,
        rounds: bench.rounds,
        load: ({ send }, round) => {
          const random = createRandom(1, round)
          const arrivals = poissonArrivals({ ratePerSecond, count: round < 0 ? SLOTS : count, random })
          return openLoop(arrivals, (_, dueMs) => {
            const prompt = bench.model.words(random, PROMPT_WORDS)
            return send({ prompt, newTokens: tokens }, dueMs)
          })
        },
      }),
    )
    return { parameters: { ratePerSecond, requests: count, tokens, promptWords: PROMPT_WORDS }, ...measured }
  },
}
