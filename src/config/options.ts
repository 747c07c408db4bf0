/**
 * The one table of options: kind, default and help. The command line, the
 * environment names, the configuration file, `--help`, docs/cli.md and the comments of `ConfigOptions` are all made from
 * it.
 */
import { QUANTIZATIONS } from '../core/quant-mode.ts'
import { SCHEDULE_POLICIES } from '../core/schedule-policy.ts'
import { PREFIX_CACHE_SCOPES } from '../core/prefix-cache-scope.ts'
import { SPECULATIONS } from '../core/speculation.ts'
import { TOOL_FORMATS } from '../core/tool-format.ts'
import { configuredModels, modelAlias, modelIdKind } from './model-kinds.ts'
import { inGroup, type OptionRow } from './option-row.ts'
import { oneOrMoreSecrets, redisUrl, secretList } from './secret-kinds.ts'
import { endpointUrl, modelName, upstreamSecret } from './upstream-kinds.ts'
import {
  choice,
  cidr,
  host,
  hostName,
  list,
  offOr,
  origin,
  path,
  textLike,
  toggle,
  type ValueKind,
  wholeNumber,
  wordOr,
} from './value-kinds.ts'

const databaseUrl = textLike('file|url', 'a file, :memory: or a postgres:// URL', (text) => text !== '')
const httpUrl = textLike(
  'url',
  'an http:// or https:// URL',
  (text) => /^https?:\/\/[^/]/.test(text) && URL.canParse(text),
)
const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
const port = wholeNumber({ min: 1, max: 65_535 }, 'port')

