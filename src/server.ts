/**
 * The composition root: the one file that knows every part. Builds a server from its configuration, opens the port
 * as soon as the model's headers have been checked, loads the model behind it, and takes all of it down again.
 */
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { Authenticator } from './accounts/authenticator.ts'
import { newKeySecret } from './accounts/key-secret.ts'
import { createOpenAuthenticator, createStaticKeyAuthenticator } from './accounts/static-keys.ts'
import { buildApp } from './api/app.ts'
import { completeConfig } from './config/resolve.ts'
import type { ServerConfig } from './config/server-config.ts'
import { systemClock } from './core/clock.ts'
import { GracefulClose } from './http/graceful-close.ts'
import { EngineHost } from './engines/local/engine-host.ts'
import { InProcessEngine } from './engines/local/in-process-engine.ts'
import { PassthroughRunner } from './engines/passthrough/passthrough-runner.ts'
import { ModelRegistry, type ModelSource, type OpenEngine } from './models/registry.ts'
import type { Engine } from './protocol/engine.ts'
import type { MetadataOverride as RunnerMetadataOverride } from './protocol/runner-options.ts'
import { createLog, type Log } from './telemetry/log.ts'
import { numberValue, type GgufModel } from './weights/gguf-file.ts'
import type { MetadataOverride } from './weights/gguf-overrides.ts'
import { checkModelFiles, resolveModelFile } from './weights/model-file.ts'

/** Share of the progress that converting takes, when a checkpoint has to be converted before it is loaded. */
const CONVERSION_SHARE = 0.9

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

  const log = createLog({ level: config.logLevel })
  const { authenticator, operatorKey } = createAuthenticator(config)
  const registry = new ModelRegistry({
    openEngine: engineOpener({ config, log, hooks }),
    openFallback: () => createPassthroughEngine(config),
    maxQueue: config.maxQueue,
    clock: systemClock,
  })
  let isDraining = false
  const app = buildApp({
    registry,
    authenticator,
    clock: systemClock,
    log,
    isReady: () => !isDraining && registry.isReady,
    isDraining: () => isDraining,
  })
  const graceful = new GracefulClose(app.server)
  await app.listen({ host: config.host, port: config.port })

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
    operatorKey,
    registry,
    loaded,
    close: () => {
      isDraining = true
      closing ??= shutDown({ app, graceful, registry, log, timeoutMs: config.shutdownTimeout * 1000 })
      return closing
    },
  }
}

function modelSource({ checkpoint, modelConfig, tokenizer }: ServerConfig): ModelSource | null {
  return checkpoint === null ? null : { checkpoint, modelConfig, tokenizer }
}

/** The stem of the checkpoint's folder or file, without the number of a split. */
function modelId(config: ServerConfig, { checkpoint }: ModelSource): string {
  if (config.modelId !== null) return config.modelId
  const name = path.basename(path.resolve(checkpoint))
  return name.replace(/\.(gguf|safetensors)$/, '').replace(/-\d{5}-of-\d{5}$/, '')
}

/** Keys as configured, or one for this run when there are none. */
function createAuthenticator(config: ServerConfig): {
  authenticator: Authenticator
  operatorKey: string | null
} {
  if (config.authMode === 'none') return { authenticator: createOpenAuthenticator(), operatorKey: null }
  if (config.apiKeys.length > 0) {
    return { authenticator: createStaticKeyAuthenticator(config.apiKeys), operatorKey: null }
  }
  const operatorKey = newKeySecret()
  return { authenticator: createStaticKeyAuthenticator([operatorKey]), operatorKey }
}

function createPassthroughEngine(config: ServerConfig): Engine {
  const { maxBatchSize, maxSeqLen, maxQueue, schedulePolicy } = config
  const runner = new PassthroughRunner({ maxBatchSize, maxSeqLen })
  return new InProcessEngine({ runner, schedulePolicy, maxQueue })
}

interface EngineOpenerDeps {
  readonly config: ServerConfig
  readonly log: Log
  readonly hooks: ServerHooks
}

/** Opens a checkpoint in an engine process, converting it first where it must be. */
function engineOpener({ config, log, hooks }: EngineOpenerDeps): OpenEngine {
  return async (modelId, source, { onProgress, signal }) => {
    const report = (fraction: number): void => {
      onProgress(fraction)
      hooks.onLoadProgress?.(modelId, fraction)
    }
    const { model, overrides, isNewConversion } = await resolveModelFile({
      ...source,
      dataDir: config.dataDir,
      onProgress: (fraction) => report(fraction * CONVERSION_SHARE),
      signal,
    })
    warnOfLongContext(log, config.maxSeqLen, model)
    const done = isNewConversion ? CONVERSION_SHARE : 0
    const { maxBatchSize, maxSeqLen, threads, gpu, gpuLayers, schedulePolicy, maxQueue } = config
    return EngineHost.start(
      {
        runner: {
          modelId,
          modelPath: model.path,
          maxBatchSize,
          maxSeqLen,
          threads,
          gpu,
          gpuLayers,
          kvCacheType: 'f16',
          metadataOverrides: overrides.map(toRunnerOverride),
        },
        schedulePolicy,
        maxQueue,
      },
      {
        onProgress: (fraction) => report(done + fraction * (1 - done)),
        onLogLine: (line) => log.debug({ model: modelId }, line),
        onCrash: (how) => log.error({ model: modelId }, `the engine process ${how}`),
        onRestart: (pid) => log.info({ model: modelId, pid }, 'the engine process was started again'),
      },
      signal,
    )
  }
}

/** Positions a model has never seen make it say nonsense; that is the operator's choice, but not a silent one. */
function warnOfLongContext(log: Log, maxSeqLen: number | null, model: GgufModel): void {
  const contextLength = numberValue(model.metadata, `${model.architecture}.context_length`)
  if (maxSeqLen === null || contextLength === null || maxSeqLen <= contextLength) return
  log.warn(
    { maxSeqLen, contextLength },
    'max_seq_len is longer than the context that the model was trained for',
  )
}

function toRunnerOverride([key, { type, value }]: MetadataOverride): RunnerMetadataOverride {
  if (typeof value === 'string') return { key, type: 'string', value }
  if (typeof value === 'boolean') return { key, type: 'bool', value }
  return { key, type: type.startsWith('float') ? 'float' : 'int', value: Number(value) }
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
  readonly log: Log
  readonly timeoutMs: number
}

async function shutDown({ app, graceful, registry, log, timeoutMs }: ShutDownOptions): Promise<void> {
  const isDrained = await graceful.drain(timeoutMs)
  if (!isDrained) log.warn({ timeoutMs }, 'requests were still running at the end of the shutdown time-out')
  // Streams that still run get their error event from their engine's end.
  await registry.close()
  await graceful.close()
  await app.close()
  log.info('stopped')
}
