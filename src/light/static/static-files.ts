/**
 * Serves the files of one folder. A path that could mean anything else than a file in it (its parent, a hidden file, a
 * device, a link that leads out) finds nothing. What a client is told never says why.
 */
import { constants } from 'node:fs'
import { type FileHandle, open, realpath, stat } from 'node:fs/promises'
import type { IncomingHttpHeaders } from 'node:http'
import path from 'node:path'
import { ServiceError } from '../../core/errors.ts'
import { renderError } from '../../net/render-error.ts'
import type { Answer } from '../answers.ts'
import { contentTypeOf } from './content-types.ts'
import { type ByteRange, isNotModified, rangeOf } from './file-conditions.ts'
import { isInside } from './static-root.ts'

interface FileRequest {
  readonly method: string
  /** Percent-decoded. */
  readonly segments: readonly string[]
  readonly headers: IncomingHttpHeaders
  readonly requestId: string
}

export interface StaticFiles {
  /** Null when there is no such file, or the method is neither GET nor HEAD. */
  answer(request: FileRequest): Promise<Answer | null>
}

/** Where a path that ends in a slash leads. */
const INDEX_FILE = 'index.html'

/** Read in one go: opening a stream costs more than such a file. */
const SMALL_BYTES = 65_536

/** @param root the folder's real path */
export function createStaticFiles(root: string): StaticFiles {
  return {
    answer: async (request) => {
      const { method, segments } = request
      if (method !== 'GET' && method !== 'HEAD') return null
      const name = fileNameOf(segments)
      if (name === null) return null
      const file = await openInside(root, name)
      if (file === null) return null
      try {
        return await answerFile(file, request)
      } catch (error) {
        await file.handle.close()
        throw error
      }
    },
  }
}

/** Relative to the folder; null for what names no file in it. */
function fileNameOf(segments: readonly string[]): string | null {
  const names = segments.at(-1) === '' ? [...segments.slice(0, -1), INDEX_FILE] : segments
  return names.every(isPlainName) ? names.join('/') : null
}

/**
 * A name of a file on every system: not hidden, no separator of any system, no drive or stream of Windows (`:`), nothing
 * that Windows drops from the end, and not `.` or `..`, which begin with a dot as well.
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

/** A link is followed as long as it stays in the folder and leads to nothing hidden. */
async function openInside(root: string, name: string): Promise<OpenFile | null> {
  try {
    const real = await realpath(path.join(root, name))
    const inside = path.relative(root, real)
    if (!isInside(root, real) || !inside.split(path.sep).every(isPlainName)) return null
    // Opening a pipe would wait for whoever writes to it.
    if (!(await stat(real)).isFile()) return null
    const handle = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const { size, mtimeMs } = await handle.stat()
    return { handle, name, sizeBytes: size, modifiedMs: mtimeMs }
  } catch (error) {
    if (isAbsence(error)) return null
    throw error
  }
}

const ABSENCES: ReadonlySet<unknown> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'ENAMETOOLONG',
  'EACCES',
  'EPERM',
])

/** What may not be read is not there, for those who ask over HTTP. */
function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && ABSENCES.has(error.code)
}

async function answerFile(file: OpenFile, { method, headers, requestId }: FileRequest): Promise<Answer> {
  const { handle, name, sizeBytes, modifiedMs } = file
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
  if (isNotModified(headers, validators)) {
    await handle.close()
    return { status: 304, headers: always, body: '' }
  }
  const range = method === 'GET' ? rangeOf(headers, validators, sizeBytes) : null
  if (range === 'unsatisfiable') {
    await handle.close()
    const error = new ServiceError('range_not_satisfiable', { sizeBytes })
    const answer = renderError(error, { requestId, shape: 'plain' })
    return { ...answer, headers: { ...answer.headers, 'content-range': `bytes */${sizeBytes}` } }
  }
  const bytes = range ?? { start: 0, end: sizeBytes - 1 }
  return {
    status: range === null ? 200 : 206,
    headers: {
      ...always,
      'content-type': contentTypeOf(name),
      'content-length': String(bytes.end - bytes.start + 1),
      ...(range && { 'content-range': `bytes ${range.start}-${range.end}/${sizeBytes}` }),
    },
    body: method === 'HEAD' ? await closed(handle) : await readBytes(handle, bytes),
  }
}

async function closed(handle: FileHandle): Promise<string> {
  await handle.close()
  return ''
}

async function readBytes(handle: FileHandle, { start, end }: ByteRange): Promise<Answer['body']> {
  const lengthBytes = end - start + 1
  if (lengthBytes > SMALL_BYTES) return handle.createReadStream({ start, end })
  const buffer = Buffer.alloc(lengthBytes)
  let readBytes = 0
  while (readBytes < lengthBytes) {
    const { bytesRead } = await handle.read(buffer, readBytes, lengthBytes - readBytes, start + readBytes)
    if (bytesRead === 0) throw new Error('The file has become shorter while it was read.')
    readBytes += bytesRead
  }
  await handle.close()
  return buffer
}
