/**
 * One repository's folder in the cache that all tools of the Hub share:
 *
 *   models--org--repo/blobs/HASH                    what was downloaded, whole
 *   models--org--repo/snapshots/COMMIT/a/file       a link to its blob
 *   models--org--repo/refs/main                     the commit a branch or tag stood for
 *
 * Invariant: a file under its final name is whole.
 */
import { randomBytes } from 'node:crypto'
import { readdir, readFile, rename, stat, symlink, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeFolder } from '../../core/make-folder.ts'

export class HubCache {
  readonly cacheDir: string
  readonly blobsDir: string
  readonly #folder: string

  constructor(cacheDir: string, repo: string) {
    this.cacheDir = cacheDir
    this.#folder = path.join(cacheDir, `models--${repo.replaceAll('/', '--')}`)
    this.blobsDir = path.join(this.#folder, 'blobs')
  }

  blobPath(hash: string): string {
    return path.join(this.blobsDir, hash)
  }

  snapshotPath(commit: string, file = ''): string {
    return path.join(this.#folder, 'snapshots', commit, file)
  }

  /** Files of a snapshot; none when it does not exist. */
  async listSnapshot(commit: string): Promise<readonly string[]> {
    const folder = this.snapshotPath(commit)
    const entries = await readdir(folder, { recursive: true }).catch(() => [])
    const sizes = await Promise.all(entries.map((name) => fileSize(path.join(folder, name))))
    return entries.filter((_, index) => sizes[index] !== null)
  }

  /** Puts a blob into a snapshot, in place of any file there. */
  async link(commit: string, file: string, hash: string): Promise<void> {
    const target = this.snapshotPath(commit, file)
    makeFolder(path.dirname(target))
    const made = this.#temporary(hash)
    await symlink(path.relative(path.dirname(target), this.blobPath(hash)), made)
    await rename(made, target)
  }

  /** The commit that a revision stood for when it was pulled; null when it was not. */
  async readRef(revision: string): Promise<string | null> {
    if (/^[0-9a-f]{40}$/.test(revision)) return revision
    const text = await readFile(this.#refPath(revision), 'utf8').catch(() => '')
    return /^[0-9a-f]{40}$/.test(text.trim()) ? text.trim() : null
  }

  async writeRef(revision: string, commit: string): Promise<void> {
    if (revision === commit) return
    const target = this.#refPath(revision)
    makeFolder(path.dirname(target))
    const made = this.#temporary('ref')
    await writeFile(made, commit)
    await rename(made, target)
  }

  #refPath(revision: string): string {
    return path.join(this.#folder, 'refs', revision)
  }

  /** A name that no other process uses. */
  #temporary(name: string): string {
    return path.join(this.blobsDir, `${name}.${randomBytes(6).toString('hex')}.tmp`)
  }
}

/** Null when there is no file, or a link to none. */
export async function fileSize(file: string): Promise<number | null> {
  const stats = await stat(file).catch(() => null)
  return stats?.isFile() ? stats.size : null
}
