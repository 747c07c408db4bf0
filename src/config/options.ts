/**
 * The one table of options: kind, default and help. The command line, the
 * environment names, the configuration file, `--help`, docs/cli.md and the comments of `ConfigOptions` are all made from
 * it. The rows of models and their engines stand in model-options.ts.
 */
import { MODEL_OPTIONS } from './model-options.ts'
import { inGroup, type OptionRow } from './option-row.ts'
import { databaseLocation, oneOrMoreSecrets, redisUrl, secretList } from './secret-kinds.ts'
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
      kind: choice(LOG_LEVELS, 'level'),
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
      help: "the operator's keys of at least 16 characters, between commas, env:NAME, or @FILE with one a line",
    },
    adminKey: {
      kind: oneOrMoreSecrets,
      default: null,
      help: 'secret of the admin API, at least 16 characters, env:NAME, or @FILE with one a line, all valid; SIGHUP reads it again',
    },
    metricsKey: {
      kind: oneOrMoreSecrets,
      default: null,
      help: 'secret that opens /metrics and nothing else, at least 16 characters, env:NAME, or @FILE with one a line, all valid',
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
  ...MODEL_OPTIONS,
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
      kind: databaseLocation,
      default: null,
      defaultText: 'api.db in the data folder',
      help: 'database of accounts and keys: SQLite file, :memory: or a postgres:// URL',
    },
    usageDb: {
      kind: databaseLocation,
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
