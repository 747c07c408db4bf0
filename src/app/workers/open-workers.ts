/**
 * The service as a supervisor with its worker processes (`--workers`): the supervisor owns databases' locks, usage, shared state,
 * models and the listening sockets, and parses no request; the workers do everything about requests.
 * Invariant: whatever process ends, none of the others is left over, and nothing that a worker held stays held.
 */
import { StartError } from '../../core/errors.ts'
import type { ServerConfig } from '../../config/server-config.ts'
import { systemClock } from '../../core/clock.ts'
import type { Channel, ChannelHandler } from '../../core/channel/channel.ts'
import type { QuantizeJobs } from '../../models/quantize-jobs.ts'
import type { ModelRegistry } from '../../models/registry.ts'
import { Metrics } from '../../telemetry/metrics.ts'
import { UsageRecorder } from '../../usage/usage-recorder.ts'
import { knockSequence, type Service, type ServiceDeps } from '../open-service.ts'
import { openSharedState } from '../open-shared-state.ts'
import { createAdminKeyReload } from '../reload-admin-keys.ts'
import { openState, type ServerState } from '../state.ts'
import { credentialsHandlers } from './credentials-calls.ts'
import { modelsHandlers } from './models-calls.ts'
import { ModelsPublisher, type ModelsReader } from './models-publisher.ts'
import { WorkerShare } from './shared-state-calls.ts'
import { renderServiceMetrics } from './service-metrics.ts'
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
  const opened = await openSharedState(given, { knockSequence: knockSequence(given), clock, log })
  const { shared } = opened
  const state = await openState(given, { log, clock, shared }).catch(async (error: unknown) => {
    await opened.close()
    throw error
  })
  const { operatorKey, withoutOperatorKey, staticKeySalt } = state
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
  let config = given
  const startWorker = async (number: number) => {
    const share = new WorkerShare(shared)
    const holds = new WorkerHolds()
    let reader: ModelsReader | null = null
    const follow = async (channel: Channel): Promise<void> => {
      reader = { holds, tell: (table, places) => channel.call('models.tell', [table, places]) }
      await publisher.add(reader)
    }
    const worker = await startWorkerProcess({
      start: { number, config, operator: { operatorKey, withoutOperatorKey, staticKeySalt }, tls },
      handlers: (channel): Record<string, ChannelHandler> => ({
        ...share.handlers(),
        ...holds.handlers(),
        ...credentialsHandlers(state.instanceCredentials),
        ...usageHandlers({ usage: state.usage, recorder }),
        ...modelsHandlers({ registry, quantizeJobs, publisher }),
        'models.follow': () => follow(channel()),
        'metrics.render': () => renderServiceMetrics(metrics, pool.workers),
      }),
      onEnd: () => {
        share.end()
        if (reader !== null) publisher.remove(reader)
      },
    })
    return keepAddress(worker)
  }
  let address: string | null = null
  /** With `--port 0` the free port that was found is lost once every worker has died: from then on it is asked for by its number. */
  const keepAddress = (worker: WorkerProcess): WorkerProcess => {
    address ??= worker.address
    if (worker.address === address) return worker
    worker.kill()
    config = { ...config, port: Number(new URL(address).port) }
    throw new StartError(`A worker listened at ${worker.address} and not at ${address}.`, 1)
  }
  const pool = new WorkerProcesses({ count, startWorker, clock, log })
  const closeAll = async (timeoutMs: number): Promise<void> => {
    await pool.close(timeoutMs)
    publisher.close()
    await registry.close()
    await recorder.close()
    await state.close()
    await opened.close()
  }
  try {
    await servedTiers?.open(state.findServedTiers)
    const listening = await pool.open()
    return createService({ ...deps, config, state, pool, closeAll }, listening, (adminKey) => {
      config = { ...config, adminKey }
    })
  } catch (error) {
    publisher.close()
    await recorder.close()
    await state.close()
    await opened.close()
    throw error
  }
}

interface ServiceParts extends Pick<WorkersDeps, 'log'> {
  readonly config: ServerConfig
  readonly state: ServerState
  readonly pool: WorkerProcesses
  readonly closeAll: (timeoutMs: number) => Promise<void>
}

function createService(
  { config, state, pool, closeAll, log }: ServiceParts,
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
    reloadCertificate: () => callAll('reloadCertificate'),
    reloadAdminKeys: createAdminKeyReload(config, { ...state, guards: { watchForAdminKeys }, log }),
    replaceWorkers: () => pool.replaceAll(),
    close: async () => {
      closing ??= closeAll(config.shutdownTimeout * 1000).then(() => log.info('stopped'))
      await closing
    },
  }
}
