/**
 * What each file of `<data folder>/models` was made from: `<key>.json` beside `<key>.gguf`, written at each use, so that
 * its time is that of the last one. A file is superseded when one of another content was made from the same paths in the
 * same way, because what lies there has changed; so is what was made from a superseded one. Superseded files go when
 * nobody has used them for a day. All others stay: they save the work the next time.
 *
 * A shortcut like the index of hashes: what cannot be written or removed is left as it is.
 */
import { readdir, readFile, rename, stat, unlink, utimes, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { newId } from '../../core/ids.ts'
import { isRecord } from '../json-file.ts'

/** A server that uses a file says so more often (`MARK_MS`), and may have to start its engine again. */
const KEPT_MS = 24 * 3600 * 1000
/** How often whoever has a file open should call `markUsed`. */
export const MARK_MS = 3600 * 1000

export interface Making {
  /** The files read for it. */
  readonly from: readonly string[]
  /** What was made of them. */
  readonly as: string
}

const MADE_NAME = /^[0-9a-f]{64}\.gguf$/

interface MadeFile extends Making {
  /** The `.gguf`. */
  readonly path: string
  readonly usedAtMs: number
}

/** Remembers what a file was made from, and removes those that it supersedes. */
export async function recordMaking(path: string, { from, as }: Making): Promise<void> {
  const making: Making = { from: from.map((one) => resolve(one)), as }
  const notePath = notePathOf(path)
  const temporaryPath = `${notePath}.${newId()}.tmp`
  try {
    await writeFile(temporaryPath, JSON.stringify(making, null, 1))
    await rename(temporaryPath, notePath)
    await removeSuperseded({ ...making, path: resolve(path), usedAtMs: Date.now() })
  } catch {
    await unlink(temporaryPath).catch(() => {})
  }
}

/** Keeps a file for another day, whatever supersedes it; nothing for one that was not made here. */
export async function markUsed(path: string): Promise<void> {
  if (!MADE_NAME.test(basename(path))) return
  const now = new Date()
  await utimes(notePathOf(path), now, now).catch(() => {})
}

async function removeSuperseded(current: MadeFile): Promise<void> {
  const others = (await madeFiles(dirname(current.path))).filter(({ path }) => path !== current.path)
  const superseded = new Set<MadeFile>()
  const isSuperseded = (one: MadeFile): boolean =>
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
    await unlink(notePathOf(path)).catch(() => {})
  }
}

async function madeFiles(folder: string): Promise<MadeFile[]> {
  const names = (await readdir(folder)).filter((name) => /^[0-9a-f]{64}\.json$/.test(name))
  const found = await Promise.all(names.map((name) => readNote(join(folder, name))))
  return found.filter((made) => made !== null)
}

async function readNote(notePath: string): Promise<MadeFile | null> {
  try {
    const note: unknown = JSON.parse(await readFile(notePath, 'utf8'))
    if (!isRecord(note) || !Array.isArray(note['from']) || typeof note['as'] !== 'string') return null
    const { mtimeMs } = await stat(notePath)
    const path = notePath.replace(/\.json$/, '.gguf')
    return { path, from: note['from'].map(String), as: note['as'], usedAtMs: mtimeMs }
  } catch {
    return null
  }
}

function notePathOf(path: string): string {
  return path.replace(/\.gguf$/, '.json')
}

function sameFiles(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((path, index) => path === other[index])
}
