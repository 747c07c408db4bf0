/**
 * One sentence for everything that can be wrong with a file, as a `StartError` with exit code 1. Text from inside a file
 * is quoted on one line and cut, so that no file writes into a log.
 */
import { StartError } from '../../core/errors.ts'
import { systemCallCode } from '../../core/system-error.ts'

const SYSTEM_REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EEXIST: 'it exists already',
  ENOTDIR: 'a part of its path is not a folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'the operation is not permitted',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file system does not take a file of this size',
  EMFILE: 'too many files are open',
  EIO: 'the disk reports an input/output error',
}

/** What the code of a failed system call means, as the end of a sentence. */
export function systemReason(code: string): string {
  return SYSTEM_REASONS[code] ?? code
}

/** A file that exists but is not what it should be. */
export function badFile(path: string, sentenceEnd: string): StartError {
  return new StartError(`${oneLine(path)} ${sentenceEnd}.`)
}

/** A file whose model the converter or llama.cpp would not compute as it was trained. */
export function unconvertible({ path }: { readonly path: string }, reason: string): StartError {
  return badFile(path, `cannot be converted: ${reason}`)
}

/** A failed system call; anything that is not one is passed on as it is. */
export function fileError(action: string, path: string, thrown: unknown): unknown {
  const code = systemCallCode(thrown)
  if (code === null) return thrown
  return new StartError(`Cannot ${action} ${oneLine(path)}: ${systemReason(code)}.`)
}

export function isMissing(thrown: unknown): boolean {
  return systemCallCode(thrown) === 'ENOENT'
}

/** A name from inside a file, quoted, on one line, at most 80 characters. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 77)}...` : text).replaceAll(
    /[\u007f-\u009f\u2028\u2029]/g,
    ' ',
  )
}

/** Any JSON value as an error message shows it. */
export function shown(value: unknown): string {
  if (value === undefined) return 'missing'
  return typeof value === 'string' ? quoted(value) : quoted(JSON.stringify(value)).slice(1, -1)
}

const MAX_LISTED = 30

/** Names of files as a sentence may hold them, sorted; of many only the first. */
export function listed(names: readonly string[]): string {
  const more = names.length > MAX_LISTED ? ` and ${names.length - MAX_LISTED} more` : ''
  return `${names.toSorted().slice(0, MAX_LISTED).map(oneLine).join(', ')}${more}`
}

/** A path as a sentence may hold it. */
export function oneLine(path: string): string {
  // oxlint-disable-next-line no-control-regex -- a path may hold any character, a log line may not
  return path.replaceAll(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '?')
}
