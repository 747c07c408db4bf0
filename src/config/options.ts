/**
 * The one table of options: kind, default, help and whether the work behind it is built. The command line, the
 * environment names, the configuration file, `--help` and docs/cli.md are all made from it. A row with `notYet` is
 * refused with that reason, except for its neutral values, which ask for nothing.
 */
import { QUANTIZATIONS } from '../core/quant-mode.ts'
import { SCHEDULE_POLICIES } from '../core/schedule-policy.ts'
import { SPECULATIONS } from '../core/speculation.ts'
import { configuredModels, modelIdKind } from './model-kinds.ts'
import { secret, secretList } from './secret-kinds.ts'
import {
  AUTH_MODES,
  GPU_MODES,
  KV_CACHE_TYPES,
  LOG_LEVELS,
  MODEL_ADMINS,
  type OptionName,
  type OptionValues,
  REGISTRATIONS,
} from './server-config.ts'
import {
  choice,
  cidr,
  host,
  list,
  offOr,
  origin,
  path,
  textLike,
  toggle,
  type ValueKind,
  wholeNumber,
} from './value-kinds.ts'

/** Headings of `--help` and of docs/cli.md. @public */
export const OPTION_GROUPS = ['Server', 'Access', 'Model', 'Engine', 'Network', 'Guards', 'State'] as const

/** @public */
export type OptionGroup = (typeof OPTION_GROUPS)[number]

interface NotYet {
  readonly reason: string
  /** Values that ask for nothing and so may be given. */
  readonly neutral: readonly unknown[]
}

export interface OptionRow<Value> {
  readonly group: OptionGroup
  readonly kind: ValueKind<Value>
  readonly default: Value
  /** Said in place of a default that does not describe itself. */
  readonly defaultText?: string
  /** One line, lower case, without a full stop. */
  readonly help: string
  /** Set while the work behind it is not built: the option is refused. */
  readonly notYet?: NotYet
  /** Whether only a file or code can give it, because no one line of text could. */
  readonly isFileOnly?: boolean
}

export type OptionTable = { readonly [Name in OptionName]: OptionRow<OptionValues[Name]> }

const databaseUrl = textLike('file|url', 'a file, :memory: or a postgres:// URL', (text) => text !== '')
const port = wholeNumber({ min: 1, max: 65_535 }, 'port')

