/**
 * The manifest of each file in `<data folder>/models`: `<key>.json` beside `<key>.gguf` names what it was made from. It
 * is written at each use, so that its time is that of the last one. An artifact is superseded when another was made from
 * the same paths in the same way, because what lies there has changed; so is what was made from a superseded one.
 * Superseded artifacts are removed a day after their last use, all others stay.
 *
 * Invariant: a manifest only saves work. What cannot be written or removed is left as it is.
 */
import { readdir, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { newId } from '../../core/ids.ts'
import { isRecord } from '../json-file.ts'

/** A server that uses an entry touches it more often (`TOUCH_ENTRY_MS`). */
const KEPT_MS = 24 * 3600 * 1000
/** How often a process that has an artifact open calls `touchEntry`. */
export const TOUCH_ENTRY_MS = 3600 * 1000

export interface Manifest {
  /** Paths of the files that were read for it. */
  readonly from: readonly string[]
  /** The format they were made into. */
  readonly as: string
}

const ARTIFACT_NAME = /^[0-9a-f]{64}\.gguf$/

interface Artifact extends Manifest {
  /** Of the `.gguf` file. */
  readonly path: string
  readonly usedAtMs: number
}

/** Notes what an artifact was made from, and removes those that it supersedes. */
export async function writeManifest(path: string, { from, as }: Manifest): Promise<void> {
  const manifest: Manifest = { from: from.map((one) => resolve(one)), as }
  const manifestPath = manifestPathOf(path)
  const temporaryPath = `${manifestPath}.${newId()}.tmp`
  try {
    await writeFile(temporaryPath, JSON.stringify(manifest, null, 1))
    await rename(temporaryPath, manifestPath)
    await removeSuperseded({ ...manifest, path: resolve(path), usedAtMs: Date.now() })
  } catch {
    await unlink(temporaryPath).catch(() => {})
  }
}

/** Keeps an artifact for another day, whatever supersedes it. Does nothing for any other file. */
export async function touchEntry(path: string): Promise<void> {
  if (!ARTIFACT_NAME.test(basename(path))) return
  const now = new Date()
  await utimes(manifestPathOf(path), now, now).catch(() => {})
}

async function removeSuperseded(current: Artifact): Promise<void> {
  const others = (await listArtifacts(dirname(current.path))).filter(({ path }) => path !== current.path)
  const superseded = new Set<Artifact>()
  const isSuperseded = (one: Artifact): boolean =>
    (one.as === current.as && sameFiles(one.from, current.from)) ||
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

function sameFiles(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((path, index) => path === other[index])
}
