/**
 * Opens everything between a connection and the models, once the models are known to be servable: databases, limits,
 * guards, the API and the ports. Closes them in an order that loses no answer.
 */
import { statfs } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { ServedTiers } from '../accounts/served-tiers.ts'
import { buildApp } from '../api/app.ts'
import type { ServerConfig } from '../config/server-config.ts'
import { systemClock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { INTERFACE_VERSION } from '../core/interface-version.ts'
import { GracefulClose } from '../net/connections/graceful-close.ts'
import { type ConnectionSource, type Listener, openListener } from '../net/listener.ts'
import { OwnHosts } from '../net/own-hosts.ts'
import type { TlsIdentity } from '../net/tls/certificate.ts'
import type { KnockSequence } from '../limits/memory/knocks.ts'
import type { SharedState } from '../core/shared-state.ts'
import type { QuantizeJobs } from '../models/quantize-jobs.ts'
import type { Models } from '../models/registry.ts'
import type { Log } from '../telemetry/log.ts'
import { type RecentError, RecentErrors } from '../telemetry/recent-errors.ts'
import type { Tracing } from '../telemetry/tracing.ts'
import type { UpstreamMetrics } from '../telemetry/upstream-metrics.ts'
import { NO_MODEL_STATES } from '../telemetry/model-metrics.ts'
import { Metrics, type MetricValues } from '../telemetry/metrics.ts'
import { availableMemoryBytes } from '../checkpoints/memory/available-memory.ts'
import { findGpus } from '../engines/llamacpp/devices/devices-process.ts'
import type { CheckCheckpoint } from '../protocol/checkpoint-report.ts'
import { hasConsole, readConsole } from '../api/console/console-files.ts'
import { createGuards, type Guards } from './guards.ts'
import { openSharedState, type OpenedState } from './open-shared-state.ts'
import { packageVersion } from './package-version.ts'
import { createAdminKeyReload } from './reload-admin-keys.ts'
import { type NoOperatorKeyReason, openState, type ServerState, type SupervisedState } from './state.ts'

export interface Service {
  /** `http://127.0.0.1:8080`, or with `https:` */
  readonly address: string
  /** The key made for this run because there was no other; null otherwise. */
  readonly operatorKey: string | null
  /** Why this run has no key of its own; null where it has one. */
  readonly withoutOperatorKey: NoOperatorKeyReason | null
  /** Opens the console in a browser: with the token of a guest while there is no admin. Null where no console is served. */
  readonly consoleUrl: string | null
  /** Reads the TLS files again, if there are any; a problem is logged, and the old certificate stays. */
  reloadCertificate(): Promise<void>
  /** Reads the admin keys again; what cannot be used is logged, and the keys from before stay valid. */
  reloadAdminKeys(read: () => ServerConfig['adminKey']): void
  /** Refuses new requests, lets running ones finish for up to `shutdownTimeout` seconds, then ends them. */
  close(): Promise<void>
}

export interface ServiceDeps {
  /** Null for plain HTTP. */
  readonly tls: TlsIdentity | null
  /** Closed with the service. */
  readonly registry: Models
  readonly quantizeJobs: Pick<QuantizeJobs, 'quantize'>
  /** Null where another process counts what waits. */
  readonly servedTiers: ServedTiers | null
  readonly log: Log
  readonly upstreams: Pick<UpstreamMetrics, 'all'>
  /** No database or port is opened until it resolves, nor when it rejects. */
  readonly checked: Promise<unknown>
  /** What a worker process has of its supervisor. @default this process is the service */
  readonly supervised?: SupervisedDeps
}

interface SupervisedDeps extends SupervisedState {
  readonly shared: SharedState
  readonly connections: ConnectionSource
  /** When the service was opened, which may be before this process. */
  readonly openedAtUnixSeconds: number
  /** The metrics of all processes. */
  readonly renderService: () => Promise<string>
  /** The last errors of all processes. */
  readonly listErrors: () => Promise<readonly RecentError[]>
}

/** The service of this process, which may be one of several. */
export interface ProcessService extends Service {
  /** Resolves when it has no connection left; new ones are refused, the requests of open ones are served. */
  leave(): Promise<void>
  /** Of this process alone. */
  metricValues(): Promise<MetricValues>
  /** Of this process alone, the newest first. */
  recentErrors(): readonly RecentError[]
}

/** @throws what `checked` rejects with, StartError, or Node's own error when the address cannot be listened on */
export async function openService(
  config: ServerConfig,
  { tls, registry, quantizeJobs, servedTiers, log, upstreams, checked, supervised }: ServiceDeps,
): Promise<ProcessService> {
  await checked
  const clock = systemClock
  const knock = knockSequence(config)
  const opened: OpenedState =
    supervised === undefined
      ? await openSharedState(config, { knockSequence: knock, clock, log })
      : { ...OF_SUPERVISOR, shared: supervised.shared }
  const { shared } = opened
  const stateDeps = { log, clock, shared, ...(supervised && { supervised }) }
  const state = await openState(config, stateDeps).catch(async (error: unknown) => {
    await opened.close()
    throw error
  })
  const closeState = async () => {
    await state.close()
    await opened.close()
  }
  await servedTiers?.open(state.findServedTiers).catch(async (error: unknown) => {
    await closeState()
    throw error
  })
  let isDraining = false
  const whyNotReady = () =>
    isDraining
      ? new ServiceError('shutting_down')
      : (state.storageWatch.look() ?? opened.whyUnavailable() ?? registry.whyNotReady())
  let expiresAt = (): number | null => tls?.certificate.validToUnixSeconds ?? null
  const recentErrors = new RecentErrors(supervised?.listErrors)
  const metrics = new Metrics({
    // Counted once, by the supervisor.
    models:
      supervised === undefined ? registry : { ...NO_MODEL_STATES, sequences: () => registry.sequences() },
    isReady: () => whyNotReady() === null,
    build: { version: packageVersion(), interfaceVersion: INTERFACE_VERSION },
    budgetUse: () => state.tokenBudgets.use(),
    isRedisUp: opened.isRedisUp,
    upstreams,
    ...(tls !== null && { certificateExpiresAt: () => expiresAt() }),
    ...(supervised === undefined
      ? { isDatabaseUp: state.isDatabaseUp }
      : { renderService: supervised.renderService }),
  })
  const tracing = await openTraces(config, log)
  const upMs = supervised === undefined ? 0 : (clock.unixSeconds() - supervised.openedAtUnixSeconds) * 1000
  const guards = createGuards(config, { requests: shared.requests, bans: shared.bans, metrics, log })
  const app = buildApp({
    ...state,
    ...guards,
    registry,
    quantizeJobs,
    checkCheckpoint: createCheckpointCheck(config),
    modelAdmin: config.modelAdmin ?? 'key',
    defaultMaxTokens: config.defaultMaxTokens,
    console: config.disableConsole ? null : readConsole(CONSOLE_FOLDER),
    disk: () =>
      statfs(config.dataDir).then(
        ({ bavail, bsize }) => ({ folder: config.dataDir, freeBytes: bavail * bsize }),
        () => null,
      ),
    corsOrigins: config.corsOrigins,
    ownHosts: config.authMode === 'none' ? new OwnHosts(config.allowedHosts) : null,
    clock,
    startedMs: clock.nowMs() - upMs,
    log,
    metrics,
    recentErrors,
    tracing,
    whyNotReady,
    isDraining: () => isDraining,
  })
  const graceful = new GracefulClose(app.server)
  const listener = await openListener(app, {
    host: config.host,
    port: config.port,
    tls,
    portKnock: knock && { ports: knock.ports, knocks: shared.knocks },
    source: supervised?.connections ?? null,
    onKnockRefused: (rule) => metrics.countGuardHit({ guard: 'port-knock', rule }),
    clock,
    log,
  }).catch(async (error: unknown) => {
    await guards.close()
    await tracing?.close()
    await closeState()
    throw error
  })
  expiresAt = () => listener.certificateExpiresAt()
  let closing: Promise<void> | null = null
  return {
    address: listener.address,
    operatorKey: state.operatorKey,
    withoutOperatorKey: state.withoutOperatorKey,
    consoleUrl: supervised === undefined ? await createConsoleUrl(config, state, listener.address) : null,
    reloadCertificate: () => listener.reloadCertificate(),
    reloadAdminKeys: createAdminKeyReload(config, { ...state, guards, log }),
    leave: async () => {
      await Promise.all([listener.leave(), graceful.leave()])
    },
    metricValues: () => metrics.values(),
    recentErrors: () => recentErrors.own,
    close: () => {
      isDraining = true
      const timeoutMs = config.shutdownTimeout * 1000
      const closeRest = async () => {
        await tracing?.close().catch(() => {})
        await closeState()
      }
      closing ??= shutDown({
        app,
        listener,
        graceful,
        registry,
        guards,
        closeState: closeRest,
        log,
        timeoutMs,
      })
      return closing
    },
  }
}

async function openTraces({ otlpEndpoint: endpoint }: ServerConfig, log: Log): Promise<Tracing | null> {
  if (endpoint === null) return null
  const { openTracing } = await import('../telemetry/tracing.ts')
  return openTracing({ endpoint, version: packageVersion(), clock: systemClock, log })
}

function createCheckpointCheck(config: ServerConfig): CheckCheckpoint {
  return async (source, servingBytes) => {
    // Loaded on demand: readers of checkpoints, which a worker process has no other use for.
    const { checkCheckpoint } = await import('../checkpoints/check-checkpoint.ts')
    const devices = await findGpus(config)
    const availableBytes = availableMemoryBytes()
    return await checkCheckpoint(source, { ...config, devices, availableBytes, servingBytes })
  }
}

/** Beside the program when it was built. */
const CONSOLE_FOLDER = fileURLToPath(new URL('../console/', import.meta.url))

/** Once for each start: by the process that listens, or by the supervisor of those that do. */
export async function createConsoleUrl(
  { authMode, disableConsole }: ServerConfig,
  { guests }: Pick<ServerState, 'guests'>,
  address: string,
): Promise<string | null> {
  if (disableConsole || !hasConsole(CONSOLE_FOLDER)) return null
  // A database that went away meanwhile ends no start: the next one prints a link.
  const token = authMode === 'none' ? null : await guests.createLink().catch(() => null)
  const page = address.replace('//0.0.0.0:', '//127.0.0.1:').replace('//[::]:', '//[::1]:')
  return `${page}/${token === null ? '' : `#token=${token}`}`
}

/** What a worker has of the shared state: whether it is up, its readiness included, is in the table of models. */
const OF_SUPERVISOR = { whyUnavailable: () => null, isRedisUp: null, close: () => Promise.resolve() }

/** Null when no port knock is configured. */
export function knockSequence({
  portKnock: ports,
  portKnockWindow,
  portKnockOpen,
}: ServerConfig): KnockSequence | null {
  return ports.length === 0 ? null : { ports, windowMs: portKnockWindow * 1000, openMs: portKnockOpen * 1000 }
}

interface ShutDownOptions {
  readonly app: ReturnType<typeof buildApp>
  readonly listener: Listener
  readonly graceful: GracefulClose
  readonly registry: Pick<Models, 'close'>
  readonly guards: Guards
  readonly closeState: () => Promise<void>
  readonly log: Log
  readonly timeoutMs: number
}

async function shutDown(options: ShutDownOptions): Promise<void> {
  const { app, listener, graceful, registry, guards, closeState, log, timeoutMs } = options
  const draining = graceful.drain(timeoutMs)
  await listener.close()
  const isDrained = await draining
  if (!isDrained) log.warn({ timeoutMs }, 'requests were still running at the end of the shutdown time-out')
  // Running streams get their error event when their engine closes.
  await registry.close()
  await graceful.close()
  await app.close()
  await guards.close()
  await closeState()
  log.info('stopped')
}
