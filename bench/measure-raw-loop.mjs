// @ts-check
/** Runs the raw decode loop in a process of its own: the limit of the machine, and what rates of arrival go by. */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { withHugePages } from '../dist/engines/local/huge-pages.js'

const RAW_LOOP = fileURLToPath(new URL('raw-loop.mjs', import.meta.url))

/** The prompt of each sequence, for who measures against the loop. @param {number} number */
export const rawLoopPrompt = (number) => `Prompt number ${number}: once upon a time`

/** @param {import('./scenarios/index.mjs').Bench} bench @param {{ sequences: number, tokens: number }} options @returns {number} tokens per second */
export function measureRawLoop({ model, threads, gpu }, { sequences, tokens }) {
  const words = [model.path, String(sequences), String(tokens), String(threads), gpu]
  const output = execFileSync(process.execPath, [RAW_LOOP, ...words], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
    env: withHugePages(process.env),
  })
  return Number(JSON.parse(output).tokensPerSecond)
}
