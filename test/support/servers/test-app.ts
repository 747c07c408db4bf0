/** An app over the real registry and, unless told otherwise, the real passthrough engine. It closes after the test. */
import type { AddressInfo } from 'node:net'
import type { FastifyInstance, InjectOptions } from 'fastify'
import { expect } from 'vitest'
import type { AuditLog } from '../../../src/accounts/audit-log.ts'
import { AdminKeys } from '../../../src/accounts/admin-secret.ts'
import { type Authenticator, createStaticKeyAuthenticator } from '../../../src/accounts/authenticator.ts'
import { buildApp } from '../../../src/api/app.ts'
import type { AppDeps } from '../../../src/api/deps.ts'
import type { Credential } from '../../../src/core/credential.ts'
import { VirtualClock } from '../../../src/core/clock.ts'
import { StartError } from '../../../src/core/errors.ts'
import type { Tier } from '../../../src/core/tiers.ts'
import { InProcessEngine } from '../../../src/engines/process/step-loop/in-process-engine.ts'
import { PassthroughRunner } from '../../../src/engines/passthrough/passthrough-runner.ts'
import { AttemptThrottle } from '../../../src/limits/attempt-throttle.ts'
import { MemoryAttemptLimits } from '../../../src/limits/memory/attempt-limits.ts'
import { MemoryRequestLimits } from '../../../src/limits/memory/request-limits.ts'
import { RequestLimiter } from '../../../src/limits/request-limiter.ts'
import { QuantizeJobs } from '../../../src/models/quantize-jobs.ts'
import { RenderThread } from '../../../src/models/chat/render-thread.ts'
import { ModelRegistry, type OpenEngine } from '../../../src/models/registry.ts'
import type { Engine } from '../../../src/protocol/engine.ts'
import { createLog } from '../../../src/telemetry/log.ts'
import { Metrics } from '../../../src/telemetry/metrics.ts'
import { RecentErrors } from '../../../src/telemetry/recent-errors.ts'
import type { UsageEntry } from '../../../src/usage/usage-recorder.ts'
import { whenUnused } from '../shared.ts'

/** Threads run what was built. */
const BUILT_RENDER_WORKER = new URL('../../../dist/models/chat/render-worker.js', import.meta.url)

export const KEY = 'test-key-0123456789'
export const ADMIN_KEY = 'test-admin-key-0123456789'
export const METRICS_KEY = 'metrics-key-of-the-tests'

export interface TestAppOptions extends Partial<AppDeps> {
  readonly registry?: ModelRegistry
  readonly engine?: Engine
  /** @default fails */
  readonly openEngine?: OpenEngine
  /** Where its log goes, line by line. */
  readonly logLines?: Record<string, unknown>[]
  readonly maxQueue?: number
  readonly maxBatchSize?: number
  /** @default no tier has callers */
  readonly servedClasses?: () => readonly number[]
}

export interface TestApp {
  readonly app: FastifyInstance
  readonly clock: VirtualClock
  /** What was recorded, where no `usageRecorder` was given. */
  readonly usage: readonly UsageEntry[]
  readonly metrics: Metrics
  /** Lines of the log so far. */
  readonly logLines: readonly Record<string, unknown>[]
  /** Calls with the key; `payload` objects go out as JSON. */
  readonly call: (options: InjectOptions | string) => Promise<Answer>
  readonly post: (url: string, payload: object) => Promise<Answer>
  /** Listens on a free port of the loopback interface. */
  readonly listen: () => Promise<number>
}

type Answer = Awaited<ReturnType<FastifyInstance['inject']>>

