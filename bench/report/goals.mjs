// @ts-check
/** What the server is meant to reach, and how far it is: each a figure against another's of the same round. */
import { formatFigure } from './metrics.mjs'
import { rangeOf } from './statistics.mjs'

/** @typedef {import('../load/rounds.mjs').Row} Row */
/** @typedef {import('./results.mjs').Measurement} Measurement */

/**
 * @typedef {object} Goal
 * @property {string} what
 * @property {string} scenario
 * @property {string} metric
 * @property {string} contender
 * @property {string | null} group
 * @property {{ contender: string, group: string | null } | null} against null for a figure that stands alone
 * @property {'ratio' | 'difference' | 'figure'} compare
 * @property {{ least: number } | { most: number }} bound
 */

const OURS = /** @type {const} */ ({ contender: 'sluice', group: null, compare: 'ratio' })
const PEER = { contender: 'llama-server', group: null }
const RAW_LOOP = { contender: 'raw loop', group: null }
const GATED = /** @type {const} */ ({ scenario: 'passthrough', contender: 'all gates', group: null })
const BARE_ROUTE = { contender: 'bare Fastify route', group: null }
const LATER_TURNS = 'turns 2 to 6'
const COLD = 'nobody has asked yet'

/** @param {number} clients @param {number} least @returns {Goal[]} */
const throughput = (clients, least) => {
  const common = { ...OURS, scenario: `steady-${clients}`, metric: 'outputTokensPerSecond' }
  const what = `output tokens/s, ${clients} client${clients === 1 ? '' : 's'}`
  return [
    { ...common, what, against: PEER, bound: { least } },
    { ...common, what, against: RAW_LOOP, bound: { least: 0.95 } },
  ]
}

/** @type {Goal[]} */
export const GOALS = [
  ...throughput(1, 1),
  ...throughput(8, 1),
  ...throughput(32, 1.1),
  {
    ...OURS,
    what: 'p99 gap between tokens while 1,000-word prompts arrive',
    ...{ scenario: 'long-prompts', metric: 'gapP99Ms', against: PEER, bound: { most: 0.3 } },
  },
  {
    ...OURS,
    what: 'TTFT p50, 16 clients sharing an 800-word system prompt',
    ...{ scenario: 'shared-prefix', metric: 'ttftP50Ms', group: COLD },
    ...{ against: { ...PEER, group: COLD }, bound: { most: 0.2 } },
  },
  {
    ...OURS,
    what: 'TTFT p50 of turns 2 to 6, 64 conversations over 8 slots',
    ...{ scenario: 'conversations', metric: 'ttftP50Ms', group: LATER_TURNS },
    ...{ against: { ...PEER, group: LATER_TURNS }, bound: { most: 0.8 } },
  },
  {
    ...GATED,
    what: 'requests/s on the passthrough model, all gates on',
    ...{ metric: 'requestsPerSecond', against: BARE_ROUTE, compare: 'ratio', bound: { least: 0.5 } },
  },
  {
    ...GATED,
    what: 'latency p50 of the same, added',
    ...{ metric: 'latencyP50Ms', against: BARE_ROUTE, compare: 'difference', bound: { most: 0.5 } },
  },
  {
    ...OURS,
    what: 'start to first answer, bundled model',
    ...{
      scenario: 'start',
      metric: 'firstAnswerMs',
      against: null,
      compare: 'figure',
      bound: { most: 2000 },
    },
  },
  {
    ...OURS,
    what: 'resident memory after 100,000 requests',
    ...{ scenario: 'memory', metric: 'residentMb', group: '100,000 requests' },
    ...{ against: { contender: 'sluice', group: '1,000 requests' }, bound: { most: 1.1 } },
  },
]

/** The figures round by round; null when a side was not measured. @param {Goal} goal @param {Measurement} measurement */
export function measureGoal({ metric, contender, group, against, compare }, { rows }) {
  const ours = findRow(rows, { contender, group })
  const theirs = against === null ? null : findRow(rows, against)
  const figures = ours?.rounds.map(({ [metric]: figure }, round) => {
    if (compare === 'figure') return figure
    const other = theirs?.rounds[round]?.[metric]
    if (typeof figure !== 'number' || typeof other !== 'number') return null
    return compare === 'ratio' ? figure / other : figure - other
  })
  return rangeOf(figures ?? [])
}

/** @param {Goal} goal @param {number} figure */
export function isReached({ bound }, figure) {
  return 'least' in bound ? figure >= bound.least : figure <= bound.most
}

/** @param {Goal} goal @param {number} figure */
export function formatAgainstGoal({ compare, metric }, figure) {
  if (compare === 'ratio') return `${figure.toFixed(2)}×`
  const unit = metric.endsWith('Ms') ? ' ms' : ''
  return `${compare === 'difference' && figure >= 0 ? '+' : ''}${formatFigure(figure)}${unit}`
}

/** @param {Goal} goal */
export function formatBound(goal) {
  const { bound } = goal
  return 'least' in bound
    ? `≥ ${formatAgainstGoal(goal, bound.least)}`
    : `≤ ${formatAgainstGoal(goal, bound.most)}`
}

/** @param {Row[]} rows @param {{ contender: string, group: string | null }} wanted */
function findRow(rows, { contender, group }) {
  return rows.find((row) => row.contender === contender && row.group === group)
}
