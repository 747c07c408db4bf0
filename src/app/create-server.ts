/**
 * The composition root. Begins with the models: reads their headers and starts their engines, which are processes of their
 * own. The rest of the program is loaded meanwhile, and opens the port as soon as the headers have been checked.
 */
import { completeConfig } from '../config/resolve.ts'
import type { ServerConfig } from '../config/server-config.ts'
import { systemClock } from '../core/clock.ts'
import { InvariantError, StartError } from '../core/errors.ts'
import { InProcessEngine } from '../engines/process/step-loop/in-process-engine.ts'
import { PassthroughRunner } from '../engines/passthrough/passthrough-runner.ts'
import type { PullProgress } from '../checkpoints/hub/pull-model.ts'
import { QuantizeJobs, type QuantizedSize } from '../models/quantize-jobs.ts'
import { ModelRegistry } from '../models/registry.ts'
import type { Engine } from '../protocol/engine.ts'
import { toModelSource, type ModelSource } from '../protocol/model-source.ts'
import { readCertificate, type TlsIdentity } from '../net/tls/certificate.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { checkQuantizable, quantizedTypeOf } from '../checkpoints/quantization-plan.ts'
import { checkpointName } from '../checkpoints/checkpoint-name.ts'
import { type CheckpointOutline, outlineCheckpoint } from '../checkpoints/checkpoint-outline.ts'
import { localCheckpoint } from '../checkpoints/hub/local-checkpoint.ts'
import { createCheckpointOpener } from './open-checkpoint.ts'
import type { Service } from './open-service.ts'

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

export interface RunningServer extends Service {
  /** The models; `register(id, source)` adds one or replaces it without losing a request. */
  readonly registry: ModelRegistry
  /** Settles with the first loads; rejects with a StartError when the `checkpoint` or a model of `models` cannot be. */
  readonly loaded: Promise<void>
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
  const tls = await readTlsIdentity(config)
  const models = await localModels(modelsOf(config), hooks)
  const outlining = outlineAll(models, config)
  const log = createLog({ level: config.logLevel })
  const { registry, quantizeJobs } = createRegistry(config, hooks, log)
  const opening = import('./open-service.ts').then(({ openService }) =>
    openService(config, { tls, registry, quantizeJobs, log, checked: outlining }),
  )
  const loaded = loadAll(outlining, async ({ id, source, outline }) => {
    await registry.register(id, source, { outline })
    logServing(log, { address: (await opening).address, registry, id })
  })
  // Whoever does not wait for it is told by /v1/models and by every answer.
  loaded.catch(() => {})
  try {
    return { ...(await opening), registry, loaded }
  } catch (error) {
    await registry.close()
    throw error
  }
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

async function loadAll(
  outlining: Promise<readonly OutlinedModel[]>,
  load: (model: OutlinedModel) => Promise<void>,
): Promise<void> {
  const outlined = await outlining
  await Promise.all(outlined.map(load))
}

function createRegistry(config: ServerConfig, { onLoadProgress }: ServerHooks, log: Log) {
  const quantized = new WeakMap<ModelSource, QuantizedSize>()
  const registry = new ModelRegistry({
    openEngine: createCheckpointOpener({
      config,
      log,
      onLoadProgress,
      onQuantized: (source, size) => void quantized.set(source, size),
    }),
    openFallback: () => createPassthroughEngine(config),
    maxQueue: config.maxQueue,
    clock: systemClock,
  })
  const quantizeJobs = new QuantizeJobs({
    registry,
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

interface StartModel {
  readonly id: string
  readonly source: ModelSource
}

interface OutlinedModel extends StartModel {
  readonly outline: CheckpointOutline
}

/** What is registered at the start: the checkpoint, which is the default model, then those of the list. */
function modelsOf(config: ServerConfig): readonly StartModel[] {
  const { checkpoint, modelConfig, tokenizer, quantization } = config
  const listed = config.models.map(({ id, ...source }) => ({ id, source: toModelSource(source) }))
  if (checkpoint === null) return listed
  const id = config.modelId ?? checkpointName(checkpoint)
  if (listed.some((model) => model.id === id)) {
    throw new StartError(`models must not name the id '${id}', which is that of the checkpoint.`, 2)
  }
  return [{ id, source: toModelSource({ checkpoint, modelConfig, tokenizer, quantization }) }, ...listed]
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

/** @throws StartError for the first one that cannot be served. */
async function outlineAll(
  models: readonly StartModel[],
  { maxSeqLen, models: listed }: ServerConfig,
): Promise<readonly OutlinedModel[]> {
  const outlined: OutlinedModel[] = []
  for (const { id, source } of models) {
    try {
      outlined.push({ id, source, outline: await outlineCheckpoint(source, { maxSeqLen }) })
      if (source.quantization !== 'none') await checkQuantizable(source)
    } catch (error) {
      const isListed = listed.some((model) => model.id === id)
      if (!isListed || !(error instanceof StartError)) throw error
      throw new StartError(`models: '${id}' cannot be served: ${error.message}`, error.exitCode)
    }
  }
  return outlined
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