export function createTestApp(options: TestAppOptions = {}): TestApp {
  const clock = options.clock instanceof VirtualClock ? options.clock : new VirtualClock()
  const usage: UsageEntry[] = []
  const { logLines = [] } = options
  const log = createLog({ destination: { write: (line: string) => void logLines.push(JSON.parse(line)) } })
  const registry = options.registry ?? createRegistry(options)
  const metrics = options.metrics ?? new Metrics({ models: registry, isReady: () => true })
  const adminKeys = new AdminKeys([ADMIN_KEY], new AttemptThrottle(new MemoryAttemptLimits(clock)))
  const app = buildApp({
    registry,
    quantizeJobs: new QuantizeJobs({
      registry,
      clock,
      findQuantizedType: async () => null,
      resultOf: () => {
        throw new StartError('Nothing is quantized here.', 1)
      },
    }),
    checkCheckpoint: () => Promise.reject(new StartError('Nothing is checked here.', 1)),
    modelAdmin: 'key',
    defaultMaxTokens: 256,
    authenticator: createStaticKeyAuthenticator([KEY], 'salt'),
    adminCheck: adminKeys.check,
    metricsCheck: adminKeys.checkBeside([METRICS_KEY]),
    accounts: withoutDatabase(),
    browserSessions: withoutDatabase(),
    guests: withoutDatabase(),
    invitations: withoutDatabase(),
    keys: withoutDatabase(),
    limiter: new RequestLimiter(new MemoryRequestLimits(clock)),
    trustedProxies: null,
    addressRules: null,
    firewall: null,
    addressLimiter: null,
    outputGuard: null,
    promptGuard: null,
    tokenBudgets: { spend: () => {}, report: async () => [] },
    teams: withoutDatabase(),
    // Only what it is called with is done.
    auditLog: { record: async (_, act) => await act() } as AuditLog,
    usageRecorder: { record: async (entry) => void usage.push(entry) },
    usageReports: withoutDatabase(),
    findGroupNames: () => Promise.reject(new Error('This test opened no database.')),
    console: null,
    disk: async () => null,
    recentErrors: new RecentErrors(),
    tracing: null,
    corsOrigins: [],
    ownHosts: null,
    storageWatch: { lost: null },
    clock,
    startedMs: clock.nowMs(),
    log,
    metrics,
    whyNotReady: () => null,
    isDraining: () => false,
    ...options,
  })
  expectDocumentedErrors(app)
  whenUnused(async () => {
    app.server.closeAllConnections()
    await app.close()
  })
  const call = (request: InjectOptions | string) => {
    const { headers, ...rest } = typeof request === 'string' ? { url: request } : request
    return app.inject({ ...rest, headers: { authorization: `Bearer ${KEY}`, ...headers } })
  }
  return {
    app,
    clock,
    usage,
    metrics,
    logLines,
    call,
    post: (url, payload) => call({ method: 'POST', url, payload }),
    listen: async () => {
      await app.listen({ port: 0, host: '127.0.0.1' })
      return (app.server.address() as AddressInfo).port
    },
  }
}

/** An authenticator that takes any secret for a key of this tier. */
export function createTierAuthenticator(tier: Tier): Authenticator {
  const credential: Credential = {
    keyId: 'k',
    accountId: 'a',
    userId: null,
    kind: 'key',
    tier,
    customRateLimitRpm: null,
    limitId: 'k',
    teamId: null,
    budgets: [],
  }
  return { authenticate: async (secret) => (secret === null ? null : credential) }
}

/** What needs a database is in tests that open one (`accounts-app.ts`). */
function withoutDatabase<Service extends object>(): Service {
  return new Proxy({} as Service, {
    get: () => {
      throw new Error('This test opened no database.')
    },
  })
}

/** The real one. */
export function createRegistry({
  engine,
  openEngine = () => Promise.reject(new StartError('No other model here.', 1)),
  maxQueue = 512,
  maxBatchSize = 8,
  servedClasses = () => [],
}: TestAppOptions): ModelRegistry {
  return new ModelRegistry({
    openEngine,
    openFallback: () =>
      engine ?? new InProcessEngine({ runner: new PassthroughRunner({ maxBatchSize, maxSeqLen: null }) }),
    maxQueue,
    servedClasses,
    clock: new VirtualClock(),
    renderThread: new RenderThread({ workerUrl: BUILT_RENDER_WORKER }),
  })
}

/** Every answer's error is one that the documentation of its route lists. */
function expectDocumentedErrors(app: FastifyInstance): void {
  const undocumented = new Set<string>()
  app.addHook('onResponse', async ({ method, routeOptions: { url, config } }, reply) => {
    const code = reply.getHeader('x-error-code')
    if (code === undefined || config.errorCodes === undefined) return
    if (!config.errorCodes.some((one) => one === code)) undocumented.add(`${method} ${url}: ${String(code)}`)
  })
  whenUnused(() => expect([...undocumented]).toEqual([]))
}