export const OPTIONS: OptionTable = {
  host: {
    group: 'Server',
    kind: host,
    default: '127.0.0.1',
    help: 'address to listen on',
  },
  port: {
    group: 'Server',
    kind: wholeNumber({ min: 0, max: 65_535 }),
    default: 8080,
    help: 'port to listen on; 0 picks a free one and prints it',
  },
  config: {
    group: 'Server',
    kind: path(),
    default: null,
    help: 'JSON or YAML file with options under their camelCase names',
  },
  logLevel: {
    group: 'Server',
    kind: choice(LOG_LEVELS),
    default: 'info',
    help: `least level that is logged: ${LOG_LEVELS.join(', ')}`,
  },
  shutdownTimeout: {
    group: 'Server',
    kind: wholeNumber({ min: 0, max: 3600 }, 'seconds'),
    default: 30,
    help: 'seconds running requests may take after SIGTERM',
  },
  workers: {
    group: 'Server',
    kind: wholeNumber({ min: 1, max: 256 }),
    default: 1,
    help: 'HTTP processes',
    notYet: { reason: 'more than one HTTP process is not built', neutral: [1] },
  },

  authMode: {
    group: 'Access',
    kind: choice(AUTH_MODES),
    default: 'api-key',
    help: 'none lets every caller in, on a loopback host only',
  },
  apiKeys: {
    group: 'Access',
    kind: secretList,
    default: Object.freeze([]),
    help: "the operator's keys, between commas, or @FILE with one a line",
  },
  adminKey: {
    group: 'Access',
    kind: secret,
    default: null,
    help: 'secret of the admin API, or @FILE',
  },
  registration: {
    group: 'Access',
    kind: choice(REGISTRATIONS),
    default: 'open',
    help: 'who may register an account',
  },
  modelAdmin: {
    group: 'Access',
    kind: choice(MODEL_ADMINS),
    default: 'key',
    help: 'who may quantize a model: any key, or the admin',
  },
  corsOrigins: {
    group: 'Access',
    kind: list(origin),
    default: Object.freeze([]),
    help: 'origins that may call from a browser',
  },

  checkpoint: {
    group: 'Model',
    kind: path('path'),
    default: null,
    defaultText: 'the passthrough model',
    help: '.gguf file, .safetensors file, folder in the Hugging Face layout, or hf:org/repo[:file.gguf]',
  },
  modelConfig: {
    group: 'Model',
    kind: path(),
    default: null,
    defaultText: 'beside the checkpoint',
    help: 'config.json of the checkpoint; overrides metadata of a .gguf',
  },
  tokenizer: {
    group: 'Model',
    kind: path(),
    default: null,
    defaultText: 'beside the checkpoint',
    help: 'tokenizer.json of a safetensors checkpoint',
  },
  modelId: {
    group: 'Model',
    kind: modelIdKind,
    default: null,
    defaultText: "the checkpoint's stem",
    help: 'id under which the checkpoint is served',
  },
  quantization: {
    group: 'Model',
    kind: choice(QUANTIZATIONS),
    default: 'none',
    help: 'applied when the checkpoint is loaded',
  },
  models: {
    group: 'Model',
    kind: configuredModels,
    default: Object.freeze([]),
    isFileOnly: true,
    help: 'more models to serve: a list of objects with id, checkpoint and, where needed, modelConfig, tokenizer, quantization',
  },

  maxBatchSize: {
    group: 'Engine',
    kind: wholeNumber({ min: 1, max: 256 }),
    default: 8,
    help: 'sequences in one running batch',
  },
  maxSeqLen: {
    group: 'Engine',
    kind: wholeNumber({ min: 1, max: 16_777_216 }),
    default: null,
    defaultText: "the model's own, at most 4096",
    help: 'tokens a sequence may reach',
  },
  kvCacheType: {
    group: 'Engine',
    kind: choice(KV_CACHE_TYPES),
    default: 'f16',
    help: 'precision of the KV cache; q8_0 takes 53 % of the memory',
  },
  schedulePolicy: {
    group: 'Engine',
    kind: choice(SCHEDULE_POLICIES),
    default: 'priority',
    help: 'order of the waiting queue',
  },
  speculation: {
    group: 'Engine',
    kind: choice(SPECULATIONS),
    default: 'ngram',
    help: 'ngram guesses ahead where one text repeats itself, and checks the guesses with the next token',
  },
  maxQueue: {
    group: 'Engine',
    kind: wholeNumber({ min: 1, max: 1_000_000 }),
    default: 512,
    help: 'waiting sequences, all models together',
  },
  replicas: {
    group: 'Engine',
    kind: wholeNumber({ min: 1, max: 64 }),
    default: 1,
    help: 'engine processes per model',
  },
  gpu: {
    group: 'Engine',
    kind: choice(GPU_MODES),
    default: 'auto',
    help: 'auto uses a GPU where one is found',
  },
  gpuLayers: {
    group: 'Engine',
    kind: wholeNumber({ min: 0, max: 10_000 }),
    default: null,
    defaultText: 'all',
    help: 'layers of the model to put on the GPU',
  },
  threads: {
    group: 'Engine',
    kind: wholeNumber({ min: 1, max: 1024 }),
    default: null,
    defaultText: 'by model size, at most all cores',
    help: 'compute threads of an engine',
  },

  tlsCertfile: {
    group: 'Network',
    kind: path(),
    default: null,
    defaultText: 'plain HTTP',
    help: 'PEM certificate; needs --tls-keyfile',
  },
  tlsKeyfile: {
    group: 'Network',
    kind: path(),
    default: null,
    defaultText: 'plain HTTP',
    help: 'PEM key; needs --tls-certfile',
  },
  cidrAllow: {
    group: 'Network',
    kind: list(cidr),
    default: Object.freeze([]),
    help: 'addresses that may connect; all others may not',
  },
  cidrDeny: {
    group: 'Network',
    kind: list(cidr),
    default: Object.freeze([]),
    help: 'addresses that may not connect; wins over --cidr-allow',
  },
  trustedProxies: {
    group: 'Network',
    kind: list(cidr),
    default: Object.freeze([]),
    help: 'proxies whose X-Forwarded-For is believed',
  },
  rateLimit: {
    group: 'Network',
    kind: offOr(wholeNumber({ min: 1, max: 1_000_000 })),
    default: null,
    defaultText: 'off',
    help: 'requests per minute and client address, before authentication',
  },
  portKnock: {
    group: 'Network',
    kind: list(port),
    default: Object.freeze([]),
    defaultText: 'off',
    help: 'ports to connect to, in order, before the server answers',
  },
  portKnockWindow: {
    group: 'Network',
    kind: wholeNumber({ min: 1, max: 3600 }, 'seconds'),
    default: 10,
    help: 'seconds in which all ports must be knocked',
  },
  portKnockOpen: {
    group: 'Network',
    kind: wholeNumber({ min: 1, max: 31_536_000 }, 'seconds'),
    default: 3600,
    help: 'seconds an address may reach the server after knocking',
  },

  enableFirewall: {
    group: 'Guards',
    kind: toggle,
    default: false,
    help: 'switch the request firewall on',
  },
  disablePromptInjection: {
    group: 'Guards',
    kind: toggle,
    default: false,
    help: 'switch the guard against prompt injection off',
  },
  disableOutputVerify: {
    group: 'Guards',
    kind: toggle,
    default: false,
    help: 'switch the guard of generated text off',
  },

  dataDir: {
    group: 'State',
    kind: path('folder'),
    default: 'sluice-data',
    help: 'folder for databases and converted models',
  },
  apiDb: {
    group: 'State',
    kind: databaseUrl,
    default: null,
    defaultText: 'api.db in the data folder',
    help: 'database of accounts and keys: SQLite file or :memory:',
  },
  usageDb: {
    group: 'State',
    kind: databaseUrl,
    default: null,
    defaultText: 'usage.db in the data folder',
    help: 'database of usage: SQLite file or :memory:',
  },
  usageRetentionDays: {
    group: 'State',
    kind: offOr(wholeNumber({ min: 1, max: 36_500 }, 'days')),
    default: null,
    defaultText: 'off: all is kept',
    help: 'days that usage is kept, whole days of UTC',
  },
}

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
