/** All that `sluice doctor` looks at, in the order in which a start needs it. Starts no engine and changes nothing. */
import type { ServerConfig } from '../../config/server-config.ts'
import type { Clock } from '../../core/clock.ts'
import { checkGpu, checkLibraries, checkModel } from './engine-checks.ts'
import { examine, type Finding } from './finding.ts'
import { checkDataFolder, checkFreeMemory, checkNode, checkOpenFiles, checkPort } from './machine-checks.ts'
import { checkCertificate, checkEndpoint } from './service-checks.ts'
import { checkAccountsDatabase, checkRedis, checkUsageDatabase } from './storage-checks.ts'

/** Yields each finding as soon as it is known. */
export async function* examineService(config: ServerConfig, clock: Clock): AsyncGenerator<Finding> {
  const { tlsCertfile: certfile, tlsKeyfile: keyfile, redis, upstream } = config
  yield checkNode()
  yield checkOpenFiles()
  yield checkFreeMemory()
  yield await examine('data folder', () => checkDataFolder(config))
  yield await examine('accounts database', () => checkAccountsDatabase(config))
  yield await examine('usage database', () => checkUsageDatabase(config))
  if (redis !== null) yield await examine('Redis', () => checkRedis(redis))
  yield await examine('port', () => checkPort(config))
  if (certfile !== null && keyfile !== null) {
    yield await examine('certificate', () => checkCertificate({ certfile, keyfile }, clock))
  }
  for (const endpoint of upstream) yield await examine('upstream', () => checkEndpoint(endpoint, config))
  const libraries = await examine('llama.cpp', () => checkLibraries(config))
  yield libraries
  if (libraries.state === 'ok') yield await examine('GPU', () => checkGpu(config))
  yield await examine('model', () => checkModel(config))
}
