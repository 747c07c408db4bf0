import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { StartError } from '../core/errors.ts'
import { envName, flagName } from './option-names.ts'
import { OPTION_NAMES } from './options.ts'
import { completeConfig, type GivenOptions, loadConfig, loadOptions, resolveConfig } from './resolve.ts'
import type { ServerConfig } from './server-config.ts'

const NUMBER = (bounds: string, given: string) => `must be a whole number ${bounds}, but was '${given}'`
const KEYS = ['first-of-two-keys', 'second-of-two-keys'] as const

/** For each option: text that is right, what it means, text that is wrong, and what is said about it. */
const CASES: {
  readonly [Name in Exclude<keyof ServerConfig, 'models'>]: readonly [
    string,
    ServerConfig[Name],
    string,
    string,
  ]
} = {
  host: ['::1', '::1', '300.1.2.3', "must be an IP address or a host name, but was '300.1.2.3'"],
  port: ['9000', 9000, '65536', NUMBER('from 0 to 65535', '65536')],
  shutdownTimeout: ['5', 5, '5s', NUMBER('from 0 to 3600', '5s')],
  disableConsole: ['true', true, 'maybe', "must be true or false, but was 'maybe'"],
  logLevel: [
    'debug',
    'debug',
    'loud',
    "must be one of fatal, error, warn, info, debug, trace, silent, but was 'loud'",
  ],
  logFormat: ['text', 'text', 'xml', "must be one of auto, json, text, but was 'xml'"],
  otlpEndpoint: [
    'http://127.0.0.1:4318',
    'http://127.0.0.1:4318',
    '127.0.0.1:4318',
    "must be an http:// or https:// URL, but was '127.0.0.1:4318'",
  ],
  workers: ['auto', 'auto', '0', "must be auto or a whole number from 1 to 256, but was '0'"],
  authMode: ['none', 'none', 'open', "must be one of api-key, none, but was 'open'"],
  apiKeys: [`${KEYS[0]}, ${KEYS[1]}`, KEYS, `${KEYS[0]},,${KEYS[1]}`, 'must not contain an empty secret'],
  adminKey: ['secret-of-the-admin', 'secret-of-the-admin', ' ', 'must not contain an empty secret'],
  metricsKey: [
    'secret-of-the-scraper',
    'secret-of-the-scraper',
    'short',
    'must hold secrets of at least 16 characters, but one has 5',
  ],
  registration: ['closed', 'closed', 'on', "must be one of open, closed, but was 'on'"],
  modelAdmin: ['admin', 'admin', 'me', "must be one of key, admin, but was 'me'"],
  corsOrigins: [
    'https://a.example,*',
    ['https://a.example', '*'],
    'a.example',
    "must be an origin such as https://example.org, or *, but was 'a.example'",
  ],
  allowedHosts: [
    'box.lan, 192.168.1.5',
    ['box.lan', '192.168.1.5'],
    'box.lan:8080',
    "must be an IP address or a host name, but was 'box.lan:8080'",
  ],
  checkpoint: ['model.gguf', 'model.gguf', '', "must be a path, but was ''"],
  modelConfig: ['c.json', 'c.json', '', "must be a path, but was ''"],
  tokenizer: ['t.json', 't.json', '', "must be a path, but was ''"],
  modelId: [
    'org/model',
    'org/model',
    'my model',
    "must be at most 200 characters without spaces, none of its segments '.' or '..', but was 'my model'",
  ],
  draftCheckpoint: ['d.gguf', 'd.gguf', '', "must be a path, but was ''"],
  quantization: ['int8', 'int8', 'q8', "must be one of none, int4, int8, fp8, but was 'q8'"],
  toolFormat: [
    'llama',
    'llama',
    'xml',
    "must be one of auto, hermes, llama, mistral, gemma, gemma-4, deepseek, phi, qwen-xml, json, but was 'xml'",
  ],
  upstream: [
    'http://a:1/v1, dns+https://b',
    ['http://a:1/v1', 'dns+https://b'],
    'a:1',
    "must be an http:// or https:// URL without user, query and fragment, perhaps with dns+ in front, but was 'a:1'",
  ],
  upstreamKey: [
    'key',
    'key',
    'a b',
    'must give a key of 1 to 4096 printable ASCII characters without spaces',
  ],
  upstreamModel: ['org/m', 'org/m', '', "must be 1 to 200 characters, but was ''"],
  aliases: [
    'gpt-4o=org/m, a=b',
    ['gpt-4o=org/m', 'a=b'],
    'default=m',
    "must be a name, '=' and the id of a model, but was 'default=m'",
  ],
  maxBatchSize: ['16', 16, '-1', NUMBER('from 1 to 256', '-1')],
  maxSeqLen: ['2048', 2048, '2k', NUMBER('from 1 to 16777216', '2k')],
  kvCacheTokens: ['65536', 65_536, '255', NUMBER('from 256 to 268435456', '255')],
  defaultMaxTokens: [
    'context',
    'context',
    'all',
    "must be context or a whole number from 1 to 8192, but was 'all'",
  ],
  kvCacheType: ['q8_0', 'q8_0', 'f32', "must be one of f16, q8_0, but was 'f32'"],
  schedulePolicy: ['fair', 'fair', 'lifo', "must be one of fcfs, priority, fair, but was 'lifo'"],
  speculation: ['off', 'off', 'on', "must be one of ngram, off, but was 'on'"],
  prefixCacheMb: ['0', 0, '-1', "must be auto or a whole number from 0 to 16777216, but was '-1'"],
  prefixCacheDir: ['conversations', 'conversations', '', "must be a path, but was ''"],
  prefixCacheScope: ['account', 'account', 'key', "must be one of shared, account, but was 'key'"],
  maxQueue: ['64', 64, '1.5', NUMBER('from 1 to 1000000', '1.5')],
  maxLoadedModels: ['2', 2, '0', NUMBER('from 1 to 10000', '0')],
  idleUnload: ['300', 300, '0', NUMBER('from 1 to 31536000', '0')],
  replicas: ['2', 2, '65', NUMBER('from 1 to 64', '65')],
  gpu: ['off', 'off', 'on', "must be one of auto, off, but was 'on'"],
  gpuLayers: ['12', 12, 'all', NUMBER('from 0 to 10000', 'all')],
  threads: ['3', 3, '0x3', NUMBER('from 1 to 1024', '0x3')],
  tlsCertfile: ['c.pem', 'c.pem', '', "must be a path, but was ''"],
  tlsKeyfile: ['k.pem', 'k.pem', '', "must be a path, but was ''"],
  cidrAllow: [
    '10.0.0.0/8,::1',
    ['10.0.0.0/8', '::1'],
    '10.0.0.0/33',
    "must be an address or a CIDR such as 10.0.0.0/8, but was '10.0.0.0/33'",
  ],
  cidrDeny: ['::/0', ['::/0'], 'x', "must be an address or a CIDR such as 10.0.0.0/8, but was 'x'"],
  trustedProxies: [
    '127.0.0.1',
    ['127.0.0.1'],
    '/8',
    "must be an address or a CIDR such as 10.0.0.0/8, but was '/8'",
  ],
  rateLimit: ['60', 60, 'many', NUMBER('from 1 to 1000000', 'many')],
  portKnock: ['7000,8000', [7000, 8000], '7000,0', NUMBER('from 1 to 65535', '0')],
  portKnockWindow: ['20', 20, '0', NUMBER('from 1 to 3600', '0')],
  portKnockOpen: ['60', 60, '', NUMBER('from 1 to 31536000', '')],
  enableFirewall: ['true', true, 'maybe', "must be true or false, but was 'maybe'"],
  disablePromptInjection: ['true', true, 'maybe', "must be true or false, but was 'maybe'"],
  disableOutputVerify: ['1', true, '2', "must be true or false, but was '2'"],
  dataDir: ['data', 'data', '', "must be a path, but was ''"],
  apiDb: [':memory:', ':memory:', 'mysql://u:hidden@host/x', 'must be a file, :memory: or a postgres:// URL'],
  usageDb: ['u.db', 'u.db', 'env:DATABASE', 'must be a file, :memory: or a postgres:// URL'],
  redis: [
    'redis://u:p@r:1/2',
    'redis://u:p@r:1/2',
    'http://secret@r',
    'must be a redis:// or rediss:// URL, env:NAME or @FILE',
  ],
  limitsFail: ['open', 'open', 'ajar', "must be one of closed, open, but was 'ajar'"],
  usageRetentionDays: ['30', 30, '0', "must be a whole number from 1 to 36500, but was '0'"],
}

