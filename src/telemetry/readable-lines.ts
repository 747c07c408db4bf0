/**
 * The log as a person at a terminal reads it: the JSON lines of `log.ts`, each as time, level, message and fields. Text that could act
 * on the terminal is escaped.
 *
 *   19:04:31.271 info  request POST /v1/chat/completions 200 84.2 ms  requestId=77be… worker=1
 */
import type { DestinationStream } from 'pino'

export interface ReadableOptions {
  readonly hasColours: boolean
  /** Whether progress may stand on the line, which a line of the log then takes the place of. */
  readonly isTerminal: boolean
}

type Fields = Readonly<Record<string, unknown>>

/** Formats each line before it is passed on. */
export function readableLines(
  output: DestinationStream,
  { hasColours, isTerminal }: ReadableOptions,
): DestinationStream {
  const erase = isTerminal ? '\r\u001B[K' : ''
  return { write: (line) => output.write(`${erase}${formatLine(line, hasColours)}\n`) }
}

const COLOURS: Readonly<Record<string, number>> = {
  fatal: 31,
  error: 31,
  warn: 33,
  info: 32,
  debug: 36,
  trace: 90,
}
const DIM = 2
const LEVEL_WIDTH = 5

/** @param line of JSON; any other text is given back as it is */
export function formatLine(line: string, hasColours: boolean): string {
  const fields = parseFields(line)
  if (fields === null) return line.trimEnd()
  const { time, level, msg, err, method, route, status, ms, ...others } = fields
  const { path, ...rest } = route === null ? others : { path: undefined, ...others }
  const paint = (colour: number | undefined, text: string) =>
    hasColours && colour !== undefined && text !== '' ? `\u001B[${colour}m${text}\u001B[0m` : text
  const name = String(level)
  const request = [method, route ?? path, status].filter((value) => value !== undefined).map(toText)
  const begin = [
    paint(DIM, toClock(String(time))),
    paint(COLOURS[name], name.padEnd(LEVEL_WIDTH)),
    [
      escapeUnseen(typeof msg === 'string' ? msg : ''),
      ...request,
      ...(ms === undefined ? [] : [`${toText(ms)} ms`]),
    ].join(' '),
  ]
  const end = Object.entries(rest).map(([key, value]) => `${key}=${toText(value)}`)
  const whole = end.length === 0 ? begin.join(' ') : `${begin.join(' ')}  ${paint(DIM, end.join(' '))}`
  return err === undefined ? whole : `${whole}\n${describeError(err)}`
}

function parseFields(line: string): Fields | null {
  try {
    const parsed: unknown = JSON.parse(line)
    return typeof parsed === 'object' && parsed !== null && 'level' in parsed ? parsed : null
  } catch {
    return null
  }
}

/** Of this machine's time zone. */
function toClock(time: string): string {
  const date = new Date(time)
  if (Number.isNaN(date.getTime())) return time
  const two = (value: number) => String(value).padStart(2, '0')
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')
  return `${clock}.${String(date.getMilliseconds()).padStart(3, '0')}`
}

/** A word as it is; everything else as JSON. */
function toText(value: unknown): string {
  const isWord = typeof value === 'string' && /^[^\s"\p{C}\p{Zl}\p{Zp}]+$/u.test(value)
  return isWord ? value : escapeUnseen(JSON.stringify(value) ?? 'undefined')
}

/** The stack where there is one, its lines set in. */
function describeError(error: unknown): string {
  const { stack, message } = error as { stack?: unknown; message?: unknown }
  const text = typeof stack === 'string' ? stack : toText(message ?? error)
  return text
    .split('\n')
    .map((line) => `    ${escapeUnseen(line)}`)
    .join('\n')
}

const UNSEEN = /[\p{C}\p{Zl}\p{Zp}]/gu

function escapeUnseen(text: string): string {
  return text.replaceAll(UNSEEN, (one) => `\\u{${one.codePointAt(0)?.toString(16)}}`)
}
