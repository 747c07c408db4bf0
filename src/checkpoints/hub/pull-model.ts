/**
 * Brings a model of the Hub into the cache that all of the Hub's tools share, and says where it stands. What is there
 * already is not downloaded again; when the Hub cannot be reached, what was pulled before is served.
 */
import { mkdir, readFile, statfs } from 'node:fs/promises'
import { abortReason } from '../../core/abort.ts'
import { StartError } from '../../core/errors.ts'
import { type ChosenFiles, chooseFiles, shardsOf } from './choose-files.ts'
import { downloadBlob } from './download-blob.ts'
import { fileSize, HubCache } from './hub-cache.ts'
import { HubClient, type HubFile, type HubListing } from './hub-client.ts'
import { cacheFailure, HubUnreachable } from './hub-errors.ts'
import { type HubReference, parseHubReference } from './hub-reference.ts'
import { readHubSettings } from './hub-settings.ts'

export interface PullProgress {
  readonly repo: string
  readonly bytes: number
  readonly totalBytes: number
}

export interface PullOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: PullProgress) => void) | undefined
  /** Told what a person should know, in sentences. */
  readonly onNotice?: ((sentence: string) => void) | undefined
  /** @default 30_000 */
  readonly silenceMs?: number
  /** @default 1000 */
  readonly retryPauseMs?: number
}

/**
 * Gives the path that a checkpoint is opened by: the weights, or the index of their shards.
 * @throws StartError with one sentence saying what is wrong.
 */
export async function pullModel(text: string, options: PullOptions): Promise<string> {
  const reference = parseHubReference(text)
  const { cacheDir, isOffline, ...settings } = readHubSettings(options.env)
  const cache = new HubCache(cacheDir, reference.repo)
  if (isOffline) return await findOrRefuse(cache, reference)
  const { signal = new AbortController().signal, silenceMs = 30_000 } = options
  const client = new HubClient({ ...settings, reference, signal, silenceMs })
  try {
    return await new Pull({ ...options, signal, reference, cache, client }).run()
  } catch (error) {
    if (signal.aborted) {
      throw new StartError(
        `The download of ${text} was interrupted; what has arrived is kept for the next one.`,
        1,
      )
    }
    throw cacheFailure(cacheDir, error)
  }
}

interface PullParts extends PullOptions {
  readonly signal: AbortSignal
  readonly reference: HubReference
  readonly cache: HubCache
  readonly client: HubClient
}

class Pull {
  readonly #parts: PullParts

  constructor(parts: PullParts) {
    this.#parts = parts
  }

  async run(): Promise<string> {
    const { reference, cache, client, signal, onNotice } = this.#parts
    let listing: HubListing
    try {
      listing = await client.list()
    } catch (error) {
      const cached = error instanceof HubUnreachable ? await findInCache(cache, reference) : null
      if (cached === null || signal.aborted) throw error
      onNotice?.(`${(error as Error).message} Serving ${reference.repo} as it was pulled before.`)
      return cached
    }
    const { commit } = listing
    const chosen = chooseFiles(
      reference,
      listing.files.map(({ path }) => path),
    )
    // How much there is to come is known once the index is there; it is not worth counting itself.
    if (chosen.kind === 'indexed') await this.#fetchAll([chosen.index], listing, () => {})
    // The weights last: whoever finds them finds everything.
    const weights = await weightsOf(chosen, commit, this.#parts)
    await this.#fetchAll([...chosen.others, ...weights], listing, this.#parts.onProgress)
    await cache.writeRef(reference.revision, commit)
    return cache.snapshotPath(commit, openedBy(chosen))
  }

  async #fetchAll(
    names: readonly string[],
    { commit, files }: HubListing,
    onProgress: PullOptions['onProgress'],
  ): Promise<void> {
    const { reference, cache, signal, onNotice, retryPauseMs = 1000 } = this.#parts
    const needed = names.map((name) => {
      const file = files.find(({ path }) => path === name)
      if (file === undefined)
        throw new StartError(`${reference.repo} names a file '${name}' but does not have it.`, 1)
      return file
    })
    const missing: HubFile[] = []
    for (const file of needed) {
      if ((await fileSize(cache.snapshotPath(commit, file.path))) === file.size) continue
      // Another revision may have brought it.
      if ((await fileSize(cache.blobPath(file.hash))) === file.size)
        await cache.link(commit, file.path, file.hash)
      else missing.push(file)
    }
    const totalBytes = missing.reduce((sum, { size }) => sum + size, 0)
    if (totalBytes > NOTICED_BYTES) {
      onNotice?.(`Downloading ${reference.repo} (${inGigabytes(totalBytes)} GB) to ${cache.cacheDir}.`)
    }
    await refuseFullDisk(cache, missing)
    let doneBytes = 0
    for (const file of missing) {
      if (signal.aborted) throw abortReason(signal)
      const report = (bytes: number) =>
        onProgress?.({ repo: reference.repo, bytes: doneBytes + bytes, totalBytes })
      await downloadBlob(file, { ...this.#parts, commit, retryPauseMs, onBytes: report })
      await cache.link(commit, file.path, file.hash)
      doneBytes += file.size
      report(0)
    }
  }
}

/** Less is there before anyone has read about it. */
const NOTICED_BYTES = 50_000_000

function inGigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(bytes < 1e9 ? 2 : 1)
}

/** Parts that are there already are counted as if they were not: it is the rare case, and errs on the safe side. */
async function refuseFullDisk({ cacheDir, blobsDir }: HubCache, missing: readonly HubFile[]): Promise<void> {
  if (missing.length === 0) return
  await mkdir(blobsDir, { recursive: true })
  const { bavail, bsize } = await statfs(blobsDir)
  const bytes = missing.reduce((sum, { size }) => sum + size, 0)
  if (bytes <= bavail * bsize) return
  throw new StartError(
    `The download needs ${inGigabytes(bytes)} GB, but the disk of ${cacheDir} (HF_HUB_CACHE) has ` +
      `${inGigabytes(bavail * bsize)} GB left.`,
    1,
  )
}

function openedBy(chosen: ChosenFiles): string {
  return chosen.kind === 'indexed' ? chosen.index : (chosen.weights[0] ?? '')
}

async function weightsOf(
  chosen: ChosenFiles,
  commit: string,
  { cache, reference }: Pick<PullParts, 'cache' | 'reference'>,
): Promise<readonly string[]> {
  if (chosen.kind === 'listed') return chosen.weights
  return shardsOf(reference.repo, await readFile(cache.snapshotPath(commit, chosen.index), 'utf8'))
}

/** Where the model stands when all of it was pulled before, by whichever tool; null otherwise. */
async function findInCache(cache: HubCache, reference: HubReference): Promise<string | null> {
  const commit = await cache.readRef(reference.revision)
  if (commit === null) return null
  const names = await cache.listSnapshot(commit)
  try {
    const chosen = chooseFiles(reference, names)
    const weights = await weightsOf(chosen, commit, { cache, reference })
    return weights.every((name) => names.includes(name)) ? cache.snapshotPath(commit, openedBy(chosen)) : null
  } catch (error) {
    if (error instanceof StartError) return null
    throw error
  }
}

async function findOrRefuse(cache: HubCache, reference: HubReference): Promise<string> {
  const found = await findInCache(cache, reference)
  if (found !== null) return found
  const what = reference.file === null ? reference.repo : `${reference.file} of ${reference.repo}`
  throw new StartError(
    `${what} is not in the cache of models ${cache.cacheDir}, not whole at least, and HF_HUB_OFFLINE forbids to download it.`,
    1,
  )
}
