// @ts-check
import { spawn } from 'node:child_process'

/**
 * Runs a command to its end. Its output is collected, or shown as it comes.
 * @param {string} command
 * @param {string[]} words
 * @param {{ cwd: string, shell?: boolean, showsOutput?: boolean, env?: NodeJS.ProcessEnv }} options
 * @returns {Promise<{ exitCode: number, output: string }>}
 */
export function runCommand(command, words, { cwd, shell = false, showsOutput = false, env = process.env }) {
  return new Promise((resolve) => {
    const stdio = showsOutput ? 'inherit' : 'pipe'
    const child = spawn(command, words, { cwd, shell, env, stdio: ['ignore', stdio, stdio] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text) => (output += text))
    }
    child.on('error', (error) => resolve({ exitCode: 127, output: `npm error ${error.message}` }))
    child.on('close', (code) => resolve({ exitCode: code ?? 1, output }))
  })
}
