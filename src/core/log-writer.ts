/** The part of a log that the lower layers write to. The program's own log (`telemetry/log.ts`) has this shape. */

interface LogLine {
  (fields: object, message: string): void
  (message: string): void
}

export type LogWriter = Readonly<Record<'debug' | 'info' | 'warn' | 'error', LogLine>>
