/** The words of `sluice light`: what it takes beside the options that it shares with `serve`. */
import type { Command } from 'commander'
import { list, path, textLike, wholeNumber } from '../../config/value-kinds.ts'
import { addCommandOption, addConfigOption } from '../command-options.ts'

export interface LightCommand {
  /** Threads that run the passthrough model. */
  readonly workers: number
  readonly keyDb: string | null
  readonly staticDir: string | null
  /** Null opens what is public by default. */
  readonly publicPaths: readonly `/${string}`[] | null
}

/** Taken as `serve` takes them: from the command line, the environment and the configuration file. */
export const LIGHT_OPTIONS = [
  'host',
  'port',
  'shutdownTimeout',
  'logLevel',
  'checkpoint',
  'modelConfig',
  'tokenizer',
  'modelId',
  'quantization',
  'maxBatchSize',
  'maxSeqLen',
  'kvCacheType',
  'maxQueue',
  'gpu',
  'gpuLayers',
  'threads',
  'dataDir',
] as const

const publicPath = textLike('path', 'a path such as /hook, /u/{id} or /x/*', (text) => text.startsWith('/'))

export function addLightCommand(
  program: Command,
  onCommand: (command: LightCommand, flags: Readonly<Record<string, unknown>>) => void,
): void {
  const light = program
    .command('light')
    .usage('[options]')
    .description('start the light server: four endpoints, no accounts and no limits')
  addCommandOption(light, 'workers', {
    kind: wholeNumber({ min: 1, max: 256 }),
    defaultText: '1',
    help: 'threads that run the passthrough model; none with a checkpoint',
  })
  addCommandOption(light, 'keyDb', {
    kind: path(),
    defaultText: 'none: any sk-svc- key is accepted',
    help: 'key database of a full server, which is only read: its --api-db',
  })
  addCommandOption(light, 'publicPaths', {
    kind: list(publicPath),
    defaultText: '/v1/health, /v1/models, /v1/models/{id}',
    help: 'paths that need no key: exact, with {captures}, or prefixes such as /x/*',
  })
  addCommandOption(light, 'staticDir', {
    kind: path('folder'),
    defaultText: 'none',
    help: 'folder whose files are served to everyone',
  })
  for (const name of [...LIGHT_OPTIONS, 'config'] as const) addConfigOption(light, name)
  light.action(({ workers = 1, keyDb = null, staticDir = null, publicPaths = null }: Partial<LightCommand>) =>
    onCommand({ workers, keyDb, staticDir, publicPaths }, light.opts()),
  )
}
