/**
 * What a model of the Hub is and how large, before it is downloaded: from the list of its files, and from the headers of
 * its GGUF files or its config.json. Writes nothing into the cache.
 */
import { StartError } from '../../core/errors.ts'
import { planArchitecture } from '../architectures/hf-architectures.ts'
import type { CheckpointHeaders } from '../checkpoint-outline.ts'
import { type GgufFile, joinSplits, readGgufHeader } from '../gguf/gguf-file.ts'
import { gguf, type GgmlType, tensorSizeBytes } from '../gguf/gguf-format.ts'
import { parseJson, toJsonObject } from '../files/json-file.ts'
import { type ChosenFiles, chooseFiles, shardsOf } from './choose-files.ts'
import { fileSize, type HubCache } from './hub-cache.ts'
import type { HubClient, HubFile, HubListing } from './hub-client.ts'
import { HubUnreachable } from './hub-errors.ts'
import { findInCache, findOrRefuse, openHub, type PullOptions } from './pull-model.ts'

export type HubSurvey =
  /** It was downloaded whole before. */
  | { readonly kind: 'cached'; readonly path: string }
  | { readonly kind: 'remote'; readonly headers: CheckpointHeaders; readonly downloadBytes: number }

type SurveyOptions = Pick<PullOptions, 'env' | 'signal' | 'silenceMs'>

/** @throws StartError as `pullModel`, and where the model could not be served. */
export async function surveyModel(text: string, options: SurveyOptions): Promise<HubSurvey> {
  const found = await survey(text, options)
  if (found.kind === 'cached') return found
  const { opened, weights, files, downloadBytes } = found
  const headers = opened.endsWith('.gguf')
    ? await readSplits(weights, files)
    : planHeaders(await files.text('config.json'))
  return { kind: 'remote', headers, downloadBytes }
}

/** The same of a LoRA adapter, of which no header is read. @throws StartError as `pullModel` */
export async function surveyAdapter(
  text: string,
  options: SurveyOptions,
): Promise<Extract<HubSurvey, { kind: 'cached' }> | Pick<FoundFiles, 'kind' | 'downloadBytes'>> {
  return await survey(text, { ...options, isAdapter: true })
}

interface FoundFiles {
  readonly kind: 'remote'
  readonly opened: string
  readonly weights: readonly string[]
  readonly files: RemoteFiles
  readonly downloadBytes: number
}

async function survey(
  text: string,
  options: SurveyOptions & Pick<PullOptions, 'isAdapter'>,
): Promise<Extract<HubSurvey, { kind: 'cached' }> | FoundFiles> {
  const { reference, cache, client, isOffline } = openHub(text, options)
  if (isOffline) return { kind: 'cached', path: await findOrRefuse(cache, reference, options) }
  let listing: HubListing
  try {
    listing = await client.list()
  } catch (error) {
    const path = error instanceof HubUnreachable ? await findInCache(cache, reference, options) : null
    if (path === null) throw error
    return { kind: 'cached', path }
  }
  const files = new RemoteFiles(client, listing, reference.repo)
  const chosen = chooseFiles(reference, [...listing.files.keys()], options)
  const weights = await weightsOf(reference.repo, chosen, files)
  const { opened, others } = chosen
  const all = [...weights, ...others, ...(chosen.weights === null ? [opened] : [])]
  const missing = await findMissing(
    all.map((name) => files.find(name)),
    listing.commit,
    cache,
  )
  if (missing.length === 0) return { kind: 'cached', path: cache.snapshotPath(listing.commit, opened) }
  const downloadBytes = missing.reduce((sum, { size }) => sum + size, 0)
  return { kind: 'remote', opened, weights, files, downloadBytes }
}

async function weightsOf(repo: string, chosen: ChosenFiles, files: RemoteFiles): Promise<readonly string[]> {
  return chosen.weights ?? shardsOf(repo, await files.text(chosen.opened))
}

async function findMissing(
  files: readonly HubFile[],
  commit: string,
  cache: HubCache,
): Promise<readonly HubFile[]> {
  const sizes = await Promise.all(
    files.map(
      async ({ path, hash }) =>
        (await fileSize(cache.snapshotPath(commit, path))) ?? (await fileSize(cache.blobPath(hash))),
    ),
  )
  return files.filter(({ size }, index) => sizes[index] !== size)
}

async function readSplits(names: readonly string[], files: RemoteFiles): Promise<CheckpointHeaders> {
  const parts: GgufFile[] = []
  for (const name of names) {
    const { path, size } = files.find(name)
    const read = (count: number) => files.read(name, count)
    parts.push(await readGgufHeader({ path, sizeBytes: size, read }))
  }
  return joinSplits(parts as [GgufFile, ...GgufFile[]])
}

/** Types that config.json names; most checkpoints of today are in the one that is taken for others. */
const TYPES: ReadonlyMap<unknown, GgmlType> = new Map([
  ['float32', 'F32'],
  ['float16', 'F16'],
  ['bfloat16', 'BF16'],
])

/** What the converted file would begin with, its vocabulary left out. */
function planHeaders(text: string): CheckpointHeaders {
  const config = toJsonObject('config.json', parseJson('config.json', text))
  const { ggufName: architecture, metadata, tensors } = planArchitecture(config)
  const matrixType = TYPES.get(config.fields['dtype'] ?? config.fields['torch_dtype']) ?? 'BF16'
  return {
    architecture,
    metadata: new Map([...metadata, ['general.architecture', gguf.string(architecture)]]),
    tensors: tensors.map(({ name, shape: rowsFirst, isF32 = false }) => {
      const shape = rowsFirst.toReversed()
      const type = shape.length > 1 && !isF32 ? matrixType : 'F32'
      return { name, shape, type, offsetBytes: 0, sizeBytes: tensorSizeBytes({ type, shape }) }
    }),
  }
}

/** An index or a config.json is far smaller. */
const MAX_TEXT_BYTES = 32 * 2 ** 20

class RemoteFiles {
  readonly #client: HubClient
  readonly #listing: HubListing
  readonly #repo: string

  constructor(client: HubClient, listing: HubListing, repo: string) {
    this.#client = client
    this.#listing = listing
    this.#repo = repo
  }

  find(name: string): HubFile {
    const file = this.#listing.files.get(name)
    if (file === undefined) throw new StartError(`${this.#repo} names a file '${name}' but does not have it.`)
    return file
  }

  /** Its first bytes. */
  async read(name: string, count: number): Promise<Buffer> {
    const pieces: Uint8Array[] = []
    let size = 0
    for await (const piece of this.#client.read(this.#listing.commit, this.find(name), 0)) {
      pieces.push(piece)
      size += piece.length
      if (size >= count) break
    }
    return Buffer.concat(pieces).subarray(0, count)
  }

  async text(name: string): Promise<string> {
    const { size } = this.find(name)
    return (await this.read(name, Math.min(size, MAX_TEXT_BYTES))).toString('utf8')
  }
}
