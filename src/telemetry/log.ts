/**
 * The program's log: JSON lines through pino, or text for a person. Owns redaction, so that callers need not care: in any logged object, the
 * fields named below are written as `[redacted]`. Prompts, outputs and keys are never logged.
 */
import type { ServiceError } from '../core/errors.ts'
import { standardError } from '../core/output/standard-error.ts'
import { hasColours } from '../core/output/terminal-colours.ts'
import { type DestinationStream, type Level, type Logger, pino } from 'pino'
import { readableLines, type ReadableOptions } from './readable-lines.ts'

export type Log = Logger

type LogLevel = Level | 'silent'

export interface LogOptions {
  /** @default 'info' */
  readonly level?: LogLevel
  /** Written in every line. @default none */
  readonly fields?: Readonly<Record<string, number>>
  /** `auto` is text where standard error is a terminal. @default 'json' */
  readonly format?: 'auto' | 'json' | 'text'
  /** @default standard error, which leaves standard output to the command's own text */
  readonly destination?: DestinationStream
}

const SECRET_FIELDS = [
  'authorization',
  'x-api-key',
  'password',
  'api_key',
  'apiKey',
  'keySecret',
  'secret',
  'token',
  'adminKey',
]

/** Secrets at the top of a logged object, one and two levels deep: pino redacts only the paths it is given. */
const REDACT_PATHS = SECRET_FIELDS.flatMap((field) => [`["${field}"]`, `*["${field}"]`, `*.*["${field}"]`])

export function createLog(options: LogOptions = {}): Log {
  const { destination = standardError } = options
  return pino(
    {
      level: options.level ?? 'info',
      base: options.fields ?? null,
      timestamp,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACT_PATHS, censor: '[redacted]' },
    },
    isText(options.format) ? readableLines(destination, terminalOptions()) : destination,
  )
}

function isText(format: LogOptions['format'] = 'json'): boolean {
  return format === 'text' || (format === 'auto' && process.stderr.isTTY)
}

function terminalOptions(): ReadableOptions {
  const { stderr, env } = process
  return { hasColours: hasColours(stderr, env), isTerminal: stderr.isTTY }
}

let dateMs = Number.NaN
let timeField = ''

/** Many lines share a millisecond, and formatting a date costs as much as the rest of a line. */
function timestamp(): string {
  const nowMs = Date.now()
  if (nowMs !== dateMs) {
    dateMs = nowMs
    timeField = `,"time":"${new Date(nowMs).toISOString()}"`
  }
  return timeField
}

/**
 * The same log for lines whose fields are all known to hold no secret. Looking for secrets in a line costs more than
 * writing it, and there is one such line for every request.
 */
export function withoutRedaction(log: Log): Log {
  return log.child({}, { redact: [] })
}

const MAX_LOGGED_CHARACTERS = 200

/** Control and format characters, which could act on the terminal or the page that shows the line; JSON escapes few of them. */
const UNSEEN_CHARACTER = /[\p{C}\p{Zl}\p{Zp}]/gu

/** Keys of this server's form and of others, which people paste into addresses; what stands before one may be percent-encoded, as its hyphens may. */
const PASTED_KEY = /(?<=\b|_|%[\da-f]{2})sk(?:-|%2d)(?:[\w-]|%2d){8,}/gi

/** A client's text made safe for a log line: short, printable, and without keys. */
export function toLogText(text: string): string {
  const kept = text.slice(0, MAX_LOGGED_CHARACTERS).replaceAll(PASTED_KEY, 'sk-[redacted]')
  const shown = kept.replaceAll(UNSEEN_CHARACTER, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)
  return text.length > MAX_LOGGED_CHARACTERS ? `${shown}…` : shown
}

/** Logs the cause of a 500 and of a full disk, which the answer does not show. */
export function logCause(error: ServiceError, requestId: string, log: Pick<Log, 'error'>): void {
  if (error.status === 500 || error.code === 'storage_full')
    log.error({ requestId, code: error.code, err: error.cause ?? error }, 'request failed')
}
