// @ts-check
/**
 * `npm test`: makes the clone ready, then runs every check to its end, and closes with one line that names those that
 * failed. `npm test -- <words>` runs only the tests, with those words for vitest; `--check`
 * (`npm run check`) everything but the slower tests.
 */
import path from 'node:path'
import { prepareOrTell, ROOT } from './prepare.mjs'
import { runCommand } from './run-command.mjs'

/** @param {string} name */
const bin = (name) => path.join(ROOT, 'node_modules', name)

/** @type {readonly [name: string, words: string[]][]} */
const STATIC_CHECKS = [
  ['types', [bin('typescript/bin/tsc'), '--noEmit', '-p', '.']],
  ['lint', [bin('oxlint/bin/oxlint'), '--type-aware']],
  ['format', [bin('oxfmt/bin/oxfmt'), '--check', '.']],
  ['layers', [path.join(ROOT, 'tools', 'check-layers.mjs')]],
  ['circles', [path.join(ROOT, 'tools', 'check-circles.mjs')]],
  ['unused', [bin('knip/bin/knip.js'), '--no-progress', '--treat-config-hints-as-errors']],
]

/** @param {string[]} words @returns {[name: string, words: string[]]} */
const tests = (words) => ['tests', [bin('vitest/vitest.mjs'), 'run', ...words]]

const words = process.argv.slice(2)
const isCheck = words[0] === '--check'
const checks = isCheck
  ? [...STATIC_CHECKS, tests(['--project', 'unit'])]
  : [...(words.length === 0 ? STATIC_CHECKS : []), tests(words)]

/** Options of the operator's own server must not reach the servers under test. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_')))
env.NODE_ENV = 'test'

if (await prepareOrTell()) {
  const startMs = performance.now()
  const failed = []
  for (const [name, commandWords] of checks) {
    process.stdout.write(`\n== ${name}\n`)
    const { exitCode } = await runCommand(process.execPath, commandWords, {
      cwd: ROOT,
      showsOutput: true,
      env,
    })
    if (exitCode !== 0) failed.push(name)
  }
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  const names = checks.map(([name]) => name).join(', ')
  const result = failed.length === 0 ? `all passed: ${names}` : `FAILED: ${failed.join(', ')}`
  process.stdout.write(`\nsluice: ${result} (${seconds} s)\n`)
  process.exitCode = failed.length === 0 ? 0 : 1
}
