/**
 * The manifest of each file in `<data folder>/models`: `<key>.json` beside `<key>.gguf` names its sources and holds its
 * checksum. It is written at each use, so its modification time is the time of the last use. An artifact is superseded when another was made from the
 * same paths in the same way, because their content has changed; so is what was made from a superseded one. Superseded
 * artifacts are removed a day after their last use, all others stay.
 *
 * Invariant: no failure here fails a load. A manifest or artifact that cannot be written or removed is left as it is.
 */
import { readdir, readFile, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Engine } from '../../protocol/engine.ts'
import { isRecord } from '../files/json-file.ts'
import { writeWhole } from './whole-file.ts'

const KEPT_MS = 24 * 3600 * 1000
/** How often a process that has an artifact open touches its manifest. */
const TOUCH_MS = 3600 * 1000

export interface Manifest {
  /** Paths of the files that were read for it. */
  readonly from: readonly string[]
  /** The format they were made into. */
  readonly as: string
}

/** Of an artifact when it was made, or found to be what was made. */
export interface Fingerprint {
  /** As `fileIdentity` gives it. */
  readonly identity: string
  readonly checksum: string
}

export const ARTIFACT_NAME = /^[0-9a-f]{64}\.gguf$/

interface Artifact extends Manifest {
  /** Of the `.gguf` file. */
  readonly path: string
  readonly usedAtMs: number
}

/** Notes what an artifact was made from, and removes those that it supersedes. */
export async function writeManifest(path: string, given: Manifest & Fingerprint): Promise<void> {
  const manifest = { ...given, from: given.from.map((one) => resolve(one)) }
  const text = JSON.stringify(manifest, null, 1)
  try {
    await writeWhole(manifestPathOf(path), (temporaryPath) => writeFile(temporaryPath, text))
    await removeSuperseded({ ...manifest, path: resolve(path), usedAtMs: Date.now() })
  } catch {
    // The artifact is as good without it.
  }
}

/** Null where nothing was recorded. */
export async function readFingerprint(path: string): Promise<Fingerprint | null> {
  try {
    const manifest: unknown = JSON.parse(await readFile(manifestPathOf(path), 'utf8'))
    if (!isRecord(manifest) || typeof manifest['checksum'] !== 'string') return null
    return { identity: String(manifest['identity']), checksum: manifest['checksum'] }
  } catch {
    return null
  }
}

/** Keeps an artifact for another day, whatever supersedes it. Does nothing for any other file. */
export async function touchEntry(path: string): Promise<void> {
  if (!ARTIFACT_NAME.test(basename(path))) return
  const now = new Date()
  await utimes(manifestPathOf(path), now, now).catch(() => {})
}

/** The engine, which touches its cache entry until it is closed, because it may have to open the file again. */
export function touchWhileOpen(engine: Engine, modelPath: string): Engine {
  const openAdapter = engine.openAdapter?.bind(engine)
  const timer = setInterval(() => void touchEntry(modelPath), TOUCH_MS).unref()
  return {
    generate: (request, signal) => engine.generate(request, signal),
    tokenize: (request, signal) => engine.tokenize(request, signal),
    detokenize: (tokenIds, signal) => engine.detokenize(tokenIds, signal),
    info: () => engine.info(),
    status: () => engine.status(),
    ...(openAdapter && { openAdapter }),
    ...(engine.adapter && { adapter: engine.adapter }),
    replicas: () => engine.replicas?.() ?? [],
    close: async () => {
      clearInterval(timer)
      await engine.close()
    },
  }
}

async function removeSuperseded(current: Artifact): Promise<void> {
  const others = (await listArtifacts(dirname(current.path))).filter(({ path }) => path !== current.path)
  const superseded = new Set<Artifact>()
  const isSuperseded = (one: Artifact): boolean =>
    (one.as === current.as && isDeepStrictEqual(one.from, current.from)) ||
    [...superseded].some(({ path }) => one.from.includes(path))
  for (;;) {
    const more = others.filter((one) => !superseded.has(one) && isSuperseded(one))
    if (more.length === 0) break
    for (const one of more) superseded.add(one)
  }
  for (const { path, usedAtMs } of superseded) {
    if (current.usedAtMs - usedAtMs < KEPT_MS) continue
    await unlink(path).catch(() => {})
    await unlink(manifestPathOf(path)).catch(() => {})
  }
}

async function listArtifacts(folder: string): Promise<Artifact[]> {
  const names = (await readdir(folder)).filter((name) => /^[0-9a-f]{64}\.json$/.test(name))
  const found = await Promise.all(names.map((name) => readManifest(join(folder, name))))
  return found.filter((artifact) => artifact !== null)
}

async function readManifest(manifestPath: string): Promise<Artifact | null> {
  try {
    const read: unknown = JSON.parse(await readFile(manifestPath, 'utf8'))
    if (!isRecord(read) || !Array.isArray(read['from']) || typeof read['as'] !== 'string') return null
    const { mtimeMs } = await stat(manifestPath)
    const path = manifestPath.replace(/\.json$/, '.gguf')
    return { path, from: read['from'].map(String), as: read['as'], usedAtMs: mtimeMs }
  } catch {
    return null
  }
}

function manifestPathOf(path: string): string {
  return path.replace(/\.gguf$/, '.json')
}
