/**
 * Conditional and range requests for a file: whether it has changed, and which bytes to send (RFC 9110, sections 13
 * and 14). Pure.
 */
import type { IncomingHttpHeaders } from 'node:http'

/** Identifies one version of a file. */
export interface Validators {
  /** Quoted. */
  readonly etag: string
  /** In whole seconds, as HTTP has dates. */
  readonly modifiedUnixSeconds: number
}

/** Both ends included. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

/** Whether the caller has this version already. Where `If-None-Match` is given the date does not count. */
export function isNotModified(
  headers: IncomingHttpHeaders,
  { etag, modifiedUnixSeconds }: Validators,
): boolean {
  const tags = headers['if-none-match']
  if (tags !== undefined) {
    return tags.trim() === '*' || tags.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag)
  }
  const sinceUnixSeconds = parseDate(headers['if-modified-since'])
  return sinceUnixSeconds !== null && modifiedUnixSeconds <= sinceUnixSeconds
}

/**
 * The bytes asked for; null for all of them, which is also the answer to several ranges, to other units and to a range
 * of another version than this. A range beyond the end is `unsatisfiable`.
 */
export function rangeOf(
  headers: IncomingHttpHeaders,
  validators: Validators,
  sizeBytes: number,
): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=\s*(\d*)-(\d*)\s*$/i.exec(headers.range ?? '') ?? []
  if (first === '' && last === '') return null
  if (!isSameVersion(headers['if-range'], validators)) return null
  if (first === '') {
    const lengthBytes = Math.min(Number(last), sizeBytes)
    return lengthBytes === 0 ? 'unsatisfiable' : { start: sizeBytes - lengthBytes, end: sizeBytes - 1 }
  }
  const start = Number(first)
  const end = last === '' ? sizeBytes - 1 : Math.min(Number(last), sizeBytes - 1)
  if (last !== '' && Number(last) < start) return null
  return start < sizeBytes ? { start, end } : 'unsatisfiable'
}

function isSameVersion(ifRange: string | string[] | undefined, validators: Validators): boolean {
  if (ifRange === undefined) return true
  const given = String(ifRange).trim()
  return given === validators.etag || parseDate(given) === validators.modifiedUnixSeconds
}

/** Null for anything but a date. */
function parseDate(text: string | undefined): number | null {
  // A number alone is a year to JavaScript, and no date to HTTP.
  const ms = text === undefined || !/[a-z]/i.test(text) ? Number.NaN : Date.parse(text)
  return Number.isNaN(ms) ? null : Math.floor(ms / 1000)
}
