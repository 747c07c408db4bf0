// @ts-check
/**
 * The passthrough model behind the same routes without authentication, limits and records, for
 * `scenarios/passthrough.mjs`. No server of ours can be started like this. Prints its address and serves until it is killed.
 */
import { createOpenAuthenticator } from '../../dist/accounts/authenticator.js'
import { buildApp } from '../../dist/api/app.js'
import { systemClock } from '../../dist/core/clock.js'
import { InProcessEngine } from '../../dist/engines/process/step-loop/in-process-engine.js'
import { PassthroughRunner } from '../../dist/engines/passthrough/passthrough-runner.js'
import { ModelRegistry } from '../../dist/models/registry.js'
import { createLog } from '../../dist/telemetry/log.js'
import { Metrics } from '../../dist/telemetry/metrics.js'
import { RecentErrors } from '../../dist/telemetry/recent-errors.js'

const registry = new ModelRegistry({
  openEngine: () => Promise.reject(new Error('only the passthrough model is here')),
  openFallback: () =>
    new InProcessEngine({
      runner: new PassthroughRunner({ maxBatchSize: 8, maxSeqLen: null }),
    }),
  maxQueue: 512,
  clock: systemClock,
})
const none = /** @type {never} */ (null)
const app = buildApp({
  defaultMaxTokens: 256,
  registry,
  quantizeJobs: none,
  checkCheckpoint: none,
  modelAdmin: 'key',
  authenticator: createOpenAuthenticator(),
  adminCheck: null,
  metricsCheck: null,
  tracing: null,
  accounts: none,
  browserSessions: none,
  guests: none,
  invitations: none,
  console: null,
  disk: async () => null,
  recentErrors: new RecentErrors(),
  keys: none,
  limiter: {
    admit: () => ({ outcome: 'admitted', rate: null, budgetWarning: null, release: () => {} }),
    inUse: () => [],
  },
  trustedProxies: null,
  addressRules: null,
  firewall: null,
  addressLimiter: null,
  outputGuard: null,
  promptGuard: null,
  usageRecorder: { record: async () => {} },
  usageReports: none,
  findGroupNames: none,
  teams: none,
  auditLog: none,
  tokenBudgets: { spend: () => {}, report: async () => [] },
  corsOrigins: [],
  ownHosts: null,
  storageWatch: { lost: null },
  clock: systemClock,
  startedMs: systemClock.nowMs(),
  log: createLog(),
  metrics: new Metrics({ models: registry, isReady: () => true }),
  whyNotReady: () => null,
  isDraining: () => false,
})
process.stdout.write(`listening on ${await app.listen({ host: '127.0.0.1', port: 0 })}\n`)
