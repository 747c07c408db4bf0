/**
 * The cache of GGUF files in `<data folder>/models` that conversion and quantization make, each named by a hash over the
 * content of its sources. An artifact is written under a temporary name and renamed, so that a file under its final name
 * is whole. Two processes may make the same artifact at once; in one process the second call waits for the first.
 */
import { createHash } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Mutex } from '../../core/concurrency/semaphore.ts'
import { StartError } from '../../core/errors.ts'
import { fileError } from '../file-errors.ts'
import { readGgufFile } from '../gguf/gguf-file.ts'
import { isFile } from '../json-file.ts'
import { type Manifest, writeManifest } from './artifact-manifest.ts'
import { ContentHashes } from './content-hash.ts'
import { removeLeftovers, writeWhole } from './whole-file.ts'

interface ArtifactOptions {
  readonly dataDir: string
  /** How it is made; part of its key. */
  readonly recipe: string
  /** Paths of all files that it is made from; null for one that may exist and does not. */
  readonly sources: () => Promise<readonly (string | null)[]>
  readonly manifest: Manifest
  /** Leaves the file at `outputPath` whole, or fails. `isUnchanged` hashes again the sources that were written to. */
  readonly make: (outputPath: string, isUnchanged: () => Promise<boolean>) => Promise<void>
  readonly signal?: AbortSignal | undefined
}

interface Artifact {
  readonly path: string
  /** False when it was found in the cache. */
  readonly isNew: boolean
}

/** @throws StartError when it cannot be written, and what `make` throws. */
export async function cachedArtifact(options: ArtifactOptions): Promise<Artifact> {
  const { dataDir, manifest, make, signal } = options
  const folder = join(dataDir, 'models')
  const hashes = await ContentHashes.open(folder)
  const key = await keyOf(options, hashes)
  const path = join(folder, `${key}.gguf`)
  const isUnchanged = async (): Promise<boolean> => (await keyOf(options, hashes)) === key
  const isNew = await inTurn(path, signal, async () => {
    if (await isWhole(path)) return false
    await prepareFolder(folder)
    try {
      await writeWhole(path, (outputPath) => make(outputPath, isUnchanged))
    } catch (error) {
      // Where an open file cannot be replaced, another process's artifact of the same key is as good.
      const isRefused = error instanceof StartError || signal?.aborted === true
      if (isRefused || !(await isWhole(path))) throw fileError('write', path, error)
    }
    return true
  })
  await hashes.save()
  await writeManifest(path, manifest)
  return { path, isNew }
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

/** A file under its final name was whole once; a disk may still have lost its end. */
async function isWhole(path: string): Promise<boolean> {
  if (!(await isFile(path))) return false
  try {
    await readGgufFile(path)
    return true
  } catch (error) {
    if (error instanceof StartError) return false
    throw error
  }
}

/** Makes the folder, and removes what killed processes left in it. */
async function prepareFolder(folder: string): Promise<void> {
  try {
    await mkdir(folder, { recursive: true })
    await removeLeftovers(folder)
  } catch (error) {
    throw fileError('prepare the folder', folder, error)
  }
}
