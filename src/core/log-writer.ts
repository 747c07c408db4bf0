/** The part of a log that the lower layers write to. The program's own log (`telemetry/log.ts`) has this shape. */

interface LogLine {
  (fields: object, message: string): void
  (message: string): void
}

export interface LogWriter {
  readonly debug: LogLine
  readonly info: LogLine
  readonly warn: LogLine
  readonly error: LogLine
}