const NAMES = Object.keys(CASES) as (keyof typeof CASES)[]

/** Options that a given one needs beside it. */
const COMPANIONS: Partial<Record<keyof ServerConfig, Readonly<Record<string, unknown>>>> = {
  allowedHosts: { authMode: 'none' },
  modelConfig: { checkpoint: 'model.safetensors' },
  tokenizer: { checkpoint: 'model.safetensors' },
  modelId: { checkpoint: 'model.safetensors' },
  limitsFail: { redis: 'redis://r' },
  upstreamKey: { upstream: 'http://a:1' },
  upstreamModel: { upstream: 'http://a:1' },
  quantization: { checkpoint: 'model.safetensors' },
  draftCheckpoint: { checkpoint: 'model.safetensors' },
  tlsCertfile: { tlsKeyfile: 'k.pem' },
  tlsKeyfile: { tlsCertfile: 'c.pem' },
}

function messageOf(act: () => unknown): string {
  try {
    act()
  } catch (error) {
    if (error instanceof StartError && error.exitCode === 2) return error.message
    throw error
  }
  throw new Error('nothing was refused')
}

const refusal = (given: GivenOptions) => messageOf(() => resolveConfig(given))
const file = (values: Readonly<Record<string, unknown>>) => ({ path: 'sluice.yaml', values })

