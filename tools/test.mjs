// @ts-check
/**
 * `npm test`: makes the clone ready, then runs every check to its end, and closes with one line that names those that
 * failed. `npm test -- <words>` runs only the tests, with those words for vitest; `--soak` (`npm run test:soak`) the
 * tests at their full lengths; `--check` (`npm run check`) everything but the slower tests.
 */
import path from 'node:path'
import { describeLeftOut } from './optional-programs.mjs'
import { prepareOrTell, ROOT } from './prepare.mjs'
import { runCommand } from './run-command.mjs'

/** @param {string} name */
const bin = (name) => path.join(ROOT, 'node_modules', name)

/** @type {readonly [name: string, words: string[]][]} */
const STATIC_CHECKS = [
  ['types', [bin('typescript/bin/tsc'), '--noEmit', '--singleThreaded', '-p', '.']],
  ['types of the console', [bin('typescript/bin/tsc'), '--noEmit', '--singleThreaded', '-p', 'console']],
  ['lint', [bin('oxlint/bin/oxlint'), '--type-aware']],
  ['format', [bin('oxfmt/bin/oxfmt'), '--check', '.']],
  ['layers', [path.join(ROOT, 'tools', 'check-layers.mjs')]],
  ['circles', [path.join(ROOT, 'tools', 'check-circles.mjs')]],
  ['names', [path.join(ROOT, 'tools', 'check-names.mjs')]],
  ['folders', [path.join(ROOT, 'tools', 'check-folders.mjs')]],
  ['unused', [bin('knip/bin/knip.js'), '--no-progress', '--treat-config-hints-as-errors']],
]

/** What a first word of our own stands for. @type {Readonly<Record<string, readonly string[]>>} */
const SHORTHANDS = { '--check': ['--project', 'unit'], '--soak': ['--mode', 'soak'] }

const words = process.argv.slice(2)
const testWords = words.flatMap((word, index) => (index === 0 ? (SHORTHANDS[word] ?? word) : word))
const staticChecks = words.length === 0 || words[0] === '--check' ? STATIC_CHECKS : []

/** Options of the operator's own server must not reach the servers under test. */
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('SLUICE_')))
env.NODE_ENV = 'test'

/**
 * Of the checks that are written in Go, the compiler and the linter's part that knows types: their threads each check the same
 * libraries again, and their heap is collected more often than such a short run needs. Together that was half of their work.
 */
const checkEnv = { ...env, GOMAXPROCS: '1', GOGC: '400' }

/** @param {readonly string[]} commandWords @param {{ showsOutput?: boolean, env: NodeJS.ProcessEnv }} options */
const runNode = (commandWords, options) =>
  runCommand(process.execPath, [...commandWords], { cwd: ROOT, ...options })

if (await prepareOrTell()) {
  const startMs = performance.now()
  /** @type {string[]} */
  const failed = []
  // At the same time, because none of them keeps all cores busy; what they say appears in their order.
  const runs = staticChecks.map(([name, commandWords]) => ({
    name,
    run: runNode(commandWords, { env: checkEnv }),
  }))
  for (const { name, run } of runs) {
    const { exitCode, output } = await run
    process.stdout.write(`\n== ${name}\n${output}`)
    if (exitCode !== 0) failed.push(name)
  }
  process.stdout.write('\n== tests\n')
  const vitest = [bin('vitest/vitest.mjs'), 'run', ...testWords]
  if ((await runNode(vitest, { showsOutput: true, env })).exitCode !== 0) failed.push('tests')
  for (const line of describeLeftOut()) process.stdout.write(`\nsluice: ${line}\n`)
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1)
  const names = [...staticChecks.map(([name]) => name), 'tests'].join(', ')
  const result = failed.length === 0 ? `all passed: ${names}` : `FAILED: ${failed.join(', ')}`
  process.stdout.write(`\nsluice: ${result} (${seconds} s)\n`)
  process.exitCode = failed.length === 0 ? 0 : 1
}
