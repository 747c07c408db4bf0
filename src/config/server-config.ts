/**
 * What a server is started with, after every default has been filled in and every rule checked. Made by
 * `resolveConfig` (command line, environment, file) or `completeConfig` (code); frozen, and never read from
 * anywhere else. Names are the options of the command line in camelCase; null means "not given" where the
 * option has no fixed default.
 */
import type { Quantization } from '../core/quant-mode.ts'
import type { SchedulePolicy } from '../core/schedule-policy.ts'
import type { Speculation } from '../core/speculation.ts'

export const AUTH_MODES = ['api-key', 'none'] as const
export const GPU_MODES = ['auto', 'off'] as const
export const KV_CACHE_TYPES = ['f16', 'q8_0'] as const
export const REGISTRATIONS = ['open', 'closed'] as const
export const MODEL_ADMINS = ['key', 'admin'] as const
export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** A model that is registered at the start, beside the `checkpoint`. */
export interface ConfiguredModel {
  readonly id: string
  readonly checkpoint: string
  readonly modelConfig: string | null
  readonly tokenizer: string | null
  readonly quantization: Quantization
}

export interface ServerConfig {
  readonly host: string
  /** 0 picks a free one. */
  readonly port: number
  /** Seconds that running requests may take once the server stops. */
  readonly shutdownTimeout: number
  readonly logLevel: (typeof LOG_LEVELS)[number]
  /** HTTP processes. */
  readonly workers: number

  readonly authMode: (typeof AUTH_MODES)[number]
  /** Secrets of the built-in account `operator`. */
  readonly apiKeys: readonly string[]
  readonly adminKey: string | null
  readonly registration: (typeof REGISTRATIONS)[number]
  readonly modelAdmin: (typeof MODEL_ADMINS)[number]
  readonly corsOrigins: readonly string[]

  /** A `.gguf` file, a `.safetensors` file or a folder; null serves the passthrough model. */
  readonly checkpoint: string | null
  readonly modelConfig: string | null
  readonly tokenizer: string | null
  /** Null takes the stem of the checkpoint's folder or file. */
  readonly modelId: string | null
  readonly quantization: Quantization
  /** More of them, from a configuration file or from code only. */
  readonly models: readonly ConfiguredModel[]

  /** Sequences in one running batch. */
  readonly maxBatchSize: number
  /** Tokens a sequence may reach; null takes the model's own, at most 4096. */
  readonly maxSeqLen: number | null
  readonly kvCacheType: (typeof KV_CACHE_TYPES)[number]
  readonly schedulePolicy: SchedulePolicy
  readonly speculation: Speculation
  /** Waiting sequences, all models together. */
  readonly maxQueue: number
  /** Engine processes per model. */
  readonly replicas: number
  readonly gpu: (typeof GPU_MODES)[number]
  /** Layers to put on the GPU; null puts all. */
  readonly gpuLayers: number | null
  /** Compute threads of an engine; null takes all cores. */
  readonly threads: number | null

  readonly tlsCertfile: string | null
  readonly tlsKeyfile: string | null
  readonly cidrAllow: readonly string[]
  readonly cidrDeny: readonly string[]
  readonly trustedProxies: readonly string[]
  /** Requests per minute and client address; null is off. */
  readonly rateLimit: number | null
  /** Ports in the order they must be knocked; empty is off. */
  readonly portKnock: readonly number[]
  /** Seconds in which the whole sequence must be knocked. */
  readonly portKnockWindow: number
  /** Seconds an address may reach the server after knocking. */
  readonly portKnockOpen: number
  readonly enableFirewall: boolean
  readonly disablePromptInjection: boolean
  readonly disableOutputVerify: boolean

  /** Folder for databases and converted models. */
  readonly dataDir: string
  /** A file, `:memory:` or a PostgreSQL URL; null is `api.db` in the data folder. */
  readonly apiDb: string | null
  /** As `apiDb`; null is `usage.db` in the data folder. */
  readonly usageDb: string | null
  /** Older usage is deleted; null keeps all. */
  readonly usageRetentionDays: number | null
}

/** Every option of the command line: the configuration, and the file that parts of it may come from. */
export interface OptionValues extends ServerConfig {
  readonly config: string | null
}

export type OptionName = keyof OptionValues
