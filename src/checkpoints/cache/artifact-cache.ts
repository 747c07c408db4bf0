/**
 * The cache of GGUF files in `<data folder>/models` that conversion and quantization make, each named by a hash over the
 * content of its sources. An artifact is written under a temporary name and renamed, so that a file under its final name
 * was whole. A run that did not make it compares its checksum before it uses it, and makes it again where that differs. Two
 * processes may make the same artifact at once; in one process the second call waits for the first.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { Mutex } from '../../core/concurrency/semaphore.ts'
import { StartError } from '../../core/errors.ts'
import { makeFolder } from '../../core/make-folder.ts'
import { badFile, fileError } from '../files/file-errors.ts'
import { isFile } from '../files/json-file.ts'
import { type Fingerprint, type Manifest, writeManifest } from './artifact-manifest.ts'
import { ContentHashes } from './content-hash.ts'
import { checksumOf, findIntact, recordMade } from './intact-artifact.ts'
import { removeLeftovers, writeWhole } from './whole-file.ts'

/** For the log. */
export const DAMAGED_FILE = 'a cached file does not match its checksum, or has none, and is made again'

interface ArtifactOptions {
  readonly dataDir: string
  /** How it is made; part of its key. */
  readonly recipe: string
  /** Paths of all files that it is made from; null for one that may exist and does not. */
  readonly sources: () => Promise<readonly (string | null)[]>
  readonly manifest: Manifest
  /** Leaves the file at `outputPath` whole, or fails. */
  readonly make: (outputPath: string) => Promise<void>
  /** False where the file is only the source of another artifact, which may be there already. @default true */
  readonly isOpened?: boolean | undefined
  /** Called when the cache holds the file, but damaged or without a checksum; it is made again. */
  readonly onDamaged?: ((path: string) => void) | undefined
  readonly signal?: AbortSignal | undefined
}

interface Artifact {
  readonly path: string
  /** False when it was found in the cache. */
  readonly isNew: boolean
}

/** @throws StartError when it cannot be written or its sources are written to, and what `make` throws. */
export async function cachedArtifact(options: ArtifactOptions): Promise<Artifact> {
  const { dataDir, manifest, make, isOpened = true, onDamaged, signal } = options
  const folder = artifactFolder(dataDir)
  const hashes = await ContentHashes.open(folder)
  const key = await keyOf(options, hashes)
  const path = join(folder, `${key}.gguf`)
  const { isNew, fingerprint } = await inTurn(path, signal, async () => {
    const found = await findIntact(path, { isOpened, signal })
    if (found !== null) return { isNew: false, fingerprint: found }
    if (await isFile(path)) onDamaged?.(path)
    await prepareFolder(folder)
    const makeUnchanged = async (outputPath: string): Promise<void> => {
      await make(outputPath)
      // Only those that were written to are hashed again.
      if ((await keyOf(options, hashes)) === key) return
      throw badFile(manifest.from[0] ?? folder, 'or a file beside it changed while it was converted')
    }
    return { isNew: true, fingerprint: await makeWhole(path, makeUnchanged, signal) }
  })
  await hashes.save()
  await writeManifest(path, { ...manifest, ...fingerprint })
  return { path, isNew }
}

async function makeWhole(
  path: string,
  make: (outputPath: string) => Promise<void>,
  signal: AbortSignal | undefined,
): Promise<Fingerprint> {
  let checksum = ''
  try {
    await writeWhole(path, async (outputPath) => {
      await make(outputPath)
      checksum = await checksumOf(outputPath, signal)
    })
    return await recordMade(path, checksum)
  } catch (error) {
    // Where an open file cannot be replaced, another process's artifact of the same key is as good.
    const isRefused = error instanceof StartError || signal?.aborted === true
    const found = isRefused ? null : await findIntact(path, { isOpened: true, signal })
    if (found === null) throw fileError('write', path, error)
    return found
  }
}

/** Removes what processes that were killed have left in the cache. Called at the start; `cachedArtifact` does it too. */
export async function removeLeftoverArtifacts(dataDir: string): Promise<void> {
  // What cannot be removed is in no one's way.
  await removeLeftovers(artifactFolder(dataDir)).catch(() => {})
}

function artifactFolder(dataDir: string): string {
  return join(dataDir, 'models')
}

async function keyOf({ recipe, sources, signal }: ArtifactOptions, hashes: ContentHashes): Promise<string> {
  const key = createHash('sha256').update(recipe)
  for (const path of await sources()) {
    key.update(`\n${path === null ? 'none' : await hashes.hash(path, signal)}`)
  }
  return key.digest('hex')
}

/** By path: a second request for an artifact in this process waits, and finds it. */
const mutexes = new Map<string, Mutex>()

async function inTurn<Result>(
  path: string,
  signal: AbortSignal | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  const mutex = mutexes.get(path) ?? new Mutex()
  mutexes.set(path, mutex)
  try {
    return await mutex.run(work, signal)
  } finally {
    if (mutex.isIdle) mutexes.delete(path)
  }
}

/** Makes the folder, and removes what killed processes left in it. */
async function prepareFolder(folder: string): Promise<void> {
  try {
    makeFolder(folder)
    await removeLeftovers(folder)
  } catch (error) {
    throw fileError('prepare the folder', folder, error)
  }
}
