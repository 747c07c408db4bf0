/**
 * The program's log: JSON lines through pino. Owns redaction, so that no caller has to remember it: whatever
 * object is logged, fields of these names come out as `[redacted]`. Prompts, outputs and keys are never logged.
 */
import { type DestinationStream, type Level, type Logger, destination as openDestination, pino } from 'pino'

export type Log = Logger

type LogLevel = Level | 'silent'

export interface LogOptions {
  /** @default 'info' */
  readonly level?: LogLevel
  /** A stream, or standard error when left out, so that standard output is for people. */
  readonly destination?: DestinationStream
}

const SECRET_FIELDS = [
  'authorization',
  'password',
  'api_key',
  'apiKey',
  'keySecret',
  'secret',
  'token',
  'adminKey',
]

/** Secrets at the top of a logged object, one and two levels deep: pino redacts only paths it is told. */
const REDACT_PATHS = SECRET_FIELDS.flatMap((field) => [field, `*.${field}`, `*.*.${field}`])

export function createLog(options: LogOptions = {}): Log {
  return pino(
    {
      level: options.level ?? 'info',
      base: null,
      timestamp: () => `,"time":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: REDACT_PATHS, censor: '[redacted]' },
    },
    options.destination ?? openStandardError(),
  )
}

/** What cannot be written, because the disk it goes to is full, is lost; the service is not. */
function openStandardError(): DestinationStream {
  return openDestination({ fd: 2, sync: true }).on('error', () => {})
}

/**
 * The same log for lines whose fields are all known to hold no secret. Looking for secrets in a line costs more than
 * writing it, and there is one such line for every request.
 */
export function withoutRedaction(log: Log): Log {
  return log.child({}, { redact: [] })
}
