import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCursor, rowsToRead, toPage } from './pages.ts'

const rowPlace = fc.record({
  createdAtUnixSeconds: fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }),
  id: fc.string({ unit: 'grapheme' }),
})

describe('pages', () => {
  it('gives a cursor that means the last row of the page', () => {
    fc.assert(
      fc.property(rowPlace, rowPlace, (last, next) => {
        const { items, nextCursor, count } = toPage([last, next], { limit: 1, count: 7 })

        expect(items).toEqual([last])
        expect(count).toBe(7)
        expect(nextCursor).toMatch(/^[\w-]+$/)
        expect(parseCursor({ limit: 1, cursor: nextCursor })).toEqual(last)
      }),
    )
  })

  it('gives no cursor when nothing follows', () => {
    const row = { createdAtUnixSeconds: 1, id: 'a' }

    expect(toPage([row], { limit: 1, count: 1 }).nextCursor).toBeNull()
    expect(toPage([], { limit: 5, count: 0 }).nextCursor).toBeNull()
    expect(toPage([row, row], { limit: null, count: 2 })).toMatchObject({
      items: [row, row],
      nextCursor: null,
    })
  })

  it('reads one row more than the page holds, and never more than one answer can', () => {
    expect(rowsToRead({ limit: 20, cursor: null })).toBe(21)
    expect(rowsToRead({ limit: null, cursor: null })).toBe(10_001)
  })

  it('says where to go on when there are more rows than one answer can hold', () => {
    const rows = Array.from({ length: 10_001 }, (_, id) => ({ id: String(id), createdAtUnixSeconds: 1 }))

    const page = toPage(rows, { limit: null, count: 20_000 })

    expect(page.items).toHaveLength(10_000)
    expect(parseCursor({ limit: null, cursor: page.nextCursor })).toEqual({
      id: '9999',
      createdAtUnixSeconds: 1,
    })
  })
})

describe('parseCursor', () => {
  it('is null at the beginning', () => {
    expect(parseCursor({ limit: null, cursor: null })).toBeNull()
  })

  const encode = (text: string) => Buffer.from(text).toString('base64url')

  it.each([
    '',
    'x',
    `' OR 1=1 --`,
    encode('[1]'),
    encode('["1","a"]'),
    encode('[1,2]'),
    encode('[1e999,"a"]'),
    encode('{"0":1,"1":"a"}'),
    encode('[1,"a"] '),
    encode('[1,"a","b"]'),
    `${encode('[1,"a"]')}=`,
    `${encode('[1,"a"]')}\n`,
  ])('refuses %j', (cursor) => {
    expect(() => parseCursor({ limit: null, cursor })).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        param: 'cursor',
        message: `cursor must be the next_cursor of a page, but was ${JSON.stringify(cursor)}.`,
      }),
    )
  })

  it('repeats no more than the beginning of a long one', () => {
    expect(() => parseCursor({ limit: null, cursor: 'y'.repeat(5000) })).toThrow(`"${'y'.repeat(64)}…"`)
  })
})
