/** All that `sluice doctor` looks at, in the order in which a start needs it. Starts no engine and changes nothing. */
import type { ServerConfig } from '../../config/server-config.ts'
import type { Clock } from '../../core/clock.ts'
import { StartError } from '../../core/errors.ts'
import { modelsOf, type StartModel } from '../models/start-models.ts'
import { checkAdapter, checkGpu, checkLibraries, checkModel, passthroughModel } from './engine-checks.ts'
import { examine, fault, type Finding } from './finding.ts'
import {
  checkDataFolder,
  checkFreeMemory,
  checkKnockPort,
  checkNode,
  checkOpenFiles,
  checkPort,
  checkPrefixCacheFolder,
} from './machine-checks.ts'
import { checkCertificate, checkEndpoint } from './service-checks.ts'
import { checkAccountsDatabase, checkRedis, checkUsageDatabase } from './storage-checks.ts'

/** Yields each finding as soon as it is known. */
export async function* examineService(config: ServerConfig, clock: Clock): AsyncGenerator<Finding> {
  const { tlsCertfile: certfile, tlsKeyfile: keyfile, redis, prefixCacheDir, portKnock } = config
  yield checkNode()
  yield checkOpenFiles()
  yield checkFreeMemory()
  yield await examine('data folder', () => checkDataFolder(config))
  yield await examine('accounts database', () => checkAccountsDatabase(config))
  yield await examine('usage database', () => checkUsageDatabase(config))
  if (redis !== null) yield await examine('Redis', () => checkRedis(redis))
  if (prefixCacheDir !== null)
    yield await examine('prefix cache', () => checkPrefixCacheFolder(prefixCacheDir))
  yield await examine('port', () => checkPort(config))
  for (const port of portKnock) yield await examine('port knock', () => checkKnockPort(config.host, port))
  if (certfile !== null && keyfile !== null) {
    yield await examine('certificate', () => checkCertificate({ certfile, keyfile }, clock))
  }
  const libraries = await examine('llama.cpp', () => checkLibraries(config))
  yield libraries
  if (libraries.state === 'ok') yield await examine('GPU', () => checkGpu(config))
  yield* examineModels(config)
}

async function* examineModels(config: ServerConfig): AsyncGenerator<Finding> {
  let models: readonly StartModel[]
  try {
    models = modelsOf(config)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return yield fault('models', error.message)
  }
  if (models.length === 0) yield passthroughModel()
  const localIds = models.filter(({ source }) => source.kind === 'local').map(({ id }) => id)
  let loadingBytes = 0
  for (const model of models) {
    const { source } = model
    switch (source.kind) {
      case 'local': {
        const isLoaded = 'load' in model && model.load === 'start'
        yield await examine('model', async () => {
          const { finding, neededBytes } = await checkModel(source, config, isLoaded ? loadingBytes : 0)
          if (isLoaded) loadingBytes += neededBytes
          return finding
        })
        break
      }
      case 'adapter':
        yield await examine('adapter', () => checkAdapter(source, localIds))
        break
      case 'openai':
        for (const endpoint of source.endpoints)
          yield await examine('upstream', () => checkEndpoint(endpoint, source.apiKey?.reveal() ?? null))
    }
  }
}
