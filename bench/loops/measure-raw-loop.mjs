// @ts-check
/** Runs the raw decode loop in a process of its own: the limit of the machine, and what rates of arrival go by. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { withHugePages } from '../../dist/engines/process/host/huge-pages.js'
import { USUAL_SAMPLING } from '../load/protocols.mjs'

const RAW_LOOP = fileURLToPath(new URL('raw-loop.mjs', import.meta.url))

/** The prompt of each sequence, for who measures against the loop. @param {number} number */
export const rawLoopPrompt = (number) => `Prompt number ${number}: once upon a time`

/**
 * @typedef {object} RawLoopOptions
 * @property {string} modelPath
 * @property {number} sequences
 * @property {number} turns answers of each of them
 * @property {number} newTokens of an answer
 * @property {number} threads
 * @property {'auto' | 'off'} gpu
 * @property {import('../load/protocols.mjs').AskedSampling} sampling
 */

/**
 * @param {import('../scenarios/index.mjs').Bench} bench
 * @param {{ sequences: number, tokens: number, turns?: number, sampling?: import('../load/protocols.mjs').AskedSampling }} options
 * @returns {number} tokens per second
 */
export function measureRawLoop(
  { model, threads, gpu },
  { sequences, tokens, turns = 1, sampling = USUAL_SAMPLING },
) {
  /** @type {RawLoopOptions} */
  const options = { modelPath: model.path, sequences, turns, newTokens: tokens, threads, gpu, sampling }
  const output = execFileSync(process.execPath, [RAW_LOOP, JSON.stringify(options)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: withHugePages(process.env),
  })
  return Number(JSON.parse(output).tokensPerSecond)
}
