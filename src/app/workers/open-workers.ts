/**
 * The service as a supervisor with its worker processes (`--workers`): the supervisor owns databases' locks, usage, shared state,
 * models and the listening sockets, and parses no request; the workers do everything about requests.
 * Invariant: whatever process ends, none of the others is left over, and nothing that a worker held stays held.
 */
import type { ServerConfig } from '../../config/server-config.ts'
import { systemClock } from '../../core/clock.ts'
import type { Channel, ChannelHandler } from '../../core/channel/channel.ts'
import { type OpenPorts, openPortsForOthers } from '../../net/listener.ts'
import type { QuantizeJobs } from '../../models/quantize-jobs.ts'
import type { ModelRegistry } from '../../models/registry.ts'
import { Metrics } from '../../telemetry/metrics.ts'
import { mergeErrors, type RecentError } from '../../telemetry/recent-errors.ts'
import { UsageRecorder } from '../../usage/usage-recorder.ts'
import { createConsoleUrl, knockSequence, type Service, type ServiceDeps } from '../open-service.ts'
import { openSharedState } from '../open-shared-state.ts'
import { createAdminKeyReload } from '../reload-admin-keys.ts'
import { openState, type ServerState } from '../state.ts'
import { bringAdminKeys } from './bring-admin-keys.ts'
import { ConnectionDealer } from './connections/connection-dealer.ts'
import { credentialsHandlers } from './credentials-calls.ts'
import { modelsHandlers } from './models/models-calls.ts'
import { ModelsPublisher, type ModelsReader } from './models/models-publisher.ts'
import { WorkerShare } from './shared-state-calls.ts'
import { ServiceMetrics } from './service-metrics.ts'
import { usageHandlers } from './usage-calls.ts'
import { WorkerHolds } from './worker-holds.ts'
import { WorkerProcesses } from './worker-processes.ts'
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts'

export interface WorkersDeps extends Omit<ServiceDeps, 'registry' | 'quantizeJobs' | 'supervised'> {
  readonly registry: ModelRegistry
  readonly quantizeJobs: Pick<QuantizeJobs, 'quantize'>
  readonly count: number
  /** Called with what is to be called when the models or their engines have changed. */
  readonly onChange: (changed: () => void) => void
}

export interface SupervisedService extends Service {
  /** Replaces the workers one by one; no connection is refused. */
  replaceWorkers(): Promise<void>
}

