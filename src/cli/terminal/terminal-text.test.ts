import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { escapeUnseen, toJsonLine } from './terminal-text.ts'

/** Text of which half is characters that terminals act on. */
const hostileText = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '\u001b]0;title\u0007',
        '\u009b31m',
        '\u007f',
        '\r\n',
        '\u202e',
        '\u2028',
        '\ud800',
        '\u{e0041}',
      ),
    ),
  )
  .map((parts) => parts.join(''))

const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u

describe('escapeUnseen', () => {
  it.each([
    ['\u001b[31mred', String.raw`\u001b[31mred`],
    ['\u009b2J', String.raw`\u009b2J`],
    ['abc\u202efed', String.raw`abc\u202efed`],
    ['\u{e0041}', String.raw`\udb40\udc41`],
    ['Zoë 鍵 🔑 a+b@example.org', 'Zoë 鍵 🔑 a+b@example.org'],
  ])('writes %j as %s', (text, shown) => {
    expect(escapeUnseen(text)).toBe(shown)
  })

  it('leaves nothing that a terminal acts on', () => {
    fc.assert(fc.property(hostileText, (text) => !UNSEEN.test(escapeUnseen(text))))
  })
})

it('toJsonLine is exact, and safe to look at', () => {
  fc.assert(
    fc.property(hostileText, (text) => {
      const line = toJsonLine({ name: text })
      expect(JSON.parse(line)).toEqual({ name: text })
      expect(line).not.toMatch(UNSEEN)
    }),
  )
})
