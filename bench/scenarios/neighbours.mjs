// @ts-check
/**
 * One stream beside processes that want the same cores, as on any machine that does more than serve: how much of the quiet
 * rate is left, and how long a reader waits for the next word at worst. The last row of ours is one of two models that are
 * busy at once.
 */
import { spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { startContenders, whileRunning } from '../servers/contenders.mjs'
import { closedLoop } from '../load/load-generator.mjs'
import { rawLoopPrompt } from '../loops/measure-raw-loop.mjs'
import { USUAL_SAMPLING } from '../load/protocols.mjs'
import { gapsOf, measureRound } from '../load/rounds.mjs'
import { addModel } from '../servers/serve.mjs'

const SLOT_TOKENS = 512
const TURNS = 12
/** A server is measured as it runs all day, not in its first seconds. */
const WARM_UP_MS = 10_000
const BUSY = 'for (;;);'
const SECOND_MODEL = 'second'
/** A neighbour is there for a while before it is measured. */
const SETTLE_MS = 500

/** How long one that comes and goes is there, and then is not. */
const STAY_MS = 2000
const AWAY_MS = 1000

/** @typedef {{ name: string, processes: number, nice: number, comesAndGoes?: boolean }} Neighbours */

/** @type {Neighbours[]} */
const NEIGHBOURS = [
  { name: 'no neighbour', processes: 0, nice: 0 },
  { name: '1 at nice 10', processes: 1, nice: 10 },
  { name: '1 at nice 0', processes: 1, nice: 0 },
  { name: '1 at nice 0 that comes and goes', processes: 1, nice: 0, comesAndGoes: true },
  { name: '2 at nice 10', processes: 2, nice: 10 },
  { name: '2 at nice 0', processes: 2, nice: 0 },
]

/** @type {import('./index.mjs').Scenario} */
export const neighbours = {
  id: 'neighbours',
  title: 'Beside busy processes',
  about:
    `One client, ${TURNS} answers one after the other, beside processes that compute all the time: none, one and two, at nice 10 ` +
    'and at nice 0, and one that is there for two seconds of three. The last row is one client of each of two models of one server at once; its rate is that of the first.',
  fixedModel: null,
  shows: ['outputTokensPerSecond', 'itlP99Ms', 'itlMaxMs', 'ttftP50Ms'],
  run: async (bench) => {
    const tokens = bench.tokens ?? 96
    const contenders = await startContenders(bench, { slots: 1, slotTokens: SLOT_TOKENS, api: 'completion' })
    /** @type {import('../load/rounds.mjs').Row[]} */
    const rows = []
    const add = (
      /** @type {string} */ contender,
      /** @type {string} */ group,
      /** @type {any} */ metrics,
    ) => {
      let row = rows.find((one) => one.contender === contender && one.group === group)
      if (row === undefined) rows.push((row = { contender, group, rounds: [] }))
      row.rounds.push(metrics)
    }
    let asked = 0
    const load = (/** @type {any} */ { send }, turns = TURNS, ask = {}) =>
      closedLoop({ clients: 1, turns }, () =>
        send({ prompt: rawLoopPrompt(asked++), newTokens: tokens, sampling: USUAL_SAMPLING, ...ask }),
      )
    const warmUp = async (/** @type {any} */ contender, ask = {}) => {
      const startedMs = performance.now()
      while (performance.now() - startedMs < WARM_UP_MS) await load(contender, 1, ask)
    }
    await whileRunning(contenders, async () => {
      for (const contender of contenders) await warmUp(contender)
      for (let round = 0; round < bench.rounds; round++) {
        for (const kind of NEIGHBOURS) {
          for (const contender of contenders) {
            add(
              contender.name,
              kind.name,
              await beside(kind, () => measure(contender, () => load(contender))),
            )
          }
        }
        const [ours] = contenders
        if (ours === undefined) continue
        await addModel(ours.address, SECOND_MODEL, bench.model.path)
        await warmUp(ours, { model: SECOND_MODEL })
        let isOver = false
        const other = closedLoop({ clients: 1, turns: Number.POSITIVE_INFINITY, isOver: () => isOver }, () =>
          ours.send({ prompt: rawLoopPrompt(asked++), newTokens: tokens, model: SECOND_MODEL }),
        )
        await sleep(SETTLE_MS)
        add(ours.name, 'another model', await measure(ours, () => load(ours)))
        isOver = true
        await other
      }
    })
    return { parameters: { turns: TURNS, tokens }, rows }
  },
}

/** @param {import('../servers/contenders.mjs').Contender} contender @param {() => Promise<import('../load/stream-client.mjs').Exchange[]>} load */
async function measure(contender, load) {
  const { metrics, samples } = await measureRound(contender, load)
  return { ...metrics, itlMaxMs: Math.max(...samples.flatMap((sample) => gapsOf(sample))) }
}

/** @template T @param {Neighbours} neighbours @param {() => Promise<T>} work @returns {Promise<T>} */
async function beside({ processes, nice, comesAndGoes = false }, work) {
  const start = () =>
    Array.from({ length: processes }, () =>
      spawn('nice', ['-n', String(nice), process.execPath, '-e', BUSY], { stdio: 'ignore' }),
    )
  let busy = start()
  const end = () => busy.forEach((child) => child.kill('SIGKILL'))
  /** @type {NodeJS.Timeout | undefined} */
  let change
  const come = () => {
    busy = start()
    change = setTimeout(leave, STAY_MS)
  }
  const leave = () => {
    end()
    change = setTimeout(come, AWAY_MS)
  }
  if (comesAndGoes) change = setTimeout(leave, STAY_MS)
  try {
    await sleep(SETTLE_MS)
    return await work()
  } finally {
    clearTimeout(change)
    end()
  }
}
