// @ts-check
/**
 * What a request costs as the work grows: requests in flight, the length of the prompt, the number of slots. Each is a
 * sweep over points that take their turns in every round; only ours is measured.
 */
import { startContenders, whileRunning } from '../servers/contenders.mjs'
import { nameOfPoint } from '../report/growth-steps.mjs'
import { closedLoop } from '../load/load-generator.mjs'
import { takeTurns } from '../load/rounds.mjs'
import { createRandom, rangeOf } from '../report/statistics.mjs'

/** @typedef {import('../servers/contenders.mjs').Contender} Contender */
/** @typedef {import('../load/stream-client.mjs').Sample} Sample */

/**
 * @typedef {object} Sweep
 * @property {string} id
 * @property {string} title
 * @property {string} about
 * @property {string} unit of what grows
 * @property {readonly number[]} points
 * @property {string[]} shows
 * @property {boolean} hasOneServer whether all points are measured on one server; else each has its own, whose memory is its own
 * @property {(samples: Sample[]) => import('../load/rounds.mjs').Metrics} [more] figures that only this sweep has
 * @property {(point: number) => { slots: number, slotTokens: number }} server
 * @property {(point: number) => { clients: number, promptTokens: number, leastRequests: number, tokens: number }} load
 */

const DEFAULT_SLOTS = 8
const SHORT_PROMPT = 16
const LEAST_TURNS = 2

/** @type {Sweep[]} */
const SWEEPS = [
  {
    id: 'grow-waiting',
    title: 'From 1 to 256 requests in flight',
    about:
      `A closed loop of so many clients on ${DEFAULT_SLOTS} slots, with prompts of ${SHORT_PROMPT} tokens. Beyond ${DEFAULT_SLOTS} requests wait ` +
      'for a slot, so that the time to the first token is to grow with their number and the throughput to stay.',
    unit: 'requests',
    points: [1, 4, 16, 64, 256],
    shows: ['outputTokensPerSecond', 'ttftP50Ms', 'ttftP99Ms', 'httpMemoryMb', 'engineMemoryMb'],
    hasOneServer: false,
    server: () => ({ slots: DEFAULT_SLOTS, slotTokens: 256 }),
    load: (clients) => ({ clients, promptTokens: SHORT_PROMPT, leastRequests: 32, tokens: 16 }),
  },
  {
    id: 'grow-prompts',
    title: 'Prompts from 16 to 3,500 tokens',
    about:
      'One client, new prompts of so many random words, a token each. Attention reads all that came before, so a token is ' +
      'to cost more by the same amount for each one before it: much beside the few weights of this small model, most of it ' +
      'the flash attention of llama.cpp, which on a CPU is faster at long prompts and slower at the tokens behind them.',
    unit: 'tokens',
    points: [16, 128, 512, 1024, 2048, 3500],
    shows: ['prefillTokensPerSecond', 'ttftP50Ms', 'decodeTokensPerSecond'],
    hasOneServer: true,
    more: ratesOf,
    server: () => ({ slots: 1, slotTokens: 4096 }),
    load: (promptTokens) => ({ clients: 1, promptTokens, leastRequests: 3, tokens: 32 }),
  },
  {
    id: 'grow-slots',
    title: 'From 1 to 64 slots',
    about:
      'Servers with so many slots (`--max-batch-size`) of 256 tokens, each with as many clients in a closed loop. A step ' +
      'reads the weights once for all slots; where computing takes longer than reading, more slots wait for each other ' +
      'and add little. The engine holds the cache of every slot.',
    unit: 'slots',
    points: [1, 2, 4, 8, 16, 32, 64],
    shows: ['outputTokensPerSecond', 'itlP50Ms', 'httpMemoryMb', 'engineMemoryMb'],
    hasOneServer: false,
    server: (slots) => ({ slots, slotTokens: 256 }),
    load: (clients) => ({ clients, promptTokens: SHORT_PROMPT, leastRequests: 16, tokens: 32 }),
  },
]

/** @type {import('./index.mjs').Scenario[]} */
export const growth = SWEEPS.map((sweep) => ({
  ...{ id: sweep.id, title: sweep.title, about: sweep.about, shows: sweep.shows },
  fixedModel: '25m',
  xAxis: { label: sweep.unit, isLogarithmic: true },
  isSweep: true,
  run: (bench) => runSweep(sweep, { ...bench, peer: null }),
}))

/** @param {Sweep} sweep @param {import('./index.mjs').Bench} bench @returns {Promise<import('./index.mjs').Measured>} */
async function runSweep({ points, unit, hasOneServer, more, server, load }, bench) {
  /** @type {Contender[]} */
  const servers = []
  return whileRunning(servers, async () => {
    for (const point of hasOneServer ? points.slice(-1) : points) {
      servers.push(...(await startContenders(bench, { ...server(point), api: 'completion' })))
    }
    const contenders = points.flatMap((point, index) => {
      const contender = servers[hasOneServer ? 0 : index]
      return contender === undefined ? [] : [{ ...contender, name: nameOfPoint(point, unit) }]
    })
    const planOf = new Map(points.map((point) => [nameOfPoint(point, unit), load(point)]))
    const { rows, processes, errors } = await takeTurns({
      contenders,
      rounds: bench.rounds,
      load: async ({ name, send }, round) => {
        const plan = planOf.get(name)
        if (plan === undefined) return []
        const requests = bench.requests ?? plan.leastRequests
        const turns = round < 0 ? 1 : Math.max(LEAST_TURNS, Math.ceil(requests / plan.clients))
        return closedLoop({ clients: plan.clients, turns }, (client, turn) => {
          const random = createRandom(7, round, plan.promptTokens, client, turn)
          // The vocabulary's begin of text is the first token.
          const prompt = bench.model.words(random, plan.promptTokens - 1)
          return send({ prompt, newTokens: bench.tokens ?? plan.tokens })
        })
      },
      more,
    })
    return {
      parameters: { ...server(points.at(-1) ?? 1), ...load(points.at(-1) ?? 1) },
      rows: rows.map(({ contender, rounds }, index) => ({
        contender: 'sluice',
        group: contender,
        rounds: rounds.map((metrics, round) => ({
          ...metrics,
          ...(!hasOneServer && memoryOf(processes[index]?.rounds[round] ?? [])),
        })),
      })),
      errors,
    }
  })
}

/** Of the median request. @param {Sample[]} samples */
function ratesOf(samples) {
  const streamed = samples.filter(({ error, tokenMs }) => error === null && tokenMs.length > 1)
  const prefill = streamed.map(
    ({ promptTokens, dueMs, tokenMs: [firstMs = dueMs] }) => (promptTokens * 1000) / (firstMs - dueMs),
  )
  const decode = streamed.map(
    ({ completionTokens, tokenMs }) =>
      ((completionTokens - 1) * 1000) / ((tokenMs.at(-1) ?? 0) - (tokenMs[0] ?? 0)),
  )
  return {
    prefillTokensPerSecond: rangeOf(prefill)?.median ?? null,
    decodeTokensPerSecond: rangeOf(decode)?.median ?? null,
  }
}

/** The HTTP process comes first, its engine below it. @param {import('../load/rounds.mjs').ProcessUse[]} processes */
function memoryOf([http, ...engines]) {
  return {
    httpMemoryMb: http?.peakMemoryMb ?? null,
    engineMemoryMb: engines.reduce((sum, { peakMemoryMb }) => sum + peakMemoryMb, 0),
  }
}
