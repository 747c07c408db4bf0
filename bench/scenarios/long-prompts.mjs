// @ts-check
/** Prompts of a thousand tokens arrive among streams that are running: how long do those stand still? */
import { startContenders, whileRunning } from '../servers/contenders.mjs'
import { closedLoop, openLoop } from '../load/load-generator.mjs'
import { gapsOf, takeTurns } from '../load/rounds.mjs'
import { createRandom, percentile, poissonArrivals } from '../report/statistics.mjs'

const SLOTS = 8
const SLOT_TOKENS = 2048
const STREAMS = 4
const STREAM_TOKENS = 200
const LONG_WORDS = 1000
const LONG_TOKENS = 8
/** Part of the time that the prompts would take if they came one by one. */
const LOAD = 0.5
/** Nobody asks as often: the streams end when the prompts are through. */
const ENOUGH_TURNS = 1000

/** @type {import('./index.mjs').Scenario} */
export const longPrompts = {
  id: 'long-prompts',
  title: 'Long prompts among short streams',
  about:
    `${STREAMS} clients stream short answers in a closed loop while prompts of ${LONG_WORDS} words arrive at random moments. ` +
    'The gaps are those between the tokens of the running streams while a long prompt is read: from its arrival to its first token.',
  fixedModel: null,
  shows: ['gapP99Ms', 'gapMaxMs', 'itlP50Ms', 'outputTokensPerSecond'],
  run: async (bench) => {
    const count = bench.requests ?? 6
    const streamTokens = bench.tokens ?? STREAM_TOKENS
    const contenders = await startContenders(bench, {
      ...{ slots: SLOTS, slotTokens: SLOT_TOKENS, api: 'completion' },
    })
    return whileRunning(contenders, async () => {
      const ratePerSecond = bench.rate ?? LOAD / (await secondsOfLongPrompt(bench, contenders.at(-1)))
      const measured = await takeTurns({
        contenders,
        rounds: bench.rounds,
        load: (contender, round) =>
          loadRound(bench, contender, { round, ratePerSecond, count: round < 0 ? 1 : count, streamTokens }),
        more: (samples) => {
          const long = samples.filter(({ group }) => group === 'long prompts')
          // Not those of the calm between two prompts, of which there are the more the slower the prompts are read.
          const windows = long.map(({ dueMs, endMs, tokenMs }) => ({
            fromMs: dueMs,
            toMs: tokenMs[0] ?? endMs,
          }))
          const gaps = samples
            .filter(({ group }) => group === 'short streams')
            .flatMap((sample) => gapsOf(sample, windows))
          return { gapP99Ms: percentile(gaps, 99), gapMaxMs: percentile(gaps, 100) }
        },
      })
      return {
        parameters: {
          streams: STREAMS,
          streamTokens,
          longPrompts: count,
          longWords: LONG_WORDS,
          ratePerSecond,
        },
        ...measured,
      }
    })
  },
}

/**
 * @param {import('./index.mjs').Bench} bench @param {import('../servers/contenders.mjs').Contender} contender
 * @param {{ round: number, ratePerSecond: number, count: number, streamTokens: number }} options
 */
async function loadRound({ model }, { send }, { round, ratePerSecond, count, streamTokens }) {
  const random = createRandom(3, round)
  const arrivals = poissonArrivals({ ratePerSecond, count, random })
  const prompts = arrivals.map(() => model.words(random, LONG_WORDS))
  let isOver = false
  const streams = closedLoop(
    { clients: STREAMS, turns: ENOUGH_TURNS, isOver: () => isOver },
    (client, turn) => {
      const prompt = `Stream ${round} ${client} ${turn}: once upon a time`
      return send({ prompt, newTokens: streamTokens, group: 'short streams' })
    },
  )
  const long = await openLoop(arrivals, (index, dueMs) =>
    send({ prompt: prompts[index] ?? '', newTokens: LONG_TOKENS, group: 'long prompts' }, dueMs),
  )
  isOver = true
  return [...(await streams), ...long]
}

/** Alone, on the peer where there is one, so that the load stays the same when ours gets faster. @param {import('./index.mjs').Bench} bench @param {import('../servers/contenders.mjs').Contender | undefined} contender */
async function secondsOfLongPrompt({ model }, contender) {
  const prompt = model.words(createRandom(3), LONG_WORDS)
  const exchange = await contender?.send({ prompt, newTokens: LONG_TOKENS })
  return exchange === undefined ? 1 : (exchange.endMs - exchange.dueMs) / 1000
}
