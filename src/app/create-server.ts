/**
 * The composition root. Begins with the models: reads their headers and starts their engines, each in its own process.
 * The rest of the program is loaded while they load, and opens the port.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { ServedTiers } from '../accounts/served-tiers.ts'
import { completeConfig } from '../config/resolve.ts'
import type { ConfigOptions, ServerConfig } from '../config/server-config.ts'
import { systemClock } from '../core/clock.ts'
import { InvariantError, requireObject, ServiceError, showValue, StartError } from '../core/errors.ts'
import { withResolvers } from '../core/concurrency/with-resolvers.ts'
import { describeKvCache } from '../core/text/kv-cache-text.ts'
import { availableCores } from '../engines/llamacpp/threads/cpu-cores.ts'
import { InProcessEngine } from '../engines/process/step-loop/in-process-engine.ts'
import { PassthroughRunner } from '../engines/passthrough/passthrough-runner.ts'
import { QuantizeJobs, type QuantizedSize } from '../models/quantize-jobs.ts'
import { DEFAULT_MODEL_ID, ModelRegistry } from '../models/registry.ts'
import { describePlacement } from '../protocol/compute-device.ts'
import type { Engine } from '../protocol/engine.ts'
import type { ModelInfo } from '../protocol/model-info.ts'
import type { LocalModelSource } from '../protocol/model-source.ts'
import { readCertificate, type TlsIdentity } from '../net/tls/certificate.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { UpstreamMetrics } from '../telemetry/upstream-metrics.ts'
import { quantizedTypeOf } from '../checkpoints/quantization/quantization-plan.ts'
import { localCheckpoint } from '../checkpoints/hub/local-checkpoint.ts'
import { createAdapterOpener, type OpenedModels } from './models/open-adapter.ts'
import { createCheckpointOpener } from './models/open-checkpoint.ts'
import { createOpener, createOutliner } from './models/open-remote.ts'
import { readAliases } from './read-aliases.ts'
import { SocketEngine } from './workers/socket-engine.ts'
import type { Service } from './open-service.ts'
import { KnownOutlines } from '../checkpoints/known-outlines.ts'
import { availableMemoryBytes } from '../checkpoints/memory/available-memory.ts'
import { MemoryFit } from '../checkpoints/memory/memory-need.ts'
import { guardHooks, type ServerHooks } from './models/server-hooks.ts'
import { localModels, type OutlinedModel, outlineAll } from './models/start-models.ts'

/** Every option of the command line but `--config`, in camelCase. */
export interface ServerOptions extends ConfigOptions {
  /** Another name for `checkpoint`. */
  readonly model?: string | null | undefined
}

/**
 * At most so long the modules of the HTTP service, which take this thread for a third of a second, wait for the first load to be on
 * its way: in an engine's process, or in the thread that converts.
 */
const HEAD_START_MS = 100

export interface RunningServer extends Service {
  /** The models; `register(id, source)` adds one or replaces it without losing a request. */
  readonly registry: ModelRegistry
  /** Settles with the first loads; rejects with a StartError when the `checkpoint` or a model of `models` cannot be. */
  readonly loaded: Promise<void>
  /** Replaces the worker processes one by one, without refusing a connection; null where there are none (`workers` 1). */
  readonly replaceWorkers: (() => Promise<void>) | null
}

/**
 * Starts a server. Resolves when it listens; its model may still be loading.
 * @throws StartError for an option that is wrong (exit code 2) or a model that cannot be opened (1); Node's own
 * error when the address cannot be listened on.
 */
