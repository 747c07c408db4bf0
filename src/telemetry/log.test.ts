import { describe, expect, it } from 'vitest'
import { createLog, toLogText, withoutRedaction } from './log.ts'

function createMemoryLog(level?: 'debug') {
  const lines: string[] = []
  const log = createLog({
    ...(level && { level }),
    destination: { write: (line: string) => void lines.push(line) },
  })
  return { log, lines }
}

describe('createLog', () => {
  it('writes one JSON line with level, time and message', () => {
    const { log, lines } = createMemoryLog()

    log.info({ status: 200 }, 'request')

    expect(lines).toHaveLength(1)
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
      status: 200,
      msg: 'request',
    })
  })

  it('stays below its level', () => {
    const { log, lines } = createMemoryLog()

    log.debug('not shown')

    expect(lines).toEqual([])
  })

  it.each([
    [{ password: 'hidden' }],
    [{ body: { password: 'hidden' } }],
    [{ headers: { authorization: 'Bearer hidden' } }],
    [{ req: { headers: { authorization: 'Bearer hidden' } } }],
    [{ api_key: 'hidden' }],
    [{ user: { apiKey: 'hidden' } }],
  ])('redacts %j', (value) => {
    const { log, lines } = createMemoryLog()

    log.info(value, 'x')

    expect(lines.join()).toContain('[redacted]')
    expect(lines.join()).not.toContain('hidden')
  })
})

describe('withoutRedaction', () => {
  it('writes to the same log and looks for no secrets', () => {
    const { log, lines } = createMemoryLog()

    withoutRedaction(log).info({ token: 5 }, 'x')

    expect(lines.join()).toContain('"token":5')
  })
})

describe('toLogText', () => {
  it.each([
    ['/v1/models/é 😀', '/v1/models/é 😀'],
    ['a\u001b[31mb', 'a\\u{1b}[31mb'],
    ['a\u009b1mb', 'a\\u{9b}1mb'],
    ['a\r\nb', 'a\\u{d}\\u{a}b'],
    ['\u202eabc', '\\u{202e}abc'],
    ['a\u2028b', 'a\\u{2028}b'],
    ['a\ud800b', 'a\\u{d800}b'],
    ['x'.repeat(201), `${'x'.repeat(200)}…`],
    ['sk-svc-0123456789', 'sk-[redacted]'],
    ['/v1/models%2Fsk-svc-0123456789', '/v1/models%2Fsk-[redacted]'],
    ['/v1/api_key_sk-svc-0123456789/x', '/v1/api_key_sk-[redacted]/x'],
    ['/v1/sk%2Dsvc%2d0123456789', '/v1/sk-[redacted]'],
    ['risk-free', 'risk-free'],
    ['task-0123456789', 'task-0123456789'],
  ])('writes %j as %j', (text, shown) => {
    expect(toLogText(text)).toBe(shown)
  })
})
