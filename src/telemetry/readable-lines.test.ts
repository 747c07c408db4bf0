import { describe, expect, it } from 'vitest'
import { hasColours } from '../core/output/terminal-colours.ts'
import { createLog } from './log.ts'
import { formatLine, readableLines } from './readable-lines.ts'

const TIME = new Date(2026, 10, 23, 9, 4, 3, 7).toISOString()
const format = (fields: object, colours = false) =>
  formatLine(`${JSON.stringify({ level: 'info', time: TIME, ...fields })}\n`, colours)

describe('a line of the log at a terminal', () => {
  it('has its time, level and message, then its fields', () => {
    expect(format({ worker: 1, model: 'a b', n: null, list: [1, 'x'], msg: 'loaded' })).toBe(
      '09:04:03.007 info  loaded  worker=1 model="a b" n=null list=[1,"x"]',
    )
    expect(format({ msg: 'stopped' })).toBe('09:04:03.007 info  stopped')
  })

  it('says of a request what was asked and answered first', () => {
    const request = {
      requestId: '77',
      method: 'POST',
      route: '/v1/generate',
      status: 200,
      ms: 12.5,
      msg: 'request',
    }
    expect(format({ ...request, route: null, status: 404, path: '/v1/nope' })).toBe(
      '09:04:03.007 info  request POST /v1/nope 404 12.5 ms  requestId=77',
    )
    expect(format(request)).toBe('09:04:03.007 info  request POST /v1/generate 200 12.5 ms  requestId=77')
  })

  it('has an error with its stack below', () => {
    const err = { type: 'Error', message: 'no', stack: 'Error: no\n    at here' }
    expect(format({ level: 'error', err, msg: 'failed' })).toBe(
      '09:04:03.007 error failed\n    Error: no\n        at here',
    )
  })

  it('colours the level and dims the rest only where that is asked for', () => {
    expect(format({ level: 'warn', a: 1, msg: 'm' }, true)).toBe(
      '\u001B[2m09:04:03.007\u001B[0m \u001B[33mwarn \u001B[0m m  \u001B[2ma=1\u001B[0m',
    )
  })

  it('steers no terminal', () => {
    const line = format({ msg: 'a\u001B[2Jb', path: '/\u202E\n', err: { stack: 'x\u001B[31m' } })
    for (const unseen of ['\u001B', '\u202E']) expect(line).not.toContain(unseen)
    expect(line).toContain('a\\u{1b}[2Jb')
  })

  it('gives back what is no line of the log', () => {
    expect(formatLine('plain text\n', true)).toBe('plain text')
    expect(formatLine('[1]\n', true)).toBe('[1]')
  })
})

it('is what the log writes through it, without secrets', () => {
  const written: string[] = []
  const log = createLog({
    destination: readableLines(
      { write: (line) => void written.push(line) },
      { hasColours: false, isTerminal: true },
    ),
  })
  log.info({ apiKey: 'sk-secret-of-someone' }, 'made')
  const [line = ''] = written
  expect(line.startsWith('\r\u001B[K')).toBe(true)
  expect(line).toMatch(/\d\d:\d\d:\d\d\.\d{3} info {2}made {2}apiKey=\[redacted\]\n$/)
})

it('colours a terminal unless NO_COLOR is set, and nothing else', () => {
  const terminal = { isTTY: true }
  expect(hasColours(terminal, {})).toBe(true)
  expect(hasColours(terminal, { NO_COLOR: '' })).toBe(true)
  expect(hasColours(terminal, { NO_COLOR: '1' })).toBe(false)
  expect(hasColours(terminal, { TERM: 'dumb' })).toBe(false)
  expect(hasColours({}, {})).toBe(false)
})
