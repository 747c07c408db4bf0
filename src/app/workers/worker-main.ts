/**
 * A worker process: the whole HTTP side of the service, over shared state, models and usage that are the supervisor's. Started by
 * the supervisor, and ends with it: its channel closes when either of them ends, and signals are the supervisor's affair.
 */
import { Socket } from 'node:net'
import { Channel, type ChannelHandler } from '../../core/channel/channel.ts'
import { systemClock } from '../../core/clock.ts'
import { keepHeapSmall, optimizeEarly } from '../v8-flags.ts'
import { standardError } from '../../core/output/standard-error.ts'
import { InvariantError } from '../../core/errors.ts'
import { readAliases } from '../read-aliases.ts'
import { RenderThread } from '../../models/chat/render-thread.ts'
import { readCertificate, type TlsIdentity } from '../../net/tls/certificate.ts'
import { createLog } from '../../telemetry/log.ts'
import { UpstreamMetrics } from '../../telemetry/upstream-metrics.ts'
import type { EnginePlace } from '../../protocol/engine.ts'
import { openService, type ProcessService } from '../open-service.ts'
import { remoteCredentials } from './credentials-calls.ts'
import { HandedConnections } from './connections/handed-connections.ts'
import type { ModelsTable } from './models/models-table.ts'
import { remoteSharedState } from './shared-state-calls.ts'
import { remoteUsageStore } from './usage-calls.ts'
import { createWorkerEngines } from './models/worker-engines.ts'
import { CHANNEL_FD, needsV8, type WorkerStart } from './worker-messages.ts'
import { WorkerModels } from './models/worker-models.ts'

/** Time for the last lines of the log. */
const FLUSH_MS = 1000

interface Worker {
  readonly service: ProcessService
}

// What a terminal or a service manager sends to all processes of the service is for the supervisor.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {})

keepHeapSmall()

let models: WorkerModels | null = null
let worker: Worker | null = null

const handlers: Readonly<Record<string, ChannelHandler>> = {
  start: async ([start]) => await startWorker(start as WorkerStart),
  'models.tell': async ([table, places]) =>
    await models?.take(table as ModelsTable, places as ReadonlyMap<number, readonly EnginePlace[]>),
  ping: () => null,
  leave: async () => await serving().leave(),
  close: async () => await serving().close(),
  'metrics.values': async () => await worker?.service.metricValues(),
  'errors.own': async () => worker?.service.recentErrors() ?? [],
  reloadAdminKeys: ([keys]) => serving().reloadAdminKeys(() => keys as readonly string[]),
  reloadCertificate: async () => await serving().reloadCertificate(),
}

const channel = new Channel(new Socket({ fd: CHANNEL_FD, readable: true, writable: true }), {
  handlers,
  needsV8,
  onClose: () => void endProcess(),
})

const connections = new HandedConnections(channel)

async function endProcess(): Promise<void> {
  await standardError.flush(FLUSH_MS)
  const { exitAtOnce } = await import('../../engines/child/exit-at-once.ts')
  exitAtOnce(0)
}

function serving(): ProcessService {
  if (worker === null) throw new InvariantError('the worker has started')
  return worker.service
}

async function startWorker({
  number,
  config,
  operator,
  browserSecret,
  tls,
  openedAtUnixSeconds,
}: WorkerStart): Promise<void> {
  const log = createLog({ level: config.logLevel, format: config.logFormat, fields: { worker: number } })
  const upstreams = new UpstreamMetrics()
  const registry = new WorkerModels({
    channel,
    renderThread: new RenderThread(),
    aliases: readAliases(config),
    openEngine: createWorkerEngines({ channel, log, upstreams }),
  })
  models = registry
  // The table is here when the answer is.
  await channel.call('models.follow', [])
  const service = await openService(config, {
    tls: tls === null ? null : await currentIdentity(tls),
    registry,
    quantizeJobs: {
      quantize: (modelId, mode, options) => channel.call('models.quantize', [modelId, mode, options]),
    },
    servedTiers: null,
    log,
    upstreams,
    checked: Promise.resolve(),
    supervised: {
      shared: remoteSharedState(channel),
      usage: remoteUsageStore(channel, () => registry.usageLost),
      isUp: null,
      operator,
      browserSecret,
      instanceCredentials: remoteCredentials(channel),
      connections,
      openedAtUnixSeconds,
      renderService: () => channel.call('metrics.render', []),
      listErrors: () => channel.call('errors.list', []),
    },
  })
  worker = { service }
  optimizeEarly()
}

/** The files may have changed since the supervisor read them, also to what cannot be used. */
async function currentIdentity({ files, certificate }: TlsIdentity): Promise<TlsIdentity> {
  return { files, certificate: await readCertificate(files, systemClock).catch(() => certificate) }
}
