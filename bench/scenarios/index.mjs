// @ts-check
/** All scenarios, in the order in which they run and are told of. */
import { bursts } from './bursts.mjs'
import { conversations } from './conversations.mjs'
import { growth } from './growth.mjs'
import { longPrompts } from './long-prompts.mjs'
import { memory } from './memory.mjs'
import { multiTurn } from './multi-turn.mjs'
import { neighbours } from './neighbours.mjs'
import { openLoopScenario } from './open-loop.mjs'
import { passthrough } from './passthrough.mjs'
import { sharedPrefix } from './shared-prefix.mjs'
import { start } from './start.mjs'
import { defaultSampling, steady } from './steady.mjs'
import { storedGrowth } from './stored-growth.mjs'
import { tiers } from './tiers.mjs'

/**
 * @typedef {object} Bench what the command line asks for
 * @property {import('../models.mjs').BenchModel} model
 * @property {number} threads compute threads of every contender
 * @property {'auto' | 'off'} gpu
 * @property {string | null} peer llama-server's binary
 * @property {number} rounds
 * @property {number | null} tokens per answer; null takes the scenario's own
 * @property {number | null} requests of a round; null takes the scenario's own
 * @property {number | null} rate arrivals per second; null goes by what the machine can do
 */

/**
 * @typedef {object} Measured
 * @property {Record<string, string | number>} parameters
 * @property {import('../load/rounds.mjs').Row[]} rows
 * @property {import('../load/rounds.mjs').ContenderProcesses[]} [processes]
 * @property {string[]} [errors]
 */

/**
 * @typedef {object} Scenario
 * @property {string} id
 * @property {string} title
 * @property {string} about what happens in a round, in a sentence or two
 * @property {string | null} fixedModel the one model it is about; null for any
 * @property {string[]} shows the figures that matter most: in tables first, and plotted
 * @property {{ label: string, isLogarithmic: boolean }} [xAxis] plots the first of them as lines over the number in a group's name
 * @property {boolean} [isSweep] plots all of them so, and tells the worst step of each
 * @property {(bench: Bench) => Promise<Measured>} run
 */

/** @type {Scenario[]} */
export const SCENARIOS = [
  ...[1, 8, 32].map((clients) => steady(clients)),
  defaultSampling(8),
  neighbours,
  openLoopScenario,
  bursts,
  longPrompts,
  sharedPrefix,
  multiTurn,
  conversations,
  tiers,
  passthrough,
  start,
  memory,
  ...growth,
  ...storedGrowth,
]