export async function createServer(
  options: ServerOptions = {},
  given: ServerHooks = {},
): Promise<RunningServer> {
  requireObject('options of createServer', options)
  requireObject('hooks of createServer', given)
  const { model, ...rest } = options
  refuseTwoCheckpoints(options)
  const config = completeConfig(model === undefined ? rest : { ...rest, checkpoint: model })
  const log = createLog({ level: config.logLevel, format: config.logFormat })
  const hooks = guardHooks(given, log)
  const tls = await readTlsIdentity(config)
  const models = await localModels(config, hooks)
  const outlines = new KnownOutlines(config)
  const outlining = outlineAll(models, config, outlines)
  const servedTiers = new ServedTiers(systemClock)
  const workers = config.workers === 'auto' ? availableCores() : config.workers
  let onChange = (): void => {}
  const engineStart = withResolvers<void>()
  const upstreams = new UpstreamMetrics()
  const { registry, quantizeJobs } = createRegistry(config, {
    ...hooks,
    log,
    upstreams,
    servedTiers,
    outlines,
    isSupervisor: workers > 1,
    onChange: () => onChange(),
    onEngineStart: () => engineStart.resolve(),
  })
  const deps = { tls, registry, quantizeJobs, servedTiers, log, upstreams, checked: outlining }
  const openOne = async () => {
    const { openService } = await import('./open-service.ts')
    return { ...(await openService(config, deps)), replaceWorkers: null }
  }
  const openSeveral = async () => {
    const { openWorkers } = await import('./workers/open-workers.ts')
    const follow = (changed: () => void): void => void (onChange = changed)
    return await openWorkers(config, { ...deps, count: workers, onChange: follow })
  }
  const open = async (): Promise<Omit<RunningServer, 'registry' | 'loaded'>> => {
    await headStart(outlining, engineStart.promise)
    return workers === 1 ? await openOne() : await openSeveral()
  }
  const opening = open()
  const load = async (model: OutlinedModel) => {
    const { id, source, policy } = model
    const ofLocal =
      'outline' in model &&
      ({
        outline: model.outline,
        isPinned: model.isPinned,
        load: model.load === 'request' ? 'request' : 'if-room',
      } as const)
    try {
      await registry.register(id, source, { policy, ...ofLocal })
    } catch (error) {
      // Unregistered before it was loaded, which is not a failed start.
      if (error instanceof ServiceError && error.code === 'model_not_found') return
      throw error
    }
    logServing(log, registry, { address: (await opening).address, id })
  }
  const loaded = outlining.then(async (models) => void (await Promise.all(models.map(load))))
  // A caller that does not await it sees the failure in /v1/models and in every answer.
  loaded.catch(() => {})
  try {
    const service = await opening
    if (models.length === 0) {
      const { address } = service
      log.info(
        { address, model: DEFAULT_MODEL_ID, engine: 'passthrough' },
        'serving the passthrough model, which repeats the prompt',
      )
    }
    return { ...service, registry, loaded }
  } catch (error) {
    await registry.close()
    throw error
  }
}

/** @throws StartError */
function refuseTwoCheckpoints({ model, checkpoint }: ServerOptions): void {
  if (model === undefined || checkpoint === undefined || model === checkpoint) return
  throw new StartError(
    `model and checkpoint name one option, but were ${showValue(model)} and ${showValue(checkpoint)}.`,
    2,
  )
}

async function headStart(
  outlining: Promise<readonly OutlinedModel[]>,
  engineStarted: Promise<void>,
): Promise<void> {
  const models = await outlining.catch(() => [])
  if (models.some((model) => 'outline' in model && model.load === 'start'))
    await Promise.race([engineStarted, pause(HEAD_START_MS)])
}

/** Null where TLS is off. @throws StartError */
async function readTlsIdentity({
  tlsCertfile: certfile,
  tlsKeyfile: keyfile,
}: ServerConfig): Promise<TlsIdentity | null> {
  if (certfile === null || keyfile === null) return null
  const files = { certfile, keyfile }
  return { files, certificate: await readCertificate(files, systemClock) }
}

interface RegistryDeps extends ServerHooks {
  readonly log: Log
  readonly upstreams: UpstreamMetrics
  readonly servedTiers: ServedTiers
  readonly outlines: KnownOutlines
  /** Whether other processes serve the requests. */
  readonly isSupervisor: boolean
  /** Called when models or their engines have changed. */
  readonly onChange: () => void
  /** Called when an engine process has been started, which then loads. */
  readonly onEngineStart: () => void
}

