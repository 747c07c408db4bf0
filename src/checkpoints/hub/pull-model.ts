/**
 * Downloads a model of the Hub into the cache that all of the Hub's tools share. Files that are there already are not
 * downloaded again; when the Hub cannot be reached, a model that was pulled before is served. Decision 0016 says why the
 * download is not the Hub library's own.
 */
import { statfs } from 'node:fs/promises'
import { abortReason } from '../../core/concurrency/abort.ts'
import { StartError } from '../../core/errors.ts'
import { makeFolder } from '../../core/make-folder.ts'
import { planArchitecture } from '../architectures/hf-architectures.ts'
import { readJsonObject, readText } from '../files/json-file.ts'
import { type ChooseOptions, type ChosenFiles, chooseFiles, shardsOf } from './choose-files.ts'
import { downloadBlob } from './download-blob.ts'
import { fileSize, HubCache } from './hub-cache.ts'
import { HubClient, type HubFile, type HubListing } from './hub-client.ts'
import { cacheFailure, HubUnreachable } from './hub-errors.ts'
import { type HubReference, parseHubReference } from './hub-reference.ts'
import { readHubSettings } from './hub-settings.ts'

const CONFIG_FILE = 'config.json'

export interface PullProgress {
  readonly repo: string
  readonly bytes: number
  readonly totalBytes: number
}

export interface PullOptions {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: PullProgress) => void) | undefined
  /** Whether it is a LoRA adapter that is pulled, and no model. @default false */
  readonly isAdapter?: boolean | undefined
  /** Whether a model that its config.json says cannot be converted is refused before its weights are downloaded. @default false */
  readonly checksConfig?: boolean | undefined
  /** Called with sentences for a person. */
  readonly onNotice?: ((sentence: string) => void) | undefined
  /** @default 30_000 */
  readonly silenceMs?: number
  /** @default 1000 */
  readonly retryPauseMs?: number
}

/**
 * Resolves with the path that the checkpoint is opened by: the weights, or the index of their shards.
 * @throws StartError with one sentence saying what is wrong.
 */
export async function pullModel(text: string, options: PullOptions): Promise<string> {
  const { isOffline, ...hub } = openHub(text, options)
  if (isOffline) return await findOrRefuse(hub.cache, hub.reference, options)
  try {
    return await pull({ ...options, ...hub })
  } catch (error) {
    if (hub.signal.aborted) {
      throw new StartError(
        `The download of ${text} was interrupted; what has arrived is kept for the next one.`,
      )
    }
    throw cacheFailure(hub.cache.cacheDir, error)
  }
}

interface OpenedHub {
  readonly reference: HubReference
  readonly cache: HubCache
  readonly client: HubClient
  /** Whether only what was pulled before may be used. */
  readonly isOffline: boolean
  readonly signal: AbortSignal
}

/** One repository, there and in the cache. @throws StartError with exit code 2 where the reference is none. */
export function openHub(text: string, options: Omit<PullOptions, 'onProgress' | 'onNotice'>): OpenedHub {
  const reference = parseHubReference(text)
  const { cacheDir, isOffline, ...settings } = readHubSettings(options.env)
  const { signal = new AbortController().signal, silenceMs = 30_000, retryPauseMs = 1000 } = options
  const client = new HubClient({ ...settings, reference, signal, silenceMs, retryPauseMs })
  return { reference, cache: new HubCache(cacheDir, reference.repo), client, isOffline, signal }
}

interface PullContext extends PullOptions, Omit<OpenedHub, 'isOffline'> {
  readonly signal: AbortSignal
}

async function pull(context: PullContext): Promise<string> {
  const { reference, cache, client, signal, onNotice } = context
  let listing: HubListing
  try {
    listing = await client.list()
  } catch (error) {
    const cached = error instanceof HubUnreachable ? await findInCache(cache, reference, context) : null
    if (cached === null || signal.aborted) throw error
    onNotice?.(`${(error as Error).message} Serving ${reference.repo} as it was pulled before.`)
    return cached
  }
  const { commit, files } = listing
  const chosen = chooseFiles(reference, [...files.keys()], context)
  // The size of the download is known from the index, which is too small to count itself.
  if (chosen.weights === null) {
    await fetchAll([chosen.opened], listing, { ...context, onProgress: undefined })
  }
  if (context.checksConfig === true) await checkConfig(chosen, listing, context)
  // The weights last: a snapshot that has them has everything.
  const weights = await weightsOf(chosen, commit, context)
  await fetchAll([...chosen.others, ...weights], listing, context)
  await cache.writeRef(reference.revision, commit)
  return cache.snapshotPath(commit, chosen.opened)
}