const TABLE = {
  ...inGroup('Server', {
    host: {
      kind: host,
      default: '127.0.0.1',
      help: 'address to listen on',
    },
    port: {
      kind: wholeNumber({ min: 0, max: 65_535 }),
      default: 8080,
      help: 'port to listen on; 0 picks a free one and prints it',
    },
    config: {
      kind: path(),
      default: null,
      help: 'JSON or YAML file with options under their camelCase names',
    },
    logLevel: {
      kind: choice(LOG_LEVELS),
      default: 'info',
      help: `least level that is logged: ${LOG_LEVELS.join(', ')}`,
    },
    logFormat: {
      kind: choice(['auto', 'json', 'text']),
      default: 'auto',
      help: 'lines of the log: json objects, or text for a person; auto is text on a terminal only',
    },
    otlpEndpoint: {
      kind: httpUrl,
      default: null,
      help: 'collector that traces are sent to over OTLP/HTTP, such as http://127.0.0.1:4318; also OTEL_EXPORTER_OTLP_ENDPOINT',
    },
    disableConsole: {
      kind: toggle,
      default: false,
      help: 'serve no console at /',
    },
    shutdownTimeout: {
      kind: wholeNumber({ min: 0, max: 3600 }, 'seconds'),
      default: 30,
      help: 'seconds running requests may take after SIGTERM',
    },
    workers: {
      kind: wordOr('auto', wholeNumber({ min: 1, max: 256 })),
      default: 1,
      help: 'HTTP processes on the one port; auto: as many as there are cores',
    },
  }),
  ...inGroup('Access', {
    authMode: {
      kind: choice(['api-key', 'none']),
      default: 'api-key',
      help: 'none lets every caller in, on a loopback host only',
    },
    apiKeys: {
      kind: secretList,
      default: Object.freeze([]),
      help: "the operator's keys of at least 16 characters, between commas, or @FILE with one a line",
    },
    adminKey: {
      kind: oneOrMoreSecrets,
      default: null,
      help: 'secret of the admin API, at least 16 characters, or @FILE with one a line, all valid; SIGHUP reads it again',
    },
    metricsKey: {
      kind: oneOrMoreSecrets,
      default: null,
      help: 'secret that opens /metrics and nothing else, at least 16 characters, or @FILE with one a line, all valid',
    },
    registration: {
      kind: choice(['open', 'closed']),
      default: 'open',
      help: 'who may register an account',
    },
    modelAdmin: {
      kind: choice(['key', 'admin']),
      default: null,
      defaultText: 'key',
      help: 'who may quantize a model: any key, or the admin; to be given with open registration on a public host',
    },
    corsOrigins: {
      kind: list(origin),
      default: Object.freeze([]),
      help: 'origins that may call from a browser',
    },
    allowedHosts: {
      kind: list(hostName),
      default: Object.freeze([]),
      defaultText: 'loopback names only',
      help: 'more names that --auth-mode none answers to, such as that of a proxy in front',
    },
  }),
  ...inGroup('Model', {
    checkpoint: {
      kind: path('path'),
      default: null,
      defaultText: 'the passthrough model',
      help: '.gguf file, .safetensors file, folder in the Hugging Face layout, hf:org/repo[:file.gguf], or demo for the bundled model',
    },
    modelConfig: {
      kind: path(),
      default: null,
      defaultText: 'beside the checkpoint',
      help: 'config.json of the checkpoint; overrides metadata of a .gguf',
    },
    tokenizer: {
      kind: path(),
      default: null,
      defaultText: 'beside the checkpoint',
      help: 'tokenizer.json of a safetensors checkpoint',
    },
    modelId: {
      kind: modelIdKind,
      default: null,
      defaultText: "the checkpoint's stem",
      help: 'id under which the checkpoint is served',
    },
    quantization: {
      kind: choice(QUANTIZATIONS),
      default: 'none',
      help: 'applied when the checkpoint is loaded',
    },
    draftCheckpoint: {
      kind: path('path'),
      default: null,
      help: 'smaller checkpoint of the same vocabulary that guesses the next tokens; a path, hf:org/repo[:file.gguf], or demo; used where that is measured to be faster',
    },
    toolFormat: {
      kind: choice(TOOL_FORMATS),
      default: 'auto',
      help: `how the checkpoint writes tool calls: ${TOOL_FORMATS.join(', ')}; auto finds it from its chat template`,
    },
    upstream: {
      kind: list(endpointUrl),
      default: Object.freeze([]),
      help: 'servers with an OpenAI API that serve the model, as http://host:8000/v1; dns+http://name:8000/v1 is every address of the name',
    },
    upstreamKey: {
      kind: upstreamSecret,
      default: null,
      help: 'key sent to the upstream: text, env:NAME or @FILE',
    },
    upstreamModel: {
      kind: modelName,
      default: null,
      defaultText: 'the first that the upstream lists',
      help: 'id of the model at the upstream',
    },
    aliases: {
      kind: list(modelAlias),
      default: Object.freeze([]),
      help: 'further names of models, such as gpt-4o=llama; an id that is registered comes before them',
    },
    models: {
      kind: configuredModels,
      default: Object.freeze([]),
      isFileOnly: true,
      help: 'more models to serve: a list of objects with id, checkpoint and, where needed, modelConfig, tokenizer, quantization, draftCheckpoint, toolFormat, load, pinned; or with id, engine openai, endpoints and, where needed, apiKey, model; or, for a LoRA adapter, with id, base, adapter and, where needed, scale',
    },
  }),
  ...inGroup('Engine', {
    maxBatchSize: {
      kind: wholeNumber({ min: 1, max: 256 }),
      default: 8,
      help: 'sequences in one running batch',
    },
    maxSeqLen: {
      kind: wholeNumber({ min: 1, max: 16_777_216 }),
      default: null,
      defaultText: "the model's own, at most kv-cache-tokens, or 4096 without them",
      help: 'tokens a sequence may reach',
    },
    kvCacheTokens: {
      kind: wholeNumber({ min: 256, max: 268_435_456 }),
      default: null,
      defaultText:
        '4096 for each of max-batch-size, one whole sequence at least, fewer where memory is short',
      help: 'tokens of the KV cache, of all running sequences together; rounded up to a multiple of 256',
    },
    defaultMaxTokens: {
      kind: wordOr('context', wholeNumber({ min: 1, max: 8192 })),
      default: 256,
      help: 'tokens a chat may generate that names no number; context: as many as its tier and the context allow',
    },
    kvCacheType: {
      kind: choice(['f16', 'q8_0']),
      default: 'f16',
      help: 'precision of the KV cache; q8_0 takes 53 % of the memory',
    },
    prefixCacheMb: {
      kind: wordOr('auto', wholeNumber({ min: 0, max: 16_777_216 })),
      default: 'auto',
      help: 'memory in MB for conversations that lost their slot, of each model; auto: a quarter of what its load leaves free, at most 2000; 0 keeps none',
    },
    prefixCacheScope: {
      kind: choice(PREFIX_CACHE_SCOPES),
      default: 'shared',
      help: 'whose prompts may use what others left in the cache: shared, or account for those of the same account',
    },
    prefixCacheDir: {
      kind: path('folder'),
      default: null,
      defaultText: 'none',
      help: 'folder in which such conversations outlive the engine, as many as in memory; they lie there unencrypted, readable by this user only',
    },
    schedulePolicy: {
      kind: choice(SCHEDULE_POLICIES),
      default: 'priority',
      help: 'order of the waiting queue',
    },
    speculation: {
      kind: choice(SPECULATIONS),
      default: 'ngram',
      help: 'ngram guesses ahead where one text repeats itself, and checks the guesses with the next token',
    },
    maxQueue: {
      kind: wholeNumber({ min: 1, max: 1_000_000 }),
      default: 512,
      help: 'waiting sequences, all models together',
    },
    maxLoadedModels: {
      kind: wholeNumber({ min: 1, max: 10_000 }),
      default: null,
      defaultText: 'as many as there is memory for',
      help: 'models of this server that are loaded at once; for another, the least recently used one is unloaded',
    },
    idleUnload: {
      kind: offOr(wholeNumber({ min: 1, max: 31_536_000 }, 'seconds')),
      default: null,
      defaultText: 'off',
      help: 'seconds without a request after which a model is unloaded, until the next one',
    },
    replicas: {
      kind: wholeNumber({ min: 1, max: 64 }),
      default: 1,
      help: 'engine processes per model',
    },
    gpu: {
      kind: choice(['auto', 'off']),
      default: 'auto',
      help: 'auto uses a GPU where one is found',
    },
    gpuLayers: {
      kind: wholeNumber({ min: 0, max: 10_000 }),
      default: null,
      defaultText: 'as many as fit',
      help: 'layers of the model to put on the GPU, as far as they fit',
    },
    threads: {
      kind: wholeNumber({ min: 1, max: 1024 }),
      default: null,
      defaultText: 'by model size, at most all cores',
      help: 'most compute threads of an engine; fewer where others need the cores',
    },
  }),
  ...inGroup('Network', {
    tlsCertfile: {
      kind: path(),
      default: null,
      defaultText: 'plain HTTP',
      help: 'PEM certificate; needs --tls-keyfile',
    },
    tlsKeyfile: {
      kind: path(),
      default: null,
      defaultText: 'plain HTTP',
      help: 'PEM key; needs --tls-certfile',
    },
    cidrAllow: {
      kind: list(cidr),
      default: Object.freeze([]),
      help: 'addresses that may connect; all others may not',
    },
    cidrDeny: {
      kind: list(cidr),
      default: Object.freeze([]),
      help: 'addresses that may not connect; wins over --cidr-allow',
    },
    trustedProxies: {
      kind: list(cidr),
      default: Object.freeze([]),
      help: 'proxies whose X-Forwarded-For is believed',
    },
    rateLimit: {
      kind: offOr(wholeNumber({ min: 1, max: 1_000_000 })),
      default: null,
      defaultText: 'off',
      help: 'requests per minute and client address, before authentication',
    },
    portKnock: {
      kind: list(port),
      default: Object.freeze([]),
      defaultText: 'off',
      help: 'ports to connect to, in order, before the server answers',
    },
    portKnockWindow: {
      kind: wholeNumber({ min: 1, max: 3600 }, 'seconds'),
      default: 10,
      help: 'seconds in which all ports must be knocked',
    },
    portKnockOpen: {
      kind: wholeNumber({ min: 1, max: 31_536_000 }, 'seconds'),
      default: 3600,
      help: 'seconds an address may reach the server after knocking',
    },
  }),
  ...inGroup('Guards', {
    enableFirewall: {
      kind: toggle,
      default: false,
      help: 'switch the request firewall on',
    },
    disablePromptInjection: {
      kind: toggle,
      default: false,
      help: 'switch the guard against prompt injection off',
    },
    disableOutputVerify: {
      kind: toggle,
      default: false,
      help: 'switch the guard of generated text off',
    },
  }),
  ...inGroup('State', {
    dataDir: {
      kind: path('folder'),
      default: 'sluice-data',
      help: 'folder for databases and converted models',
    },
    apiDb: {
      kind: databaseUrl,
      default: null,
      defaultText: 'api.db in the data folder',
      help: 'database of accounts and keys: SQLite file, :memory: or a postgres:// URL',
    },
    usageDb: {
      kind: databaseUrl,
      default: null,
      defaultText: 'usage.db in the data folder',
      help: 'database of usage: SQLite file, :memory: or a postgres:// URL',
    },
    redis: {
      kind: redisUrl,
      default: null,
      help: 'Redis with the limits, bans and knocks of several instances: redis:// or rediss:// URL, env:NAME or @FILE',
    },
    limitsFail: {
      kind: choice(['closed', 'open']),
      default: 'closed',
      help: 'while Redis is away, closed refuses what is limited, open lets each instance count for itself',
    },
    usageRetentionDays: {
      kind: offOr(wholeNumber({ min: 1, max: 36_500 }, 'days')),
      default: null,
      defaultText: 'off: all is kept',
      help: 'days that usage is kept, whole days of UTC',
    },
  }),
}

export type OptionName = keyof typeof TABLE

/** What the kind gives; null where the option has no fixed default. */
type ValueOf<Row> = Row extends { readonly kind: ValueKind<infer Value>; readonly default: infer Default }
  ? Value | Extract<Default, null>
  : never

/** What the table gives: the fields of `ConfigOptions`, and the file that parts of it may come from. */
export type OptionValues = { readonly [Name in OptionName]: ValueOf<(typeof TABLE)[Name]> }

export const OPTIONS: { readonly [Name in OptionName]: OptionRow<OptionValues[Name]> } = TABLE

export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[]

/** Those that the command line and the environment can give. */
export const FLAG_NAMES = OPTION_NAMES.filter((name) => !isFileOnly(name))

export function isFileOnly(name: OptionName): boolean {
  const row: OptionRow<unknown> = OPTIONS[name]
  return row.isFileOnly === true
}

/** The default as help and docs say it. */
export function defaultText(name: OptionName): string {
  const row: OptionRow<unknown> = OPTIONS[name]
  if (row.defaultText !== undefined) return row.defaultText
  if (typeof row.default === 'string' || typeof row.default === 'number') return String(row.default)
  return row.default === false ? 'off' : 'none'
}
