/**
 * The composition root: the one file that knows every part. Builds a server from its configuration, opens the port
 * as soon as the model's headers have been checked, loads the model behind it, and takes all of it down again.
 */
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { createAdminCheck } from '../accounts/admin-secret.ts'
import { buildApp } from '../api/app.ts'
import { completeConfig } from '../config/resolve.ts'
import type { ServerConfig } from '../config/server-config.ts'
import { systemClock } from '../core/clock.ts'
import { GracefulClose } from '../http/graceful-close.ts'
import { InProcessEngine } from '../engines/local/in-process-engine.ts'
import { PassthroughRunner } from '../engines/passthrough/passthrough-runner.ts'
import { AddressLimiter } from '../limits/address-limiter.ts'
import { QuantizeJobs } from '../models/quantize-jobs.ts'
import { ModelRegistry, type ModelSource } from '../models/registry.ts'
import type { Engine } from '../protocol/engine.ts'
import { createLog, type Log } from '../telemetry/log.ts'
import { checkModelFiles } from '../weights/model-file.ts'
import { checkQuantizable, quantizedTypeOf } from '../weights/quantization-plan.ts'
import { createCheckpointOpener } from './open-checkpoint.ts'
import { measureQuantization } from './quantize-model.ts'
import { openState, type ServerState } from './state.ts'

/** Every option of the command line in camelCase; `model` is another name for `checkpoint`. */
export type ServerOptions = Partial<ServerConfig> & { readonly model?: string }

export interface ServerHooks {
  /** Told while a model loads, with 0 to 1. */
  readonly onLoadProgress?: (modelId: string, fraction: number) => void
}

export interface RunningServer {
  /** `http://127.0.0.1:8080` */
  readonly address: string
  /** The key made for this run because none was configured; null otherwise. */
  readonly operatorKey: string | null
  /** The models; `register(id, source)` adds one or replaces it without losing a request. */
  readonly registry: ModelRegistry
  /** Settles with the first load; rejects with a StartError when the `checkpoint` cannot be served. */
  readonly loaded: Promise<void>
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
  const source = modelSource(config)
  if (source !== null) await checkModelFiles(source)
  if (source !== null && config.quantization !== 'none') await checkQuantizable(source)

  const log = createLog({ level: config.logLevel })
  const state = await openState(config, { log, clock: systemClock })
  const registry = new ModelRegistry({
    openEngine: createCheckpointOpener({ config, log, onLoadProgress: hooks.onLoadProgress }),
    openFallback: () => createPassthroughEngine(config),
    maxQueue: config.maxQueue,
    clock: systemClock,
  })
  let isDraining = false
  const app = buildApp({
    ...state,
    registry,
    quantizeJobs: new QuantizeJobs({
      registry,
      findQuantizedType: quantizedTypeOf,
      measure: (source, mode) => measureQuantization(source, { mode, dataDir: config.dataDir, log }),
    }),
    modelAdmin: config.modelAdmin,
    adminCheck: createAdminCheck(config.adminKey),
    addressLimiter:
      config.rateLimit === null
        ? null
        : new AddressLimiter({ requestsPerMinute: config.rateLimit, clock: systemClock }),
    corsOrigins: config.corsOrigins,
    clock: systemClock,
    log,
    isReady: () => !isDraining && registry.isReady,
    isDraining: () => isDraining,
  })
  const graceful = new GracefulClose(app.server)
  try {
    await app.listen({ host: config.host, port: config.port })
  } catch (error) {
    await registry.close()
    await state.close()
    throw error
  }

  const address = addressOf(app.server.address() as AddressInfo)
  const loaded = source === null ? Promise.resolve() : registry.register(modelId(config, source), source)
  loaded.then(
    () => logServing(log, { address, registry }),
    // Whoever does not wait for `loaded` is told by /v1/models and by every answer.
    () => {},
  )
  let closing: Promise<void> | null = null
  return {
    address,
    operatorKey: state.operatorKey,
    registry,
    loaded,
    close: () => {
      isDraining = true
      closing ??= shutDown({ app, graceful, registry, state, log, timeoutMs: config.shutdownTimeout * 1000 })
      return closing
    },
  }
}

function modelSource({ checkpoint, modelConfig, tokenizer, quantization }: ServerConfig): ModelSource | null {
  return checkpoint === null ? null : { checkpoint, modelConfig, tokenizer, quantization }
}

/** The stem of the checkpoint's folder or file, without the number of a split. */
function modelId(config: ServerConfig, { checkpoint }: ModelSource): string {
  if (config.modelId !== null) return config.modelId
  const name = path.basename(path.resolve(checkpoint))
  return name.replace(/\.(gguf|safetensors)$/, '').replace(/-\d{5}-of-\d{5}$/, '')
}

function createPassthroughEngine(config: ServerConfig): Engine {
  const { maxBatchSize, maxSeqLen, maxQueue, schedulePolicy } = config
  const runner = new PassthroughRunner({ maxBatchSize, maxSeqLen })
  return new InProcessEngine({ runner, schedulePolicy, maxQueue })
}

/** The start-up line. */
function logServing(log: Log, { address, registry }: Pick<RunningServer, 'address' | 'registry'>): void {
  // The model may have been taken away again while others waited for it.
  const record = registry.list().find(({ info }) => info !== null)
  if (!record?.info) return
  const { id, info } = record
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

function addressOf({ address, family, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

interface ShutDownOptions {
  readonly app: ReturnType<typeof buildApp>
  readonly graceful: GracefulClose
  readonly registry: ModelRegistry
  readonly state: ServerState
  readonly log: Log
  readonly timeoutMs: number
}

async function shutDown({ app, graceful, registry, state, log, timeoutMs }: ShutDownOptions): Promise<void> {
  const isDrained = await graceful.drain(timeoutMs)
  if (!isDrained) log.warn({ timeoutMs }, 'requests were still running at the end of the shutdown time-out')
  // Streams that still run get their error event from their engine's end.
  await registry.close()
  await graceful.close()
  await app.close()
  await state.close()
  log.info('stopped')
}