function createRegistry(config: ServerConfig, deps: RegistryDeps) {
  const { onLoadProgress, log, upstreams, servedTiers, outlines, isSupervisor, onChange, onEngineStart } =
    deps
  const opened: OpenedModels = new WeakMap()
  const memory = new MemoryFit(availableMemoryBytes)
  const quantized = new WeakMap<LocalModelSource, QuantizedSize>()
  const registry = new ModelRegistry({
    openEngine: createOpener({
      openLocal: createCheckpointOpener({
        config,
        log,
        onLoadProgress,
        onQuantized: (source, size) => void quantized.set(source, size),
        onEngineChange: onChange,
        onEngineStart,
        opened,
        outlines,
        memory,
      }),
      openAdapter: createAdapterOpener({ ...config, log, opened, memory }),
      log,
      // Those of workers measure their own requests.
      ...(!isSupervisor && { upstreams }),
      onEngineChange: onChange,
    }),
    openFallback: () =>
      isSupervisor ? createSocketEngine(config, onChange) : createPassthroughEngine(config),
    onChange,
    aliases: readAliases(config),
    outlineModel: createOutliner(outlines, log),
    maxQueue: config.maxQueue,
    maxLoaded: config.maxLoadedModels,
    idleUnloadMs: config.idleUnload === null ? null : config.idleUnload * 1000,
    servedClasses: () => servedTiers.priorityClasses(),
    clock: systemClock,
  })
  const quantizeJobs = new QuantizeJobs({
    registry,
    clock: systemClock,
    findQuantizedType: async (source) =>
      quantizedTypeOf({ ...source, checkpoint: await localCheckpoint(source.checkpoint, {}) }),
    resultOf: (source) => {
      const size = quantized.get(source)
      if (size === undefined) throw new InvariantError(`${source.checkpoint} serves and was not quantized`)
      return size
    },
  })
  return { registry, quantizeJobs }
}

/** An upstream does not say how many it runs at once. */
function readSlots({ engine, maxBatchSize }: ModelInfo): number | null {
  return engine === 'openai' ? null : maxBatchSize
}

function createPassthroughEngine(config: ServerConfig): Engine {
  const { maxBatchSize, maxSeqLen, schedulePolicy } = config
  const runner = new PassthroughRunner({ maxBatchSize, maxSeqLen })
  return new InProcessEngine({ runner, schedulePolicy })
}

function createSocketEngine(config: ServerConfig, onListening: () => void): Engine {
  const { maxBatchSize, maxSeqLen, schedulePolicy } = config
  const runner = new PassthroughRunner({ maxBatchSize, maxSeqLen })
  return new SocketEngine({ runner, schedulePolicy, onListening })
}

/** Of what computes on this machine. */
function describeDevice({ engine, placement }: ModelInfo): { readonly device?: string } {
  if (placement !== undefined) return { device: describePlacement(placement) }
  return engine === 'llama.cpp' ? { device: 'CPU' } : {}
}

/** The start-up line of a model; nothing when the model was unregistered meanwhile. */
function logServing(
  log: Log,
  registry: ModelRegistry,
  { address, id }: { address: string; id: string },
): void {
  const record = registry.list().find((one) => one.id === id)
  if (record?.state === 'unloaded') log.info({ address, model: id }, 'registered: the first request loads it')
  if (!record?.info) return
  const { info } = record
  const { engine, architecture, parameters, quantization, draft, maxSeqLen, threads, memoryBytes } = info
  const weights = { parameters, quantization, ...(draft !== undefined && { draft: draft.name }) }
  const numbers = { ...weights, maxSeqLen, slots: readSlots(info), threads, memoryBytes }
  const others = { ...describeDevice(info), ...kvCacheOf(info) }
  log.info({ address, model: id, engine, architecture, ...numbers, ...others }, 'serving')
}

function kvCacheOf({ kvCacheTokens, sharesKvCache = false, maxBatchSize, maxSeqLen }: ModelInfo) {
  if (kvCacheTokens === undefined || maxSeqLen === null) return {}
  return {
    kvCache: describeKvCache({ tokens: kvCacheTokens, isShared: sharesKvCache, maxBatchSize, maxSeqLen }),
  }
}
