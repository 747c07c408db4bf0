/**
 * The files of the console as they were built, read once at the start: a few hundred kilobytes; each is
 * compressed when it is first asked for. Files below `assets/` have a hash
 * of their content in their names, so a browser keeps them; all others it asks for again, which costs a 304.
 */
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { errorCode } from '../../core/system-error.ts'

export interface ConsoleFile {
  readonly type: string
  readonly cacheControl: string
  /** One for each form, because they differ in their bytes. */
  readonly plain: Encoded
  /** Null where compressing gains nothing. */
  readonly gzip: () => Encoded | null
}

interface Encoded {
  readonly body: Buffer
  /** Quoted. */
  readonly etag: string
}

/** By their path below the page, without a leading slash. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>

export const INDEX_FILE = 'index.html'

const IMMUTABLE_FOLDER = 'assets/'

/** What a build of the console may hold; source maps and others are not served. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.woff2': 'font/woff2',
}

export const hasConsole = (folder: string): boolean => existsSync(path.join(folder, INDEX_FILE))

/** Null where no console was built. */
export function readConsole(folder: string): ConsoleFiles | null {
  const files = new Map(listFiles(folder).flatMap((name) => readOne(folder, name)))
  return files.has(INDEX_FILE) ? files : null
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) =>
        path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll(path.sep, '/'),
      )
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

function readOne(folder: string, name: string): readonly [string, ConsoleFile][] {
  const type = CONTENT_TYPES[path.extname(name)]
  if (type === undefined) return []
  const body = readFileSync(path.join(folder, name))
  const isImmutable = name.startsWith(IMMUTABLE_FOLDER)
  let zipped: Encoded | null | undefined
  const file = {
    type,
    cacheControl: isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    plain: encoded(body),
    gzip: () => {
      if (zipped === undefined) zipped = zip(body)
      return zipped
    },
  }
  return [[name, file]]
}

function zip(body: Buffer): Encoded | null {
  const zipped = gzipSync(body, { level: 9 })
  return zipped.length < body.length * 0.9 ? encoded(zipped) : null
}

function encoded(body: Buffer): Encoded {
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 22)}"` }
}
