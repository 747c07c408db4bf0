/**
 * The composition root: the one file that knows every part. Builds a server from its configuration, opens the port
 * as soon as the model's headers have been checked, loads the model behind it, and takes all of it down again.
 */
import { createAdminCheck } from '../accounts/admin-secret.ts'
import { buildApp } from '../api/app.ts'
import { completeConfig } from '../config/resolve.ts'
import type { ServerConfig } from '../config/server-config.ts'
import { systemClock } from '../core/clock.ts'
import { InvariantError, StartError } from '../core/errors.ts'
import { GracefulClose } from '../http/graceful-close.ts'
import { InProcessEngine } from '../engines/local/in-process-engine.ts'
import { PassthroughRunner } from '../engines/passthrough/passthrough-runner.ts'
import { QuantizeJobs, type QuantizedSize } from '../models/quantize-jobs.ts'
import { ModelRegistry, type ModelSource } from '../models/registry.ts'
import type { Engine } from '../protocol/engine.ts'
import type { PullProgress } from '../hub/pull-model.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { Metrics } from '../telemetry/metrics.ts'
import { checkpointName } from './checkpoint-name.ts'
import { localCheckpoint } from './local-checkpoint.ts'
import { type CheckpointOutline, outlineCheckpoint } from './checkpoint-outline.ts'
import { checkQuantizable, quantizedTypeOf } from '../weights/quantization-plan.ts'
import { type Entrance, openEntrance, readTlsIdentity } from './entrance.ts'
import { createCheckpointOpener } from './open-checkpoint.ts'
import { createGuards, type Guards } from './guards.ts'
import { openState, type ServerState } from './state.ts'

/** Every option of the command line in camelCase; `model` is another name for `checkpoint`. */
export type ServerOptions = Partial<ServerConfig> & { readonly model?: string }

export interface ServerHooks {
  /** Told while a model loads, with 0 to 1. */
  readonly onLoadProgress?: (modelId: string, fraction: number) => void
  /** Told while the checkpoint is downloaded, before the server listens. */
  readonly onDownloadProgress?: (progress: PullProgress) => void
  /** Told what a person should know about the download, in sentences. */
  readonly onNotice?: (sentence: string) => void
  /** Ends the download. */
  readonly signal?: AbortSignal
}

export interface RunningServer {
  /** `http://127.0.0.1:8080`, or with `https:` */
  readonly address: string
  /** The key made for this run because none was configured; null otherwise. */
  readonly operatorKey: string | null
  /** The models; `register(id, source)` adds one or replaces it without losing a request. */
  readonly registry: ModelRegistry
  /** Settles with the first loads; rejects with a StartError when the `checkpoint` or a model of `models` cannot be. */
  readonly loaded: Promise<void>
  /** Reads the TLS files again, if there are any; what is wrong with them is logged, and the old ones are kept. */
  reloadCertificate(): Promise<void>
  /** Refuses new requests, lets running ones finish for up to `shutdownTimeout` seconds, then ends them. */
  close(): Promise<void>
}

/**
 * Starts a server. Resolves when it listens; its model may still be loading.
 * @throws StartError for an option that is wrong (exit code 2) or a model that cannot be opened (1); Node's own
 * error when the address cannot be listened on.
 */
export async function createServer(
  options: ServerOptions = {},
  hooks: ServerHooks = {},
): Promise<RunningServer> {
  const { model, ...rest } = options
  const config = completeConfig(model === undefined ? rest : { ...rest, checkpoint: model })
  const tls = await readTlsIdentity(config, systemClock)
  const models = await localModels(modelsOf(config), hooks)
  const outlines = await outlineAll(models, config)

  const log = createLog({ level: config.logLevel })
  const state = await openState(config, { log, clock: systemClock })
  const quantized = new WeakMap<ModelSource, QuantizedSize>()
  const registry = new ModelRegistry({
    openEngine: createCheckpointOpener({
      config,
      log,
      onLoadProgress: hooks.onLoadProgress,
      knownOutline: (source) => outlines.get(source),
      onQuantized: (source, size) => void quantized.set(source, size),
    }),
    openFallback: () => createPassthroughEngine(config),
    maxQueue: config.maxQueue,
    clock: systemClock,
  })
  let isDraining = false
  const isReady = () => !isDraining && registry.isReady
  const metrics = new Metrics({ models: registry, isReady })
  const guards = createGuards(config, systemClock)
  const app = buildApp({
    ...state,
    ...guards,
    registry,
    quantizeJobs: new QuantizeJobs({
      registry,
      findQuantizedType: async (source) =>
        quantizedTypeOf({ ...source, checkpoint: await localCheckpoint(source.checkpoint, {}) }),
      resultOf: (source) => {
        const size = quantized.get(source)
        if (size === undefined) throw new InvariantError(`${source.checkpoint} serves and was not quantized`)
        return size
      },
    }),
    modelAdmin: config.modelAdmin,
    adminCheck: createAdminCheck(config.adminKey),
    corsOrigins: config.corsOrigins,
    clock: systemClock,
    log,
    metrics,
    isReady,
    isDraining: () => isDraining,
  })
  const graceful = new GracefulClose(app.server)
  const entrance = await openEntrance(app, { config, tls, clock: systemClock, log, metrics }).catch(
    async (error: unknown) => {
      await registry.close()
      await guards.close()
      await state.close()
      throw error
    },
  )

  const { address } = entrance
  const loads = models.map(async ({ id, source }) => {
    const outline = outlines.get(source)
    await registry.register(id, source, outline === undefined ? {} : { outline })
    logServing(log, { address, registry, id })
  })
  const loaded = allOf(loads)
  // Whoever does not wait for `loaded` is told by /v1/models and by every answer.
  loaded.catch(() => {})
  let closing: Promise<void> | null = null
  return {
    address,
    operatorKey: state.operatorKey,
    registry,
    loaded,
    reloadCertificate: () => entrance.reloadCertificate(),
    close: () => {
      isDraining = true
      closing ??= shutDown({
        app,
        entrance,
        graceful,
        registry,
        guards,
        state,
        log,
        timeoutMs: config.shutdownTimeout * 1000,
      })
      return closing
    },
  }
}

