/** What a request is for: its path and query, and the errors about them that both servers answer. */
import { ServiceError } from '../../core/errors.ts'

export interface RequestTarget {
  readonly path: string
  /** Without its question mark. */
  readonly query: string
}

/** Proxies may send `http://host/path`. */
const ORIGIN = /^https?:\/\/[^/?]*/i

/** Neither is decoded. @throws ServiceError `malformed_request` for a query that is not valid percent-encoding. */
export function splitTarget(url: string): RequestTarget {
  const target = url.startsWith('/') ? url : url.replace(ORIGIN, '')
  const end = target.indexOf('?')
  if (end < 0) return { path: target, query: '' }
  const query = target.slice(end + 1)
  decodePart(query, 'query')
  return { path: target.slice(0, end), query }
}

/** Percent-decoded; of `/` it is one empty segment. @throws ServiceError as `decodePart` does. */
export function toSegments(path: string): readonly string[] {
  const segments = path.replace(/^\//, '').split('/')
  return path.includes('%') ? segments.map((segment) => decodePart(segment, 'path')) : segments
}

/** @throws ServiceError `malformed_request` for what is not valid percent-encoding. */
export function decodePart(text: string, part: 'path' | 'query'): string {
  try {
    return decodeURIComponent(text)
  } catch {
    throw badEncoding(part)
  }
}

export function badEncoding(part: 'path' | 'query'): ServiceError {
  return new ServiceError('malformed_request', { message: `the ${part} is not valid percent-encoding.` })
}

const MAX_SHOWN_CHARACTERS = 200

/** @param meant the path that the caller probably meant; null where none is known */
export function unknownRoute(method: string, path: string, meant: string | null): ServiceError {
  const shown = path.slice(0, MAX_SHOWN_CHARACTERS)
  const hint = meant === null ? '.' : `: did you mean ${meant}?`
  return new ServiceError('not_found', {
    method,
    path: shown.length < path.length ? `${shown}…` : shown,
    hint,
  })
}
