/** Rules that no single option can check. Pure; each names the options as the user wrote them. */
import { isIP } from 'node:net'
import path from 'node:path'
import { isPostgresUrl } from '../core/text/database-location.ts'
import { StartError } from '../core/errors.ts'
import type { OptionName } from './options.ts'
import { listSecrets } from './secret-kinds.ts'
import type { ServerConfig } from './server-config.ts'

type Label = (name: OptionName) => string

/** Returns the sentence that refuses the configuration, or null. */
type Rule = (config: ServerConfig, label: Label) => string | null

const RULES: Readonly<Record<string, Rule>> = {
  openOnLoopbackOnly: (config, label) => {
    if (config.authMode !== 'none' || isLoopback(config.host)) return null
    return (
      `${label('authMode')} 'none' makes every caller the operator, ` +
      `so ${label('host')} must be a loopback address such as 127.0.0.1, but was '${config.host}'.`
    )
  },
  /** Strangers may change the model that all use only where the operator has said so. */
  strangersQuantizeByName: (config, label) => {
    if (config.modelAdmin !== null || !isOpenToStrangers(config)) return null
    return (
      `${label('registration')} 'open' with ${label('host')} '${config.host}' lets anyone register and quantize the model: ` +
      `give ${label('modelAdmin')} admin, or ${label('modelAdmin')} key to allow it, or ${label('registration')} closed.`
    )
  },
  allowedHostsAreForOpen: (config, label) => {
    if (config.authMode === 'none' || config.allowedHosts.length === 0) return null
    return `${label('allowedHosts')} is for ${label('authMode')} 'none': with keys the server answers to every name.`
  },
  modelOptionsNeedCheckpoint: (config, label) => {
    if (config.checkpoint !== null) return null
    const given =
      (['modelConfig', 'tokenizer', 'draftCheckpoint'] as const).find((name) => config[name] !== null) ??
      (config.modelId === null || config.upstream.length > 0 ? undefined : 'modelId') ??
      (config.quantization === 'none' ? undefined : 'quantization')
    return given === undefined
      ? null
      : `${label(given)} describes a checkpoint, but ${label('checkpoint')} is not given.`
  },
  draftsNeedSpeculation: (config, label) => {
    if (config.speculation !== 'off') return null
    const isListed = config.models.some((model) => model.engine === undefined && model.draftCheckpoint)
    if (config.draftCheckpoint === null && !isListed) return null
    return `${label('draftCheckpoint')} guesses tokens, but ${label('speculation')} is 'off'.`
  },
  /** Further models belong in the list. */
  oneDefaultModel: (config, label) => {
    if (config.checkpoint === null || config.upstream.length === 0) return null
    return `${label('checkpoint')} and ${label('upstream')} both name the default model: give one of them, and further models in models.`
  },
  upstreamOptionsNeedUpstream: (config, label) => {
    if (config.upstream.length > 0) return null
    const given = (['upstreamKey', 'upstreamModel'] as const).find((name) => config[name] !== null)
    return given === undefined
      ? null
      : `${label(given)} describes an upstream, but ${label('upstream')} is not given.`
  },
  ggufHasItsTokenizer: (config, label) => {
    if (config.tokenizer === null || !config.checkpoint?.toLowerCase().endsWith('.gguf')) return null
    return `${label('tokenizer')} cannot be used with a .gguf checkpoint: its tokenizer is inside the file.`
  },
  storedPrefixesNeedMemory: (config, label) => {
    if (config.prefixCacheDir === null || config.prefixCacheMb !== 0) return null
    return `${label('prefixCacheDir')} keeps what ${label('prefixCacheMb')} has room for, so that must not be 0.`
  },
  gpuLayersNeedGpu: (config, label) => {
    if (config.gpu !== 'off' || config.gpuLayers === null || config.gpuLayers === 0) return null
    return `${label('gpuLayers')} must be 0 when ${label('gpu')} is 'off', but was ${config.gpuLayers}.`
  },
  kvCacheHoldsASequence: ({ kvCacheTokens, maxSeqLen }, label) => {
    if (kvCacheTokens === null || maxSeqLen === null || kvCacheTokens >= maxSeqLen) return null
    return `${label('kvCacheTokens')} must be at least ${label('maxSeqLen')} (${maxSeqLen}), but was ${kvCacheTokens}.`
  },
  tlsFilesGoTogether: (config, label) => {
    if ((config.tlsCertfile === null) === (config.tlsKeyfile === null)) return null
    const [given, missing] =
      config.tlsCertfile === null
        ? (['tlsKeyfile', 'tlsCertfile'] as const)
        : (['tlsCertfile', 'tlsKeyfile'] as const)
    return `${label(given)} needs ${label(missing)}: give both or neither.`
  },
  /** A repeated port could not be distinguished from a wrong order, and the server's own port answers HTTP. */
  knockPortsAreDistinct: ({ portKnock, port }, label) => {
    const twice = portKnock.find((knockPort, index) => portKnock.indexOf(knockPort) !== index)
    if (twice !== undefined)
      return `${label('portKnock')} must name each port once, but ${twice} comes twice.`
    return portKnock.includes(port)
      ? `${label('portKnock')} must not name ${port}, which is the ${label('port')} of the server.`
      : null
  },
  workersShareDatabase: (config, label) => {
    if (config.workers === 1) return null
    const inMemory = (['apiDb', 'usageDb'] as const).find((name) => config[name] === ':memory:')
    if (inMemory === undefined) return null
    return `${label('workers')} must be 1 when ${label(inMemory)} is ':memory:', which processes cannot share, but was ${config.workers}.`
  },
  databasesAreTwo: ({ apiDb, usageDb }, label) => {
    if (apiDb === null || usageDb === null || apiDb === ':memory:') return null
    // Their tables have different names.
    if (isPostgresUrl(apiDb)) return null
    if (path.resolve(apiDb) !== path.resolve(usageDb)) return null
    return `${label('apiDb')} and ${label('usageDb')} must be two files, but both are '${apiDb}'.`
  },
  limitsFailNeedsRedis: ({ limitsFail, redis }, label) => {
    if (redis !== null || limitsFail === 'closed') return null
    return `${label('limitsFail')} is about a Redis that is away, but ${label('redis')} is not given.`
  },
  /** Every holder of that key would have the admin API. */
  adminKeyIsItsOwn: ({ adminKey, apiKeys }, label) => {
    if (!listSecrets(adminKey).some((one) => apiKeys.includes(one))) return null
    return `${label('adminKey')} must not be one of ${label('apiKeys')}.`
  },
  /** It is given to a machine that may read numbers only. */
  metricsKeyIsItsOwn: ({ metricsKey, adminKey, apiKeys }, label) => {
    const keys = listSecrets(metricsKey)
    const other = (
      [
        ['apiKeys', apiKeys],
        ['adminKey', listSecrets(adminKey)],
      ] as const
    ).find(([, secrets]) => keys.some((key) => secrets.includes(key)))
    return other === undefined ? null : `${label('metricsKey')} must not be one of ${label(other[0])}.`
  },
}

export function isLoopback(host: string): boolean {
  const address = host.toLowerCase()
  if (isIP(address) === 4) return address.startsWith('127.')
  return address === 'localhost' || address === '::1' || address === '0:0:0:0:0:0:0:1'
}

/** Whether anyone who reaches the server may become an account of it. */
function isOpenToStrangers({ registration, host }: Pick<ServerConfig, 'registration' | 'host'>): boolean {
  return registration === 'open' && !isLoopback(host)
}

/** One sentence about what is allowed by name and rarely meant; null where there is nothing to say. */
export function findWarning(config: ServerConfig): string | null {
  if (config.modelAdmin !== 'key' || !isOpenToStrangers(config)) return null
  return 'anyone who registers may quantize the model that all use (--registration open, --model-admin key).'
}

/** @throws StartError with the first rule that is broken. */
export function checkRules(config: ServerConfig, label: Label): void {
  for (const rule of Object.values(RULES)) {
    const sentence = rule(config, label)
    if (sentence !== null) throw new StartError(sentence, 2)
  }
}
