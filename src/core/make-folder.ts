/** Makes a folder with those above it, or tells in words why it cannot be made. */
import { existsSync, mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { errorCode } from './system-error.ts'

/**
 * In place of the recursive way of Node's own, which tries for ever where a folder that is there answers as if it were not: /proc
 * does. @throws a system error
 */
export function makeFolder(folder: string, mode?: number): void {
  if (isFolder(folder)) return
  const parent = path.dirname(folder)
  if (parent !== folder && !existsSync(parent)) makeFolder(parent, mode)
  try {
    mkdirSync(folder, { mode })
  } catch (error) {
    // Another process may have made it meanwhile.
    if (isFolder(folder)) return
    const code = errorCode(error)
    // Of a link that leads nowhere it throws ENOENT.
    if (code === 'EEXIST') statSync(folder)
    throw code === 'ENOENT' ? takesNone(parent) : error
  }
}

function isFolder(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true
}

function takesNone(parent: string): Error {
  const message = `no folder can be made in ${parent}`
  return Object.assign(new Error(message), { code: 'ENOTSUP', syscall: 'mkdir' })
}

const FOLDER_TROUBLES: Readonly<Record<string, string>> = {
  EEXIST: 'it is a file',
  ENOENT: 'a link on its path leads nowhere',
  ENOTDIR: 'a part of its path is a file',
  ENOTSUP: 'the folder above it takes none',
  EACCES: 'writing there is not permitted',
  EPERM: 'writing there is not permitted',
  EROFS: 'it lies on a read-only disk',
  ENOSPC: 'the disk is full',
}

/** The reason why a folder cannot be made, as the end of a sentence. */
export function folderTrouble(error: unknown): string {
  const code = errorCode(error)
  return FOLDER_TROUBLES[code ?? ''] ?? String(code)
}