/** @throws StartError where the model cannot be converted. GGUF files are as they are. */
async function checkConfig(chosen: ChosenFiles, listing: HubListing, context: PullContext): Promise<void> {
  if (chosen.opened.endsWith('.gguf') || !chosen.others.includes(CONFIG_FILE)) return
  await fetchAll([CONFIG_FILE], listing, { ...context, onProgress: undefined })
  planArchitecture(await readJsonObject(context.cache.snapshotPath(listing.commit, CONFIG_FILE)))
}

async function fetchAll(names: readonly string[], listing: HubListing, context: PullContext): Promise<void> {
  const { reference, cache, signal, onNotice, onProgress, retryPauseMs = 1000 } = context
  const { commit } = listing
  const missing = await findMissing(names, listing, context)
  const totalBytes = missing.reduce((sum, { size }) => sum + size, 0)
  if (totalBytes > NOTICED_BYTES) {
    onNotice?.(`Downloading ${reference.repo} (${inGigabytes(totalBytes)} GB) to ${cache.cacheDir}.`)
  }
  if (missing.length > 0) await refuseFullDisk(cache, totalBytes)
  let doneBytes = 0
  for (const file of missing) {
    if (signal.aborted) throw abortReason(signal)
    const report = (bytes: number) =>
      onProgress?.({ repo: reference.repo, bytes: doneBytes + bytes, totalBytes })
    await downloadBlob(file, { ...context, commit, retryPauseMs, onBytes: report })
    await cache.link(commit, file.path, file.hash)
    doneBytes += file.size
    report(0)
  }
}

/** The files that have to be downloaded; those that another revision brought are linked. */
async function findMissing(
  names: readonly string[],
  { commit, files }: HubListing,
  { reference, cache }: PullContext,
): Promise<readonly HubFile[]> {
  const missing: HubFile[] = []
  for (const name of names) {
    const file = files.get(name)
    if (file === undefined)
      throw new StartError(`${reference.repo} names a file '${name}' but does not have it.`)
    if ((await fileSize(cache.snapshotPath(commit, file.path))) === file.size) continue
    if ((await fileSize(cache.blobPath(file.hash))) === file.size)
      await cache.link(commit, file.path, file.hash)
    else missing.push(file)
  }
  return missing
}

/** A smaller download ends before its notice is read. */
const NOTICED_BYTES = 50_000_000

function inGigabytes(bytes: number): string {
  return (bytes / 1e9).toFixed(bytes < 1e9 ? 2 : 1)
}

/** Counts partial files in full: the rare case, on the safe side. */
async function refuseFullDisk({ cacheDir, blobsDir }: HubCache, neededBytes: number): Promise<void> {
  makeFolder(blobsDir)
  const { bavail, bsize } = await statfs(blobsDir)
  if (neededBytes <= bavail * bsize) return
  throw new StartError(
    `The download needs ${inGigabytes(neededBytes)} GB, but the disk of ${cacheDir} (HF_HUB_CACHE) has ` +
      `${inGigabytes(bavail * bsize)} GB left.`,
  )
}

async function weightsOf(
  chosen: ChosenFiles,
  commit: string,
  { cache, reference }: Pick<PullContext, 'cache' | 'reference'>,
): Promise<readonly string[]> {
  if (chosen.weights !== null) return chosen.weights
  return shardsOf(reference.repo, await readText(cache.snapshotPath(commit, chosen.opened)))
}

/** The path of a model that was pulled whole before, by any tool; null otherwise. */
export async function findInCache(
  cache: HubCache,
  reference: HubReference,
  wanted: ChooseOptions = {},
): Promise<string | null> {
  const commit = await cache.readRef(reference.revision)
  if (commit === null) return null
  const names = await cache.listSnapshot(commit)
  try {
    const chosen = chooseFiles(reference, names, wanted)
    const weights = await weightsOf(chosen, commit, { cache, reference })
    const known = new Set(names)
    return weights.every((name) => known.has(name)) ? cache.snapshotPath(commit, chosen.opened) : null
  } catch (error) {
    if (error instanceof StartError) return null
    throw error
  }
}

export async function findOrRefuse(
  cache: HubCache,
  reference: HubReference,
  wanted: ChooseOptions = {},
): Promise<string> {
  const found = await findInCache(cache, reference, wanted)
  if (found !== null) return found
  const what = reference.file === null ? reference.repo : `${reference.file} of ${reference.repo}`
  throw new StartError(
    `${what} is not in the cache of models ${cache.cacheDir}, not whole at least, and HF_HUB_OFFLINE forbids to download it.`,
  )
}