async function allOf(loads: readonly Promise<void>[]): Promise<void> {
  await Promise.all(loads)
}

interface StartModel {
  readonly id: string
  readonly source: ModelSource
}

/** What is registered at the start: the checkpoint, which is the default model, then those of the list. */
function modelsOf(config: ServerConfig): readonly StartModel[] {
  const { checkpoint, modelConfig, tokenizer, quantization } = config
  const listed = config.models.map(({ id, ...source }) => ({ id, source }))
  if (checkpoint === null) return listed
  const id = config.modelId ?? checkpointName(checkpoint)
  if (listed.some((model) => model.id === id)) {
    throw new StartError(`models must not name the id '${id}', which is that of the checkpoint.`, 2)
  }
  return [{ id, source: { checkpoint, modelConfig, tokenizer, quantization } }, ...listed]
}

/** With their checkpoints on this machine, where they may have to be downloaded to first. */
async function localModels(
  models: readonly StartModel[],
  { onDownloadProgress, onNotice, signal }: ServerHooks,
): Promise<readonly StartModel[]> {
  const local: StartModel[] = []
  for (const { id, source } of models) {
    const options = { onProgress: onDownloadProgress, onNotice, signal }
    local.push({ id, source: { ...source, checkpoint: await localCheckpoint(source.checkpoint, options) } })
  }
  return local
}

/** By their sources. @throws StartError for the first one that cannot be served. */
async function outlineAll(
  models: readonly StartModel[],
  { maxSeqLen, models: listed }: ServerConfig,
): Promise<ReadonlyMap<ModelSource, CheckpointOutline>> {
  const outlines = new Map<ModelSource, CheckpointOutline>()
  for (const { id, source } of models) {
    try {
      outlines.set(source, await outlineCheckpoint(source, { maxSeqLen }))
      if ((source.quantization ?? 'none') !== 'none') await checkQuantizable(source)
    } catch (error) {
      const isListed = listed.some((model) => model.id === id)
      if (!isListed || !(error instanceof StartError)) throw error
      throw new StartError(`models: '${id}' cannot be served: ${error.message}`, error.exitCode)
    }
  }
  return outlines
}

function createPassthroughEngine(config: ServerConfig): Engine {
  const { maxBatchSize, maxSeqLen, schedulePolicy } = config
  const runner = new PassthroughRunner({ maxBatchSize, maxSeqLen })
  // The registry counts who waits, over all models.
  return new InProcessEngine({ runner, schedulePolicy, maxQueue: Number.POSITIVE_INFINITY })
}

interface ServingLine extends Pick<RunningServer, 'address' | 'registry'> {
  readonly id: string
}

/** The start-up line. */
function logServing(log: Log, { address, registry, id }: ServingLine): void {
  // The model may have been taken away again meanwhile.
  const info = registry.list().find((record) => record.id === id)?.info
  if (!info) return
  const { architecture, parameters, quantization, maxSeqLen, maxBatchSize, threads, memoryBytes, engine } =
    info
  log.info(
    {
      address,
      model: id,
      engine,
      architecture,
      parameters,
      quantization,
      maxSeqLen,
      slots: maxBatchSize,
      threads,
      memoryBytes,
    },
    'serving',
  )
}

interface ShutDownOptions {
  readonly app: ReturnType<typeof buildApp>
  readonly entrance: Entrance
  readonly graceful: GracefulClose
  readonly registry: ModelRegistry
  readonly guards: Guards
  readonly state: ServerState
  readonly log: Log
  readonly timeoutMs: number
}

async function shutDown(options: ShutDownOptions): Promise<void> {
  const { app, entrance, graceful, registry, guards, state, log, timeoutMs } = options
  const draining = graceful.drain(timeoutMs)
  await entrance.close()
  const isDrained = await draining
  if (!isDrained) log.warn({ timeoutMs }, 'requests were still running at the end of the shutdown time-out')
  // Streams that still run get their error event from their engine's end.
  await registry.close()
  await graceful.close()
  await app.close()
  await guards.close()
  await state.close()
  log.info('stopped')
}
