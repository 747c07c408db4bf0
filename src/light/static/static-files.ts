/**
 * Serves the files of one folder. A path to anything but a regular file in it (its parent, a hidden file, a device, a
 * link that leads outside) is answered as not found, and the answer does not say why.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { ServiceError } from '../../core/errors.ts'
import { errorCode } from '../../core/system-error.ts'
import { renderError } from '../../net/render-error.ts'
import type { LightAnswer } from '../answers.ts'
import type { Exchange } from '../exchange.ts'
import { type ByteRange, isNotModified, rangeOf } from './file-conditions.ts'
import { isInside } from './static-root.ts'

type FileRequest = Pick<Exchange, 'method' | 'headers' | 'requestId'>

/** By file extension. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.avif': 'image/avif',
  '.css': 'text/css; charset=utf-8',
  '.csv': 'text/csv; charset=utf-8',
  '.gif': 'image/gif',
  '.htm': 'text/html; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.jpeg': 'image/jpeg',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.map': 'application/json; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.mp3': 'audio/mpeg',
  '.mp4': 'video/mp4',
  '.ogg': 'audio/ogg',
  '.otf': 'font/otf',
  '.pdf': 'application/pdf',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.ttf': 'font/ttf',
  '.txt': 'text/plain; charset=utf-8',
  '.wasm': 'application/wasm',
  '.wav': 'audio/wav',
  '.webm': 'video/webm',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.webp': 'image/webp',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.xml': 'application/xml; charset=utf-8',
}

/** The file of a path that ends in a slash. */
const INDEX_FILE = 'index.html'

/**
 * Null when there is no such file, or the method is neither GET nor HEAD.
 * @param root the folder's real path
 * @param segments of the request's path, percent-decoded
 */
export async function findFile(
  root: string,
  request: FileRequest,
  segments: readonly string[],
): Promise<LightAnswer | null> {
  const { method } = request
  const name = method === 'GET' || method === 'HEAD' ? fileNameOf(segments) : null
  const file = name === null ? null : await openInside(root, name)
  if (file === null) return null
  const { range, ...answer } = toAnswer(file, request)
  if (range === null || method === 'HEAD') {
    await file.handle.close()
    return answer
  }
  const lengthBytes = range.end - range.start + 1
  return { ...answer, body: { stream: file.handle.createReadStream(range), lengthBytes } }
}

/** Relative to the folder; null for what names no file in it. */
function fileNameOf(segments: readonly string[]): string | null {
  const names = segments.at(-1) === '' ? [...segments.slice(0, -1), INDEX_FILE] : segments
  return names.every(isPlainName) ? names.join('/') : null
}

/**
 * A name of a file on every system: not hidden, no separator of any system, no drive or stream of Windows (`:`),
 * nothing that Windows drops from the end, and not `.` or `..`, which begin with a dot as well.
 */
function isPlainName(name: string): boolean {
  return name !== '' && !name.startsWith('.') && !/[/\\:\0]|[. ]$/.test(name)
}

interface OpenFile {
  readonly handle: FileHandle
  readonly name: string
  readonly sizeBytes: number
  readonly modifiedMs: number
}

/** A link is followed if its target is in the folder and not hidden. */
async function openInside(root: string, name: string): Promise<OpenFile | null> {
  try {
    const real = await realpath(path.join(root, name))
    const inside = path.relative(root, real)
    if (!isInside(root, real) || !inside.split(path.sep).every(isPlainName)) return null
    // Opening a pipe would wait for its writer.
    if (!(await stat(real)).isFile()) return null
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const { size, mtimeMs } = await handle.stat()
    return { handle, name, sizeBytes: size, modifiedMs: mtimeMs }
  } catch (error) {
    if (ABSENCES.has(errorCode(error))) return null
    throw error
  }
}

/** A file that may not be read is answered like one that does not exist. */
const ABSENCES: ReadonlySet<unknown> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'EACCES',
  'EPERM',
])

/** The answer's head, and the range of bytes to send; null where there are none. */
function toAnswer(
  { name, sizeBytes, modifiedMs }: OpenFile,
  { method, headers, requestId }: FileRequest,
): LightAnswer & { readonly range: ByteRange | null } {
  const etag = `"${Math.round(modifiedMs * 1000).toString(36)}-${sizeBytes.toString(36)}"`
  const modifiedUnixSeconds = Math.floor(modifiedMs / 1000)
  const always = {
    etag,
    'last-modified': new Date(modifiedUnixSeconds * 1000).toUTCString(),
    // Kept, and asked for again each time: a change shows at once, and costs a 304 while there is none.
    'cache-control': 'no-cache',
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    'x-request-id': requestId,
  }
  const validators = { etag, modifiedUnixSeconds }
  if (isNotModified(headers, validators)) return { status: 304, headers: always, body: '', range: null }
  const range = method === 'GET' ? rangeOf(headers, validators, sizeBytes) : null
  if (range === 'unsatisfiable') {
    const error = new ServiceError('range_not_satisfiable', { sizeBytes })
    const answer = renderError(error, { requestId, shape: 'plain' })
    const contentRange = { 'content-range': `bytes */${sizeBytes}` }
    return { ...answer, headers: { ...answer.headers, ...contentRange }, range: null }
  }
  const { start, end } = range ?? { start: 0, end: sizeBytes - 1 }
  return {
    status: range === null ? 200 : 206,
    headers: {
      ...always,
      'content-type': contentTypeOf(name),
      'content-length': String(end - start + 1),
      ...(range && { 'content-range': `bytes ${start}-${end}/${sizeBytes}` }),
    },
    body: '',
    range: sizeBytes === 0 ? null : { start, end },
  }
}

function contentTypeOf(file: string): string {
  return CONTENT_TYPES[path.extname(file).toLowerCase()] ?? 'application/octet-stream'
}
