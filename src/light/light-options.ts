/** The options of a light server: their types, their defaults and their checks. */
import { requireObject, showValue, StartError } from '../core/errors.ts'
import { guardedCall } from '../core/guarded-call.ts'
import type { Quantization } from '../core/choices/quant-mode.ts'
import { DEFAULT_PUBLIC_PATHS, type Pattern } from './routing/path-pattern.ts'

/** Called with the cause of each 500; the id is null where no request caused it, as when a thread has ended. */
export type OnError = (error: unknown, requestId: string | null) => void

/** How a checkpoint is served; each means what the full server's option of that name means. */
export interface LightModelOptions {
  /** A `.gguf` file, a `.safetensors` file, a folder in the Hugging Face layout, or `hf:org/repo[:file]`. */
  readonly checkpoint?: string | null | undefined
  readonly modelConfig?: string | null | undefined
  readonly tokenizer?: string | null | undefined
  /** @default the stem of the checkpoint */
  readonly modelId?: string | null | undefined
  /** @default 'none' */
  readonly quantization?: Quantization | undefined
  /** @default 8 */
  readonly maxBatchSize?: number | undefined
  /** @default the model's own, at most `kvCacheTokens`, or 4096 without them */
  readonly maxSeqLen?: number | null | undefined
  /** @default 4096 for each of `maxBatchSize`, one whole sequence at least, fewer where memory is short */
  readonly kvCacheTokens?: number | null | undefined
  /** @default 'f16' */
  readonly kvCacheType?: 'f16' | 'q8_0' | undefined
  /** @default 'auto' */
  readonly prefixCacheMb?: number | 'auto' | undefined
  /** @default by the model's size, at most all cores */
  readonly threads?: number | null | undefined
  /** @default 'auto' */
  readonly gpu?: 'auto' | 'off' | undefined
  readonly gpuLayers?: number | null | undefined
  /** Where converted and quantized models are kept; made when something is written. @default 'sluice-data' */
  readonly dataDir?: string | undefined
}

export interface LightServerOptions extends LightModelOptions {
  /** @default '127.0.0.1' */
  readonly host?: string | undefined
  /** 0 picks a free one. @default 8080 */
  readonly port?: number | undefined
  /** Threads that run the passthrough model; with a checkpoint none is started. @default 1 */
  readonly workers?: number | undefined
  /** Prompts that may wait; one more is answered 429. @default 512 */
  readonly maxQueue?: number | undefined
  /** The SQLite file of a full server's accounts and keys, only read; null accepts any `sk-svc-` key. @default null */
  readonly keyDb?: string | null | undefined
  /**
   * Paths that need no key: exact, `{name}` patterns, or prefixes `/x/*`. The list replaces the default. Only the exact
   * path `/v1/generate` opens that endpoint.
   * @default DEFAULT_PUBLIC_PATHS
   */
  readonly publicPaths?: readonly Pattern[] | undefined
  /** A folder whose files are served, to everyone, where no route has the path. @default null */
  readonly staticDir?: string | null | undefined
  /** Seconds that running requests may take once the server closes. @default 30 */
  readonly shutdownTimeout?: number | undefined
  /** @default writes it to stderr */
  readonly onError?: OnError | undefined
}

type Given<Options> = { readonly [Name in keyof Options]-?: Exclude<Options[Name], undefined> }

export type CompleteOptions = Given<Omit<LightServerOptions, keyof LightModelOptions>> & {
  readonly model: GivenModelOptions
}

/** The given options, without those given as undefined. */
export type GivenModelOptions = {
  readonly [Name in keyof LightModelOptions]?: Exclude<LightModelOptions[Name], undefined>
}

const DEFAULTS = {
  host: '127.0.0.1',
  port: 8080,
  workers: 1,
  maxQueue: 512,
  keyDb: null,
  publicPaths: DEFAULT_PUBLIC_PATHS,
  staticDir: null,
  shutdownTimeout: 30,
  onError: (error: unknown, requestId: string | null): void => {
    const cause = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const request = requestId === null ? '' : `request ${requestId} failed: `
    process.stderr.write(`sluice: ${request}${cause}\n`)
  },
} as const satisfies Omit<CompleteOptions, 'model'>

const MODEL_OPTIONS: ReadonlySet<string> = new Set<keyof LightModelOptions>([
  'checkpoint',
  'modelConfig',
  'tokenizer',
  'modelId',
  'quantization',
  'maxBatchSize',
  'maxSeqLen',
  'kvCacheTokens',
  'kvCacheType',
  'prefixCacheMb',
  'threads',
  'gpu',
  'gpuLayers',
  'dataDir',
])

/** Options of the model are checked by the full server's own table, once a checkpoint is opened. @throws StartError */
export function completeOptions(options: LightServerOptions): CompleteOptions {
  requireObject('options of createLightServer', options)
  const given = Object.entries(options).filter(([, value]) => value !== undefined)
  const unknown = given.find(([name]) => !Object.hasOwn(DEFAULTS, name) && !MODEL_OPTIONS.has(name))
  if (unknown !== undefined) throw new StartError(`The light server has no option '${unknown[0]}'.`, 2)
  const complete: CompleteOptions = {
    ...DEFAULTS,
    ...Object.fromEntries(given.filter(([name]) => !MODEL_OPTIONS.has(name))),
    model: Object.fromEntries(given.filter(([name]) => MODEL_OPTIONS.has(name))),
  }
  checkText('host', complete.host)
  checkInteger('port', complete.port, { min: 0, max: 65_535 })
  checkInteger('workers', complete.workers, { min: 1, max: 256 })
  checkInteger('maxQueue', complete.maxQueue, { min: 1, max: 1_000_000 })
  checkInteger('shutdownTimeout', complete.shutdownTimeout, { min: 0, max: 3600 })
  if (complete.keyDb !== null) checkText('keyDb', complete.keyDb)
  if (complete.staticDir !== null) checkText('staticDir', complete.staticDir)
  if (typeof complete.onError !== 'function') throw new StartError('onError must be a function.', 2)
  const { checkpoint = null } = complete.model
  if (checkpoint !== null) checkText('checkpoint', checkpoint)
  requireCheckpoint(complete.model)
  return {
    ...complete,
    // There is nowhere else to report what it throws.
    onError: guardedCall(complete.onError, () => {}),
  }
}

function checkInteger(
  name: string,
  value: unknown,
  { min, max }: { readonly min: number; readonly max: number },
): void {
  if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) return
  throw new StartError(
    `${name} must be an integer between ${min} and ${max}, but was ${showValue(value)}.`,
    2,
  )
}

function checkText(name: string, value: unknown): void {
  if (typeof value === 'string' && value !== '' && !value.includes('\0')) return
  throw new StartError(`${name} must be a text that is not empty, but was ${showValue(value)}.`, 2)
}

/** @throws StartError for an option that describes a checkpoint where none is given */
function requireCheckpoint(model: LightModelOptions): void {
  if (typeof model.checkpoint === 'string') return
  for (const name of ['modelConfig', 'tokenizer', 'modelId'] as const) {
    if (typeof model[name] !== 'string') continue
    throw new StartError(`${name} describes a checkpoint, but checkpoint is not given.`, 2)
  }
}
