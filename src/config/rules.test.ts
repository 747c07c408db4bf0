import { describe, expect, it } from 'vitest'
import { completeConfig, resolveConfig } from './resolve.ts'
import { checkRules, findWarning, isLoopback } from './rules.ts'
import type { ServerConfig } from './server-config.ts'

/** The rules alone, also for options whose work is not built yet. */
const check = (options: Partial<ServerConfig>) => () =>
  checkRules({ ...resolveConfig({}), ...options }, (name) => `<${name}>`)

describe('rules between options', () => {
  it('lets every caller in on a loopback host only', () => {
    const sentence =
      "<authMode> 'none' makes every caller the operator, so <host> must be a loopback address such as 127.0.0.1, but was '0.0.0.0'."
    expect(check({ authMode: 'none', host: '0.0.0.0' })).toThrow(sentence)
    expect(check({ authMode: 'none', host: 'localhost' })).not.toThrow()
    expect(check({ authMode: 'api-key', host: '0.0.0.0', registration: 'closed' })).not.toThrow()
  })

  it('wants host names only where no key is asked for', () => {
    expect(check({ allowedHosts: ['box.lan'] })).toThrow(
      "<allowedHosts> is for <authMode> 'none': with keys the server answers to every name.",
    )
    expect(check({ authMode: 'none', allowedHosts: ['box.lan'] })).not.toThrow()
  })

  it.each(['127.0.0.1', '127.8.9.1', 'localhost', 'LOCALHOST', '::1'])('knows %s as loopback', (host) => {
    expect(isLoopback(host)).toBe(true)
  })

  it.each(['0.0.0.0', '::', '10.0.0.1', '127.example.org', 'localhost.example.org', '::ffff:10.0.0.1'])(
    'does not take %s for loopback',
    (host) => {
      expect(isLoopback(host)).toBe(false)
    },
  )

  it('lets strangers quantize only where that is said by name', () => {
    const open = { host: '0.0.0.0', registration: 'open' } as const
    expect(check(open)).toThrow(
      "<registration> 'open' with <host> '0.0.0.0' lets anyone register and quantize the model: give <modelAdmin> admin, or <modelAdmin> key to allow it, or <registration> closed.",
    )
    expect(check({ ...open, modelAdmin: 'admin' })).not.toThrow()
    expect(check({ ...open, modelAdmin: 'key' })).not.toThrow()
    expect(check({ ...open, registration: 'closed' })).not.toThrow()
    expect(check({ ...open, host: '::1' })).not.toThrow()
  })

  it.each([
    [{ host: '0.0.0.0', modelAdmin: 'key' }, true],
    [{ host: '0.0.0.0', modelAdmin: 'admin' }, false],
    [{ host: '0.0.0.0', modelAdmin: 'key', registration: 'closed' }, false],
    [{ host: '127.0.0.1', modelAdmin: 'key' }, false],
    [{}, false],
  ] as const)('%j warns: %s', (options, warns) => {
    expect(findWarning(resolveConfig({ flags: options }))).toEqual(
      warns ? expect.stringContaining('may quantize the model') : null,
    )
  })

  it('keeps what was given by name when a complete configuration is passed on', () => {
    const config = resolveConfig({ flags: { host: '0.0.0.0', modelAdmin: 'key' } })
    expect(completeConfig(config)).toEqual(config)
  })

  it('wants a KV cache that holds a whole sequence', () => {
    expect(check({ kvCacheTokens: 4096, maxSeqLen: 8192 })).toThrow(
      '<kvCacheTokens> must be at least <maxSeqLen> (8192), but was 4096.',
    )
    expect(check({ kvCacheTokens: 8192, maxSeqLen: 8192 })).not.toThrow()
    expect(check({ kvCacheTokens: 4096 })).not.toThrow()
  })

  it.each(['modelConfig', 'tokenizer', 'modelId', 'draftCheckpoint'] as const)(
    'wants a checkpoint with %s',
    (name) => {
      expect(check({ [name]: 'x' })).toThrow(
        `<${name}> describes a checkpoint, but <checkpoint> is not given.`,
      )
      expect(check({ [name]: 'x', checkpoint: 'model.safetensors' })).not.toThrow()
    },
  )

  it('wants a checkpoint with a quantization', () => {
    expect(check({ quantization: 'int4' })).toThrow(
      '<quantization> describes a checkpoint, but <checkpoint> is not given.',
    )
    expect(check({ quantization: 'int4', checkpoint: 'm' })).not.toThrow()
    expect(check({ quantization: 'none' })).not.toThrow()
  })

  it('wants speculation with a draft checkpoint', () => {
    const off = { checkpoint: 'm', speculation: 'off' } as const
    const refusal = "<draftCheckpoint> guesses tokens, but <speculation> is 'off'."
    expect(check({ ...off, draftCheckpoint: 'd' })).toThrow(refusal)
    const listed = { id: 'a', checkpoint: 'a.gguf', draftCheckpoint: 'd' }
    expect(check({ speculation: 'off', models: [listed] })).toThrow(refusal)
    expect(check(off)).not.toThrow()
    expect(check({ checkpoint: 'm', draftCheckpoint: 'd' })).not.toThrow()
  })

  it('wants two databases in two files', () => {
    expect(check({ apiDb: 'one.db', usageDb: './one.db' })).toThrow(
      "<apiDb> and <usageDb> must be two files, but both are 'one.db'.",
    )
    expect(check({ apiDb: ':memory:', usageDb: ':memory:' })).not.toThrow()
    expect(check({ apiDb: 'one.db', usageDb: 'two.db' })).not.toThrow()
    const url = 'postgres://host/sluice'
    expect(check({ apiDb: url, usageDb: url })).not.toThrow()
  })

  it('wants Redis where it is said what to do without it', () => {
    expect(check({ limitsFail: 'open' })).toThrow(
      '<limitsFail> is about a Redis that is away, but <redis> is not given.',
    )
    expect(check({ limitsFail: 'open', redis: 'redis://r' })).not.toThrow()
    expect(check({ limitsFail: 'closed' })).not.toThrow()
  })

  it('keeps the admin key apart from the API keys, and does not show it', () => {
    expect(check({ adminKey: 'shared', apiKeys: ['a', 'shared'] })).toThrow(
      '<adminKey> must not be one of <apiKeys>.',
    )
    expect(check({ adminKey: ['own', 'shared'], apiKeys: ['a', 'shared'] })).toThrow(
      '<adminKey> must not be one of <apiKeys>.',
    )
    expect(check({ adminKey: 'own', apiKeys: ['a'] })).not.toThrow()
  })

  it('keep the metrics key from opening more than the metrics', () => {
    expect(check({ metricsKey: ['own', 'shared'], apiKeys: ['shared'] })).toThrow(
      '<metricsKey> must not be one of <apiKeys>.',
    )
    expect(check({ metricsKey: 'shared', adminKey: 'shared' })).toThrow(
      '<metricsKey> must not be one of <adminKey>.',
    )
    expect(check({ metricsKey: 'own', adminKey: 'a', apiKeys: ['b'] })).not.toThrow()
  })

  it('refuses a tokenizer beside a .gguf, but lets its configuration be overridden', () => {
    expect(check({ checkpoint: 'M.GGUF', tokenizer: 't' })).toThrow(
      '<tokenizer> cannot be used with a .gguf checkpoint',
    )
    expect(check({ checkpoint: 'm.gguf', modelConfig: 'c.json' })).not.toThrow()
  })

  it('refuses layers on a GPU that is switched off', () => {
    expect(check({ gpu: 'off', gpuLayers: 3 })).toThrow(
      "<gpuLayers> must be 0 when <gpu> is 'off', but was 3.",
    )
    expect(check({ gpu: 'off', gpuLayers: 0 })).not.toThrow()
  })

  it('keeps no conversations on the disk where none are kept in memory', () => {
    expect(check({ prefixCacheDir: 'folder', prefixCacheMb: 0 })).toThrow(
      '<prefixCacheDir> keeps what <prefixCacheMb> has room for, so that must not be 0.',
    )
    expect(check({ prefixCacheDir: 'folder' })).not.toThrow()
  })

  it('wants both TLS files or neither', () => {
    expect(check({ tlsCertfile: 'c' })).toThrow('<tlsCertfile> needs <tlsKeyfile>: give both or neither.')
    expect(check({ tlsKeyfile: 'k' })).toThrow('<tlsKeyfile> needs <tlsCertfile>: give both or neither.')
    expect(check({ tlsKeyfile: 'k', tlsCertfile: 'c' })).not.toThrow()
  })

  it('wants every knock port once, and none that is the port of the server', () => {
    expect(check({ portKnock: [7000, 8000, 7000] })).toThrow(
      '<portKnock> must name each port once, but 7000 comes twice.',
    )
    expect(check({ portKnock: [7000, 9000], port: 9000 })).toThrow(
      '<portKnock> must not name 9000, which is the <port> of the server.',
    )
    expect(check({ portKnock: [7000, 9000], port: 0 })).not.toThrow()
  })

  it('wants one HTTP process with a database in memory', () => {
    expect(check({ workers: 2, usageDb: ':memory:' })).toThrow(
      "<workers> must be 1 when <usageDb> is ':memory:'",
    )
    expect(check({ workers: 1, apiDb: ':memory:' })).not.toThrow()
    expect(check({ workers: 2 })).not.toThrow()
  })

  it('names the options as they were given', () => {
    const given = { env: { SLUICE_AUTH_MODE: 'none' }, file: { path: 'my.json', values: { host: '::' } } }
    expect(() => resolveConfig(given)).toThrow(/^SLUICE_AUTH_MODE 'none' .* so host in my\.json must be /)
  })
})
