import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { CHROMIUM, POSTGRES_BIN, REDIS_SERVER } from './tools/optional-programs.mjs'

/** The mode of `npm run test:soak`, in which the tests that repeat something do so at length (`lengthOf`). */
const SOAK = 'soak'

/** For what never ends, not for what is slow: on a busy machine a process takes seconds to start. */
const TIMEOUT_MS = 120_000
const SOAK_TIMEOUT_MS = 60 * 60_000

export default defineConfig(({ mode }) => {
  const isSoak = mode === SOAK
  const timeoutMs = isSoak ? SOAK_TIMEOUT_MS : TIMEOUT_MS
  // Given to each project by hand: `extends` would read this file again, in the mode `test`.
  const ofAll = {
    provide: { isSoak, database: 'SQLite' as const, sharedState: 'memory' as const, workers: 1 },
    testTimeout: timeoutMs,
    hookTimeout: timeoutMs,
    // Not the default second: what is polled for happens in another process, or behind a busy one.
    expect: { poll: { timeout: timeoutMs - 10_000 } },
    // Files share a process and its modules, which are loaded once and not two hundred times: no test mocks a module,
    // and what one changes outside itself it puts back. A soak measures the memory of its own process.
    isolate: isSoak,
    // Most objects die young, and a process of many files makes many: a larger young generation is copied less often.
    execArgv: ['--min-semi-space-size=64', '--max-semi-space-size=64'],
    // A module that several projects load is transformed once, and not again in the next run.
    experimental: { fsModuleCache: true },
    maxWorkers: availableParallelism() + 1,
  }
  // More at once, and apart from the others: half of what such a test does is to wait for a process.
  const ofProcesses = { maxWorkers: 2 * availableParallelism() + 1, sequence: { groupOrder: 1 } }
  const unit = ['{src,tools,bench,console}/**/*.test.ts']
  // The suites of what is stored, once more: `inject('database')` says on what. Of those over HTTP, which ask the same
  // services, a part: all of them in a soak.
  const ofPostgres = 'src/storage/postgres/postgres-*.test.ts'
  const whatIsAsked = isSoak ? '*' : '{,makers-}budgets'
  const whatAsks = isSoak ? '{accounts,usage}/**' : '{accounts/keys,usage}'
  const stored = [ofPostgres, `src/${whatAsks}/*.test.ts`, `test/contract/accounts/${whatIsAsked}.test.ts`]
  // Of limits: they ask the shared state, and some do not wait for a database once a permit is released.
  const notStored = ['test/contract/accounts/{attempts,concurrency,distant-state}.test.ts']
  const onPostgres = { ...ofAll, provide: { ...ofAll.provide, database: 'PostgreSQL' as const } }
  // The suites of the shared state, once more, and those of Redis alone: `inject('sharedState')` says on what.
  const ofRedis = 'src/limits/redis/**/*.test.ts'
  const limited = ['src/limits/*.test.ts', ofRedis, 'test/contract/accounts/distant-state.test.ts']
  const onRedis = { ...ofAll, provide: { ...ofAll.provide, sharedState: 'Redis' as const } }
  // Of accounts and limits, once more with four workers: all of them in a soak.
  const whatWorkersShare = isSoak ? '*' : '{{,makers-}budgets,limits}'
  const ofWorkers = { ...ofAll, provide: { ...ofAll.provide, workers: 4 } }
  // What starts most processes for the least that no other test sees.
  const ofSoaks = [
    '{pictures,docs}',
    'quantizer-life',
    'log-reader',
    'models/{adapters,draft-model}',
    'deploy/instances',
  ]
  const onlySoaked = isSoak ? [] : ofSoaks.map((name) => `test/{browser,e2e}/${name}.test.ts`)
  const setupFiles = ['test/support/engines/quiet-native-log.ts']
  return {
    test: {
      projects: [
        { test: { ...ofAll, name: 'unit', include: unit, exclude: [ofPostgres, ofRedis] } },
        { test: { ...ofAll, name: 'contract', include: ['test/contract/**/*.test.ts'] } },
        { test: { ...ofAll, name: 'model', include: ['test/model/**/*.test.ts'], setupFiles } },
        ...(POSTGRES_BIN === null
          ? []
          : [{ test: { ...onPostgres, name: 'postgres', include: stored, exclude: notStored } }]),
        {
          test: {
            ...ofWorkers,
            name: 'workers',
            include: [`test/contract/accounts/${whatWorkersShare}.test.ts`],
          },
        },
        ...(REDIS_SERVER === null ? [] : [{ test: { ...onRedis, name: 'redis', include: limited } }]),
        // Always named, so that its files count as used on a machine without a browser.
        {
          test: {
            ...ofAll,
            ...ofProcesses,
            name: 'browser',
            // Its global set-up does not come through that cache.
            experimental: { fsModuleCache: false },
            include: ['test/browser/**/*.test.ts'],
            exclude: CHROMIUM === null ? ['**'] : onlySoaked,
            globalSetup: 'test/support/browser/global-setup.ts',
          },
        },
        // The built program with real processes and ports.
        {
          test: {
            ...ofAll,
            ...ofProcesses,
            name: 'e2e',
            include: ['test/e2e/**/*.test.ts'],
            exclude: onlySoaked,
            globalSetup: 'test/support/servers/converted-small-llama.ts',
          },
        },
      ],
    },
  }
})