/** @throws as `openService` */
export async function openWorkers(given: ServerConfig, deps: WorkersDeps): Promise<SupervisedService> {
  const { registry, quantizeJobs, servedTiers, log, checked, tls, count } = deps
  await checked
  const clock = systemClock
  const knock = knockSequence(given)
  const opened = await openSharedState(given, { knockSequence: knock, clock, log })
  const { shared } = opened
  const portKnock = knock && { ports: knock.ports, knocks: shared.knocks }
  const state = await openState(given, { log, clock, shared }).catch(async (error: unknown) => {
    await opened.close()
    throw error
  })
  const { operatorKey, withoutOperatorKey, staticKeySalt, browserSecret } = state
  const recorder = new UsageRecorder(state.usage)
  const publisher = new ModelsPublisher({
    registry,
    usageLost: () => state.usage.whyLost(),
    whyUnavailable: () => opened.whyUnavailable(),
    log,
  })
  deps.onChange(() => publisher.changed())
  const metrics = new Metrics({
    models: registry,
    isReady: () => (state.storageWatch.lost ?? opened.whyUnavailable() ?? registry.whyNotReady()) === null,
    isRedisUp: opened.isRedisUp,
    isDatabaseUp: state.isDatabaseUp,
  })
  const serviceMetrics = new ServiceMetrics(metrics)
  const openedAtUnixSeconds = clock.unixSeconds()
  let config = given
  const dealer = new ConnectionDealer()
  const startWorker = async (number: number) => {
    const share = new WorkerShare(shared)
    const holds = new WorkerHolds()
    let reader: ModelsReader | null = null
    const follow = async (channel: Channel): Promise<void> => {
      reader = { holds, tell: (table, places) => channel.call('models.tell', [table, places]) }
      await publisher.add(reader)
    }
    const started = config
    const worker = await startWorkerProcess({
      start: {
        ...{
          number,
          config,
          operator: { operatorKey, withoutOperatorKey, staticKeySalt },
          browserSecret,
          tls,
        },
        openedAtUnixSeconds,
      },
      handlers: (channel): Record<string, ChannelHandler> => ({
        ...share.handlers(),
        ...holds.handlers(),
        ...credentialsHandlers(state.instanceCredentials),
        ...usageHandlers({ usage: state.usage, recorder }),
        ...modelsHandlers({ registry, quantizeJobs, publisher }),
        'models.follow': () => follow(channel()),
        'connections.taken': ([id]) => dealer.taken(id as number),
        'metrics.render': () => serviceMetrics.render(pool.workers),
        'errors.list': () => listErrors(pool.workers),
      }),
      onEnd: () => {
        share.end()
        if (reader !== null) publisher.remove(reader)
      },
    })
    await bringAdminKeys(worker, started.adminKey, () => config.adminKey)
    return worker
  }
  const pool = new WorkerProcesses({
    ...{ count, startWorker, dealer, clock, log },
    onLeaving: (worker) => serviceMetrics.read(worker),
    onEnd: (worker) => {
      dealer.end(worker)
      serviceMetrics.end(worker)
    },
  })
  let ports: OpenPorts | null = null
  const closeAll = async (timeoutMs: number): Promise<void> => {
    ports?.close()
    await pool.close(timeoutMs)
    dealer.close()
    publisher.close()
    await registry.close()
    await recorder.close()
    await state.close()
    await opened.close()
  }
  try {
    await servedTiers?.open(state.findServedTiers)
    await pool.open()
    const { host, port } = config
    ports = await openPortsForOthers({ host, port, tls, portKnock, log }, (socket) => dealer.deal(socket))
    const { address } = ports
    const consoleUrl = await createConsoleUrl(config, state, address)
    return createService({ ...deps, config, state, pool, closeAll, consoleUrl }, address, (adminKey) => {
      config = { ...config, adminKey }
    })
  } catch (error) {
    await closeAll(0)
    throw error
  }
}

/** Those of a worker that has ended are gone with it. */
async function listErrors(workers: readonly WorkerProcess[]): Promise<readonly RecentError[]> {
  const lists = workers.map(({ channel }) =>
    channel.call<readonly RecentError[]>('errors.own', []).catch(() => []),
  )
  return mergeErrors(await Promise.all(lists))
}

interface ServiceParts extends Pick<WorkersDeps, 'log'> {
  readonly config: ServerConfig
  readonly state: ServerState
  readonly pool: WorkerProcesses
  readonly closeAll: (timeoutMs: number) => Promise<void>
  readonly consoleUrl: string | null
}

function createService(
  { config, state, pool, closeAll, consoleUrl, log }: ServiceParts,
  address: string,
  keepAdminKey: (keys: readonly string[]) => void,
): SupervisedService {
  /** A worker that dies meanwhile is started with what is valid by then. */
  const callAll = async (method: string, args: readonly unknown[] = []): Promise<void> => {
    await Promise.allSettled(pool.workers.map(({ channel }) => channel.call(method, args)))
  }
  const watchForAdminKeys = (keys: readonly string[]): void => {
    keepAdminKey(keys)
    void callAll('reloadAdminKeys', [keys])
  }
  let closing: Promise<void> | null = null
  return {
    address,
    operatorKey: state.operatorKey,
    withoutOperatorKey: state.withoutOperatorKey,
    consoleUrl,
    reloadCertificate: () => callAll('reloadCertificate'),
    reloadAdminKeys: createAdminKeyReload(config, { ...state, guards: { watchForAdminKeys }, log }),
    replaceWorkers: () => pool.replaceAll(),
    close: async () => {
      closing ??= closeAll(config.shutdownTimeout * 1000).then(() => log.info('stopped'))
      await closing
    },
  }
}
