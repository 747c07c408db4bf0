/**
 * The folder in which the copies of one model, in one shape, lie between two runs; replicas of a model share it. Only this
 * user may enter it. What is damaged there, or of another shape, is removed and never read.
 *
 *   <folder of the option>/<model id, hashed>/<shape>/manifest.json, <content, hashed>.kv
 */
import { createHash } from 'node:crypto'
import { chmodSync, lstatSync, readdirSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { removeLeftovers, writeWhole } from '../../../checkpoints/cache/whole-file.ts'
import { StartError } from '../../../core/errors.ts'
import { makeFolder } from '../../../core/make-folder.ts'
import { systemCallCode } from '../../../core/system-error.ts'
import type { StoredPrefix } from '../../../protocol/model-runner.ts'
import { type CopyHead, readCopyHead, readCopyState, writeCopyFile } from './copy-file.ts'

const COPY_ENDING = '.kv'
const MANIFEST = 'manifest.json'
/** Shapes of a model whose copies are kept: the one that serves and the one that it replaced. */
const KEPT_SHAPES = 2
const NAME_LENGTH = 32

/** What the states in the folder go with: of another file, version or cache they would be nonsense. */
export type ShapeManifest = Readonly<Record<string, unknown>> & { readonly modelId: string }

export interface StoredFile {
  readonly path: string
  readonly head: CopyHead
}

export class CopyFolder {
  readonly #path: string
  readonly #shape: string
  readonly #onNote: (note: string) => void

  private constructor(folder: string, shape: string, onNote: (note: string) => void) {
    this.#path = folder
    this.#shape = shape
    this.#onNote = onNote
  }

  /** @throws StartError where this user cannot write there, or somebody else could. */
  static open(root: string, manifest: ShapeManifest, onNote: (note: string) => void): CopyFolder {
    const text = JSON.stringify(manifest, null, 1)
    const shape = hashOf(text)
    const ofModel = path.join(root, hashOf(manifest.modelId))
    const folder = path.join(ofModel, shape)
    try {
      makeFolder(folder, 0o700)
      for (const one of [ofModel, folder]) closeToOthers(one)
      writeFileSync(path.join(folder, MANIFEST), text, { mode: 0o600 })
      removeOldShapes(ofModel, shape)
    } catch (error) {
      if (error instanceof StartError) throw error
      const code = systemCallCode(error) ?? String(error)
      throw new StartError(`The folder '${root}' (--prefix-cache-dir) cannot be written: ${code}.`, 1)
    }
    return new CopyFolder(folder, shape, onNote)
  }

  /** The whole copies, the least recently used first. */
  list(): readonly StoredFile[] {
    void removeLeftovers(this.#path).catch(() => {})
    const files: StoredFile[] = []
    let removed = 0
    for (const file of this.#paths()) {
      const head = readHead(file)
      if (head?.shape === this.#shape) files.push({ path: file, head })
      else if (removeFile(file)) removed++
    }
    if (removed > 0) this.#onNote(`${removed} damaged or foreign files of the prefix cache were removed`)
    return files.toSorted((a, b) => a.head.usedUnixMs - b.head.usedUnixMs)
  }

  /** Where a copy of this prefix is, or would be. */
  pathOf({ cachedTokenIds, accountId, leastCut }: StoredPrefix): string {
    const ids = Int32Array.from(cachedTokenIds)
    const name = hashOf(JSON.stringify([accountId, leastCut]), new Uint8Array(ids.buffer))
    return path.join(this.#path, `${name}${COPY_ENDING}`)
  }

  /** @param usedUnixMs orders the copies of the next start */
  async write(prefix: StoredPrefix, state: Uint8Array, usedUnixMs: number): Promise<void> {
    const { accountId, leastCut } = prefix
    const cachedTokenIds = Int32Array.from(prefix.cachedTokenIds)
    const head = { shape: this.#shape, accountId, leastCut, bytes: state.length, usedUnixMs, cachedTokenIds }
    await writeWhole(this.pathOf(prefix), (temporary) => writeCopyFile(temporary, head, state))
  }

  /** False where the file is gone or damaged; it is then removed. */
  async read({ path: file, head }: StoredFile, target: Uint8Array): Promise<boolean> {
    try {
      if (await readCopyState(file, head, target)) return true
      if (removeFile(file)) this.#onNote('a damaged file of the prefix cache was removed')
    } catch {
      // Another replica has removed it, or the disk cannot be read: it is computed again.
    }
    return false
  }

  /** Removes what is not kept, the oldest first, until all files take `maxBytes` at most. */
  prune(keptPaths: ReadonlySet<string>, maxBytes: number): void {
    const files = this.#paths().flatMap((file) => statOf(file) ?? [])
    let bytes = files.reduce((sum, { size }) => sum + size, 0)
    for (const file of files.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (bytes <= maxBytes) return
      if (!keptPaths.has(file.path) && removeFile(file.path)) bytes -= file.size
    }
  }

  #paths(): readonly string[] {
    const names = readdirSync(this.#path).filter((name) => name.endsWith(COPY_ENDING))
    return names.map((name) => path.join(this.#path, name))
  }
}

/** True where it was there. */
export function removeFile(file: string): boolean {
  try {
    unlinkSync(file)
    return true
  } catch {
    return false
  }
}

/** @throws StartError for what is no folder of this user */
function closeToOthers(folder: string): void {
  const stats = lstatSync(folder)
  const isOwn = process.getuid === undefined || stats.uid === process.getuid()
  if (!stats.isDirectory() || !isOwn)
    throw new StartError(
      `'${folder}' (--prefix-cache-dir) must be a folder of the user that runs the server.`,
      1,
    )
  chmodSync(folder, 0o700)
}

/** A swap back to the model before it finds its conversations; those of older ones only take room. */
function removeOldShapes(ofModel: string, shape: string): void {
  const others = readdirSync(ofModel).filter((name) => name !== shape && name.length === NAME_LENGTH)
  const byAge = others
    .map((name) => ({
      name,
      usedMs: statSync(path.join(ofModel, name, MANIFEST), { throwIfNoEntry: false })?.mtimeMs ?? 0,
    }))
    .toSorted((a, b) => b.usedMs - a.usedMs)
  for (const { name } of byAge.slice(KEPT_SHAPES - 1))
    rmSync(path.join(ofModel, name), { recursive: true, force: true })
}

function readHead(file: string): CopyHead | null {
  try {
    return readCopyHead(file)
  } catch {
    return null
  }
}

function statOf(
  file: string,
): { readonly path: string; readonly size: number; readonly mtimeMs: number } | null {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats === undefined ? null : { path: file, size: stats.size, mtimeMs: stats.mtimeMs }
}

function hashOf(...parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex').slice(0, NAME_LENGTH)
}