describe('resolveConfig', () => {
  it('has a case for every option but the file itself', () => {
    expect([...NAMES, 'config', 'models'].sort()).toEqual([...OPTION_NAMES].sort())
  })

  it('gives frozen defaults when nothing is given', () => {
    const config = resolveConfig({})
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 8080,
      authMode: 'api-key',
      apiKeys: [],
      checkpoint: null,
    })
    expect(config).toMatchObject({
      maxBatchSize: 8,
      maxSeqLen: null,
      defaultMaxTokens: 256,
      schedulePolicy: 'priority',
      maxQueue: 512,
    })
    expect(config).toMatchObject({
      gpu: 'auto',
      dataDir: 'sluice-data',
      shutdownTimeout: 30,
      logLevel: 'info',
    })
    expect(Object.isFrozen(config)).toBe(true)
    expect(config).not.toHaveProperty('config')
  })

  describe.each(NAMES)('%s', (name) => {
    const [text, value] = CASES[name]
    const others = COMPANIONS[name] ?? {}

    it('is read from the command line, the environment and the file', () => {
      expect(resolveConfig({ flags: { ...others, [name]: text } })[name]).toEqual(value)
      expect(resolveConfig({ flags: others, env: { [envName(name)]: text } })[name]).toEqual(value)
      expect(resolveConfig({ flags: others, file: file({ [name]: value }) })[name]).toEqual(value)
    })
  })

  it.each(NAMES)('%s names itself, its bounds and a malformed value', (name) => {
    const [, , wrong, message] = CASES[name]
    expect(refusal({ flags: { [name]: wrong } })).toBe(`${flagName(name)} ${message}.`)
    expect(refusal({ file: file({ [name]: wrong }) })).toBe(`${name} in sluice.yaml ${message}.`)
    if (wrong !== '')
      expect(refusal({ env: { [envName(name)]: wrong } })).toBe(`${envName(name)} ${message}.`)
  })

  it('lets the command line win over the environment, and that over the file and the defaults', () => {
    const env = { SLUICE_PORT: '2' }
    const defaults = { port: 4 }
    const given = { env, file: file({ port: 3 }), defaults }
    expect(resolveConfig({ ...given, flags: { port: '1' } }).port).toBe(1)
    expect(resolveConfig(given).port).toBe(2)
    expect(resolveConfig({ ...given, env: {} }).port).toBe(3)
    expect(resolveConfig({ defaults }).port).toBe(4)
  })

  it("takes the collector of traces from OpenTelemetry's own variable too", () => {
    const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318'
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT }
    expect(resolveConfig({ env }).otlpEndpoint).toBe(OTEL_EXPORTER_OTLP_ENDPOINT)
    expect(resolveConfig({ env: { ...env, SLUICE_OTLP_ENDPOINT: 'http://own' } }).otlpEndpoint).toBe(
      'http://own',
    )
    expect(refusal({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'collector' } })).toBe(
      "OTEL_EXPORTER_OTLP_ENDPOINT must be an http:// or https:// URL, but was 'collector'.",
    )
  })

  it('takes an empty variable and a null in the file as not given', () => {
    expect(resolveConfig({ env: { SLUICE_PORT: '' }, file: file({ port: null }) }).port).toBe(8080)
  })

  it.each([
    ['workers', '1', 1],
    ['quantization', 'none', 'none'],
    ['rateLimit', 'off', null],
    ['enableFirewall', 'false', false],
  ] as const)('accepts %s %s, which asks for nothing', (name, text, value) => {
    expect(resolveConfig({ flags: { [name]: text } })[name]).toBe(value)
  })

  it('refuses an unknown name in the file and names the nearest, where one is near', () => {
    const message = "The configuration file sluice.yaml: the option 'max_batch_sze' does not exist"
    expect(refusal({ file: file({ max_batch_sze: 1 }) })).toBe(`${message}; did you mean 'maxBatchSize'?`)
    expect(refusal({ file: file({ serve: true }) })).toBe(
      "The configuration file sluice.yaml: the option 'serve' does not exist.",
    )
    expect(refusal({ file: file({ config: 'other.yaml' }) })).toContain("the option 'config' does not exist")
  })

  it('refuses values of the wrong type in the file', () => {
    expect(refusal({ file: file({ port: 80.5 }) })).toContain('but was 80.5')
    expect(refusal({ file: file({ host: ['a'] }) })).toContain('but was ["a"]')
    expect(refusal({ file: file({ enableFirewall: 1 }) })).toContain('must be true or false, but was 1')
  })

  it('keeps a long or many-lined value to one short line', () => {
    const message = refusal({ flags: { port: `a\nb${'c'.repeat(1000)}` } })
    expect(message).not.toContain('\n')
    expect(message.length).toBeLessThan(200)
  })
})

