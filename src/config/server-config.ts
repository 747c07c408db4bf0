/**
 * What a server is started with. `ConfigOptions` is what may be given from code; `ServerConfig` is the whole, after every
 * default has been filled in and every rule checked. It is made by `loadConfig` (command line, environment, file) or
 * `completeConfig` (code), is frozen, and is never read from anywhere else. Null means "not given" where an option has no
 * fixed default.
 *
 * The comments of the fields are what an editor shows for `createServer({`: `npm run docs` writes them from the table of
 * options. A test fails when a name, a type or a comment differs from the table.
 */
import type { Quantization } from '../core/choices/quant-mode.ts'
import type { PrefixCacheScope } from '../core/choices/prefix-cache-scope.ts'
import type { SchedulePolicy } from '../core/choices/schedule-policy.ts'
import type { Speculation } from '../core/choices/speculation.ts'
import type { ToolFormat } from '../core/choices/tool-format.ts'
import type { ConfiguredModel } from './model-kinds.ts'

/** An interface and no mapped type: TypeScript 7 shows no comments of the fields of a mapped type. */
export interface ConfigOptions {
  /** Address to listen on. Must be an IP address or a host name. @default 127.0.0.1 */
  readonly host?: string | undefined
  /** Port to listen on; 0 picks a free one and prints it. Must be a whole number from 0 to 65535. @default 8080 */
  readonly port?: number | undefined
  /**
   * Least level that is logged: fatal, error, warn, info, debug, trace, silent. Must be one of fatal, error, warn,
   * info, debug, trace, silent.
   * @default info
   */
  readonly logLevel?: 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent' | undefined
  /**
   * Lines of the log: json objects, or text for a person; auto is text on a terminal only. Must be one of auto, json,
   * text.
   * @default auto
   */
  readonly logFormat?: 'auto' | 'json' | 'text' | undefined
  /**
   * Collector that traces are sent to over OTLP/HTTP, such as http://127.0.0.1:4318; also OTEL_EXPORTER_OTLP_ENDPOINT.
   * Must be an http:// or https:// URL.
   * @default none
   */
  readonly otlpEndpoint?: string | null | undefined
  /** Serve no console at /. Must be true or false. @default false */
  readonly disableConsole?: boolean | undefined
  /** Seconds running requests may take after SIGTERM. Must be a whole number from 0 to 3600. @default 30 */
  readonly shutdownTimeout?: number | undefined
  /**
   * HTTP processes on the one port; auto: as many as there are cores. Must be auto or a whole number from 1 to 256.
   * @default 1
   */
  readonly workers?: number | 'auto' | undefined
  /** none lets every caller in, on a loopback host only. Must be one of api-key, none. @default api-key */
  readonly authMode?: 'api-key' | 'none' | undefined
  /**
   * The operator's keys of at least 16 characters, between commas, env:NAME, or `@FILE` with one a line. Must be a list
   * of secrets, env:NAME or `@FILE`.
   * @default none
   */
  readonly apiKeys?: readonly string[] | undefined
  /**
   * Secret of the admin API, at least 16 characters, env:NAME, or `@FILE` with one a line, all valid; SIGHUP reads it
   * again. Must be a secret, a list of secrets, env:NAME or `@FILE`.
   * @default none
   */
  readonly adminKey?: string | readonly string[] | null | undefined
  /**
   * Secret that opens /metrics and nothing else, at least 16 characters, env:NAME, or `@FILE` with one a line, all
   * valid. Must be a secret, a list of secrets, env:NAME or `@FILE`.
   * @default none
   */
  readonly metricsKey?: string | readonly string[] | null | undefined
  /** Who may register an account. Must be one of open, closed. @default open */
  readonly registration?: 'open' | 'closed' | undefined
  /**
   * Who may quantize a model: any key, or the admin; to be given with open registration on a public host. Must be one
   * of key, admin.
   * @default key
   */
  readonly modelAdmin?: 'key' | 'admin' | null | undefined
  /**
   * Origins that may call from a browser. Must be a list, each item an origin such as https://example.org, or *.
   * @default none
   */
  readonly corsOrigins?: readonly string[] | undefined
  /**
   * More names that `authMode` none answers to, such as that of a proxy in front. Must be a list, each item an IP
   * address or a host name.
   * @default loopback names only
   */
  readonly allowedHosts?: readonly string[] | undefined
  /**
   * .gguf file, .safetensors file, folder in the Hugging Face layout, hf:org/repo[:file.gguf], or demo for the bundled
   * model. Must be a path.
   * @default the passthrough model
   */
  readonly checkpoint?: string | null | undefined
  /** config.json of the checkpoint; overrides metadata of a .gguf. Must be a path. @default beside the checkpoint */
  readonly modelConfig?: string | null | undefined
  /** tokenizer.json or tekken.json of a safetensors checkpoint. Must be a path. @default beside the checkpoint */
  readonly tokenizer?: string | null | undefined
  /**
   * Id under which the checkpoint is served. Must be at most 200 characters without spaces, none of its segments '.' or
   * '..'.
   * @default the checkpoint's stem
   */
  readonly modelId?: string | null | undefined
  /** Applied when the checkpoint is loaded. Must be one of none, int4, int8, fp8. @default none */
  readonly quantization?: Quantization | undefined
  /**
   * Smaller checkpoint of the same vocabulary that guesses the next tokens; a path, hf:org/repo[:file.gguf], or demo;
   * used where that is measured to be faster. Must be a path.
   * @default none
   */
  readonly draftCheckpoint?: string | null | undefined
  /**
   * How the checkpoint writes tool calls: auto, hermes, llama, mistral, gemma, gemma-4, deepseek, phi, qwen-xml, json;
   * auto finds it from its chat template. Must be one of auto, hermes, llama, mistral, gemma, gemma-4, deepseek, phi,
   * qwen-xml, json.
   * @default auto
   */
  readonly toolFormat?: ToolFormat | undefined
  /**
   * Servers with an OpenAI API that serve the model, as http://host:8000/v1; dns+http://name:8000/v1 is every address
   * of the name. Must be a list, each item an http:// or https:// URL without user, query and fragment, perhaps with
   * dns+ in front.
   * @default none
   */
  readonly upstream?: readonly string[] | undefined
  /** Key sent to the upstream: text, env:NAME or `@FILE`. Must be text, env:NAME or `@FILE`. @default none */
  readonly upstreamKey?: string | null | undefined
  /** Id of the model at the upstream. Must be 1 to 200 characters. @default the first that the upstream lists */
  readonly upstreamModel?: string | null | undefined
  /**
   * Further names of models, such as gpt-4o=llama; an id that is registered comes before them. Must be a list, each
   * item a name, '=' and the id of a model.
   * @default none
   */
  readonly aliases?: readonly string[] | undefined
  /**
   * More models to serve: a list of objects with id, checkpoint and, where needed, modelConfig, tokenizer,
   * quantization, draftCheckpoint, toolFormat, load, pinned; or with id, engine openai, endpoints and, where needed,
   * apiKey, model; or, for a LoRA adapter, with id, base, adapter and, where needed, scale; each may have fallback,
   * tiers, keys too. Must be a list of models, each with id and checkpoint.
   * @default none
   */
  readonly models?: readonly ConfiguredModel[] | undefined
  /** Sequences in one running batch. Must be a whole number from 1 to 256. @default 8 */
  readonly maxBatchSize?: number | undefined
  /**
   * Tokens a sequence may reach. Must be a whole number from 1 to 16777216.
   * @default the model's own, at most kv-cache-tokens, or 4096 without them
   */
  readonly maxSeqLen?: number | null | undefined
  /**
   * Tokens of the KV cache, of all running sequences together; rounded up to a multiple of 256. Must be a whole number
   * from 256 to 268435456.
   * @default 4096 for each of max-batch-size, one whole sequence at least, fewer where memory is short
   */
  readonly kvCacheTokens?: number | null | undefined
  /**
   * Tokens a chat may generate that names no number; context: as many as its tier and the context allow. Must be
   * context or a whole number from 1 to 8192.
   * @default 256
   */
  readonly defaultMaxTokens?: number | 'context' | undefined
  /** Precision of the KV cache; q8_0 takes 53 % of the memory. Must be one of f16, q8_0. @default f16 */
  readonly kvCacheType?: 'f16' | 'q8_0' | undefined
  /**
   * Memory in MB for conversations that lost their slot, of each model; auto: a quarter of what its load leaves free,
   * at most 2000; 0 keeps none. Must be auto or a whole number from 0 to 16777216.
   * @default auto
   */
  readonly prefixCacheMb?: number | 'auto' | undefined
  /**
   * Whose prompts may use what others left in the cache: shared, or account for those of the same account. Must be one
   * of shared, account.
   * @default shared
   */
  readonly prefixCacheScope?: PrefixCacheScope | undefined
  /**
   * Folder in which such conversations outlive the engine, as many as in memory; they lie there unencrypted, readable
   * by this user only. Must be a path.
   * @default none
   */
  readonly prefixCacheDir?: string | null | undefined
  /** Order of the waiting queue. Must be one of fcfs, priority, fair. @default priority */
  readonly schedulePolicy?: SchedulePolicy | undefined
  /**
   * ngram guesses ahead where one text repeats itself, and checks the guesses with the next token. Must be one of
   * ngram, off.
   * @default ngram
   */
  readonly speculation?: Speculation | undefined
  /** Waiting sequences, all models together. Must be a whole number from 1 to 1000000. @default 512 */
  readonly maxQueue?: number | undefined
  /**
   * Models of this server that are loaded at once; for another, the least recently used one is unloaded. Must be a
   * whole number from 1 to 10000.
   * @default as many as there is memory for
   */
  readonly maxLoadedModels?: number | null | undefined
  /**
   * Seconds without a request after which a model is unloaded, until the next one. Must be a whole number from 1 to
   * 31536000, or null for off.
   * @default off
   */
  readonly idleUnload?: number | null | undefined
  /** Engine processes per model. Must be a whole number from 1 to 64. @default 1 */
  readonly replicas?: number | undefined
  /** auto uses a GPU where one is found. Must be one of auto, off. @default auto */
  readonly gpu?: 'auto' | 'off' | undefined
  /**
   * Layers of the model to put on the GPU, as far as they fit. Must be a whole number from 0 to 10000.
   * @default as many as fit
   */
  readonly gpuLayers?: number | null | undefined
  /**
   * Most compute threads of an engine; fewer where others need the cores. Must be a whole number from 1 to 1024.
   * @default by model size, at most all cores
   */
  readonly threads?: number | null | undefined
  /** PEM certificate; needs `tlsKeyfile`. Must be a path. @default plain HTTP */
  readonly tlsCertfile?: string | null | undefined
  /** PEM key; needs `tlsCertfile`. Must be a path. @default plain HTTP */
  readonly tlsKeyfile?: string | null | undefined
  /**
   * Addresses that may connect; all others may not. Must be a list, each item an address or a CIDR such as 10.0.0.0/8.
   * @default none
   */
  readonly cidrAllow?: readonly string[] | undefined
  /**
   * Addresses that may not connect; wins over `cidrAllow`. Must be a list, each item an address or a CIDR such as
   * 10.0.0.0/8.
   * @default none
   */
  readonly cidrDeny?: readonly string[] | undefined
  /**
   * Proxies whose X-Forwarded-For is believed. Must be a list, each item an address or a CIDR such as 10.0.0.0/8.
   * @default none
   */
  readonly trustedProxies?: readonly string[] | undefined
  /**
   * Requests per minute and client address, before authentication. Must be a whole number from 1 to 1000000, or null
   * for off.
   * @default off
   */
  readonly rateLimit?: number | null | undefined
  /**
   * Ports to connect to, in order, before the server answers. Must be a list, each item a whole number from 1 to 65535.
   * @default off
   */
  readonly portKnock?: readonly number[] | undefined
  /** Seconds in which all ports must be knocked. Must be a whole number from 1 to 3600. @default 10 */
  readonly portKnockWindow?: number | undefined
  /**
   * Seconds an address may reach the server after knocking. Must be a whole number from 1 to 31536000.
   * @default 3600
   */
  readonly portKnockOpen?: number | undefined
  /** Switch the request firewall on. Must be true or false. @default false */
  readonly enableFirewall?: boolean | undefined
  /** Switch the guard against prompt injection off. Must be true or false. @default false */
  readonly disablePromptInjection?: boolean | undefined
  /** Switch the guard of generated text off. Must be true or false. @default false */
  readonly disableOutputVerify?: boolean | undefined
  /** Folder for databases and converted models. Must be a path. @default sluice-data */
  readonly dataDir?: string | undefined
  /**
   * Database of accounts and keys: SQLite file, :memory: or a postgres:// URL. Must be a file, :memory: or a
   * postgres:// URL.
   * @default api.db in the data folder
   */
  readonly apiDb?: string | null | undefined
  /**
   * Database of usage: SQLite file, :memory: or a postgres:// URL. Must be a file, :memory: or a postgres:// URL.
   * @default usage.db in the data folder
   */
  readonly usageDb?: string | null | undefined
  /**
   * Redis with the limits, bans and knocks of several instances: redis:// or rediss:// URL, env:NAME or `@FILE`. Must
   * be a redis:// or rediss:// URL, env:NAME or `@FILE`.
   * @default none
   */
  readonly redis?: string | null | undefined
  /**
   * While Redis is away, closed refuses what is limited, open lets each instance count for itself. Must be one of
   * closed, open.
   * @default closed
   */
  readonly limitsFail?: 'closed' | 'open' | undefined
  /**
   * Days that usage is kept, whole days of UTC. Must be a whole number from 1 to 36500, or null for off.
   * @default off: all is kept
   */
  readonly usageRetentionDays?: number | null | undefined
}

export type ServerConfig = {
  readonly [Name in keyof ConfigOptions]-?: Exclude<ConfigOptions[Name], undefined>
}
