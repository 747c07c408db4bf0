/**
 * The outlines of checkpoints that this server has read. To plan the conversion of one takes about as long as to start its engine,
 * and a model that is loaded by requests is opened again and again. Any change of its files has them read again.
 */
import { fileIdentity } from './cache/content-hash.ts'
import { type CheckpointPaths, findCheckpointFiles } from './checkpoint-files.ts'
import {
  type CheckpointOutline,
  type OutlinedSource,
  outlineCheckpoint,
  type OutlineOptions,
} from './checkpoint-outline.ts'
import { shardsBeside } from './mistaken-checkpoint.ts'

interface KnownOutline {
  readonly identity: string
  readonly outline: CheckpointOutline
}

export class KnownOutlines {
  readonly #options: Omit<OutlineOptions, 'signal'>
  readonly #known = new Map<string, KnownOutline>()

  constructor({ maxSeqLen, kvCacheTokens = null, plan }: Omit<OutlineOptions, 'signal'>) {
    this.#options = { maxSeqLen, kvCacheTokens, ...(plan !== undefined && { plan }) }
  }

  /** @throws StartError as `outlineCheckpoint` */
  async read(source: OutlinedSource, signal?: AbortSignal): Promise<CheckpointOutline> {
    const { checkpoint, modelConfig, tokenizer, quantization } = source
    const key = JSON.stringify([checkpoint, modelConfig, tokenizer, quantization])
    const identity = await identityOf(source)
    const known = this.#known.get(key)
    if (known?.identity === identity) return known.outline
    const outline = await outlineCheckpoint(source, { ...this.#options, signal })
    this.#known.set(key, { identity, outline })
    return outline
  }
}

/** Another one whenever what the outline was read from may have changed. */
async function identityOf(source: CheckpointPaths): Promise<string> {
  const { kind: _, ...files } = await findCheckpointFiles(source)
  const paths = Object.values(files).filter((path) => path !== null)
  const shards = await Promise.all(
    paths.filter((path) => path.endsWith('.index.json')).map((path) => shardsBeside(path)),
  )
  // Many of them need not exist.
  const identities = [...paths, ...shards.flat()].map((path) => fileIdentity(path).catch(() => ''))
  return (await Promise.all(identities)).join(' ')
}