describe('completeConfig', () => {
  it('fills in what is left out and gives a complete configuration back as it is', () => {
    const config = completeConfig({ port: 0, apiKeys: ['a,b is one secret'] })
    expect(config).toMatchObject({ port: 0, apiKeys: ['a,b is one secret'], host: '127.0.0.1' })
    expect(completeConfig(config)).toEqual(config)
    expect(completeConfig(resolveConfig({}))).toEqual(resolveConfig({}))
  })

  it('checks values and names as a file is checked', () => {
    expect(messageOf(() => completeConfig({ maxBatchSize: 0 }))).toBe(
      'maxBatchSize must be a whole number from 1 to 256, but was 0.',
    )
    const misspelt: object = { maxBatchsize: 4 }
    expect(messageOf(() => completeConfig(misspelt))).toBe(
      "The option 'maxBatchsize' does not exist; did you mean 'maxBatchSize'?",
    )
  })
})

describe('models', () => {
  const entry = { id: 'org/a', checkpoint: 'a.gguf' }
  const forAll = { fallback: null, tiers: null, keys: null }
  const own = {
    modelConfig: null,
    tokenizer: null,
    quantization: 'none',
    draftCheckpoint: null,
    toolFormat: 'auto',
    load: 'start',
    pinned: false,
  }
  const complete = { ...entry, ...own, ...forAll }

  it('is a list of objects in a file, or from code', () => {
    expect(resolveConfig({}).models).toEqual([])
    expect(resolveConfig({ file: file({ models: [entry] }) }).models).toEqual([complete])
    const config = completeConfig({ models: [entry] })
    expect(config.models).toEqual([complete])
    expect(completeConfig(config).models).toEqual([complete])
  })

  it('holds adapters, whose engine need not be named', () => {
    const adapter = { id: 'mine', base: 'm', adapter: 'folder' }
    const read = { ...adapter, ...forAll, engine: 'adapter', scale: null }
    expect(resolveConfig({ file: file({ models: [adapter] }) }).models).toEqual([read])
    const scaled = { ...adapter, engine: 'adapter', scale: 0.5 }
    expect(resolveConfig({ file: file({ models: [scaled] }) }).models).toEqual([{ ...read, scale: 0.5 }])
  })

  it('holds remote models too', () => {
    const remote = { id: 'r', engine: 'openai', endpoints: ['http://a:1/v1'] }
    const read = { ...remote, ...forAll, apiKey: null, model: null }
    expect(resolveConfig({ file: file({ models: [remote] }) }).models).toEqual([read])
    const named = { ...remote, apiKey: 'k', model: 'org/m' }
    expect(resolveConfig({ file: file({ models: [named] }) }).models).toEqual([{ ...named, ...forAll }])
  })

  it('is given neither on the command line nor in the environment', () => {
    const given = { flags: { models: 'a' }, env: { SLUICE_MODELS: 'a' } }
    expect(resolveConfig(given).models).toEqual([])
  })

  it.each([
    ['a', 'must be a list of models, each with id and checkpoint'],
    [['a'], 'must hold objects with id and checkpoint, but model 1 is none'],
    [[entry, { id: 'b' }], "must have 'checkpoint' in model 2"],
    [
      [{ ...entry, id: 'a b' }],
      "is wrong in model 1: its id must be at most 200 characters without spaces, none of its segments '.' or '..', but was 'a b'",
    ],
    [
      [{ ...entry, path: 'x' }],
      "must not have 'path' in model 1; its fields are id, checkpoint, modelConfig, tokenizer, quantization, draftCheckpoint, toolFormat, load, pinned, fallback, tiers, keys",
    ],
    [[{ id: 'r', engine: 'vllm' }], "must have the engine 'openai' or 'adapter' in model 1, or none"],
    [[{ id: 'r', engine: 'openai' }], "must have 'endpoints' in model 1"],
    [
      [{ id: 'r', engine: 'openai', endpoints: [] }],
      'is wrong in model 1: its endpoints must hold at least one URL',
    ],
    [
      [{ id: 'r', engine: 'openai', endpoints: ['http://a'], apiKey: 'env:NO_SUCH_VARIABLE' }],
      'is wrong in model 1: its apiKey names a variable after env:, but it is not set',
    ],
    [[entry, entry], "must not name the id 'org/a' twice"],
    [[{ ...entry, id: 'default' }], "must not name the id 'default', which always means the default model"],
    [
      [{ ...entry, quantization: 'int5' }],
      "is wrong in model 1: its quantization must be one of none, int4, int8, fp8, but was 'int5'",
    ],
  ])('%j is refused', (models, message) => {
    expect(refusal({ file: file({ models }) })).toBe(`models in sluice.yaml ${message}.`)
  })
})

describe('loadConfig', () => {
  let folder = ''
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'sluice-config-'))
  })
  afterEach(() => rmSync(folder, { recursive: true, force: true }))

  it('reads the file that the command line or the environment names, the command line first', () => {
    const first = path.join(folder, 'first.json')
    const second = path.join(folder, 'second.yaml')
    writeFileSync(first, '{"port": 1}')
    writeFileSync(second, 'port: 2\n')
    const env = { SLUICE_CONFIG: second }
    expect(loadConfig({ env }).port).toBe(2)
    expect(loadConfig({ flags: { config: first }, env }).port).toBe(1)
    expect(loadConfig({}).port).toBe(8080)
  })
})

describe('loadOptions', () => {
  it('gives these options alone, and minds no others', () => {
    const env = { SLUICE_PORT: 'many', SLUICE_ADMIN_KEY: '@/no/such/file', SLUICE_API_DB: 'env.db' }
    const given = { flags: { dataDir: 'data', name: 'not an option' }, env, defaults: { dataDir: 'other' } }
    expect(loadOptions(['apiDb', 'dataDir'], given)).toEqual({ apiDb: 'env.db', dataDir: 'data' })
    expect(loadOptions(['apiDb', 'dataDir'], {})).toEqual({ apiDb: null, dataDir: 'sluice-data' })
  })

  it('refuses what is wrong with these, and a file that is wrong', () => {
    expect(messageOf(() => loadOptions(['dataDir'], { flags: { dataDir: '' } }))).toBe(
      "--data-dir must be a path, but was ''.",
    )
    expect(messageOf(() => loadOptions(['dataDir'], { flags: { config: '/no/such/file' } }))).toBe(
      'The configuration file /no/such/file does not exist.',
    )
  })
})
