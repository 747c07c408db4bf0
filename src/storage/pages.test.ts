import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parseCursor, readPage, type RowPosition, type RowRequest } from './pages.ts'

const rowPosition = fc.record({
  createdAtUnixSeconds: fc.double({ noNaN: true, noDefaultInfinity: true, min: 0 }),
  id: fc.string({ unit: 'grapheme' }),
})

/** Rows as a table would give them. */
function tableOf(rows: readonly RowPosition[]) {
  return async ({ after, limit }: RowRequest) => {
    const start = after === null ? 0 : rows.findIndex(({ id }) => id === after.id) + 1
    return rows.slice(start, start + limit)
  }
}

function makeRows(count: number): RowPosition[] {
  return Array.from({ length: count }, (_, id) => ({ id: String(id), createdAtUnixSeconds: 1 }))
}

describe('readPage', () => {
  it('gives a cursor that means the last row of the page', async () => {
    await fc.assert(
      fc.asyncProperty(rowPosition, rowPosition, async (last, next) => {
        const { items, nextCursor } = await readPage({ limit: 1, cursor: null }, async () => [last, next])

        expect(items).toEqual([last])
        expect(nextCursor).toMatch(/^[\w-]+$/)
        expect(parseCursor(nextCursor ?? '')).toEqual(last)
      }),
    )
  })

  it('gives no cursor when nothing follows', async () => {
    const [row] = makeRows(1)

    expect((await readPage({ limit: 1, cursor: null }, tableOf(makeRows(1)))).nextCursor).toBeNull()
    expect(await readPage({ limit: 5, cursor: null }, tableOf([]))).toEqual({ items: [], nextCursor: null })
    expect(await readPage({ limit: null, cursor: null }, tableOf(makeRows(1)))).toEqual({
      items: [row],
      nextCursor: null,
    })
  })

  it.each([1, 7, 499, 500, 501, 1000])('gives every row once in pages of %i', async (limit) => {
    const rows = makeRows(1001)
    const seen: RowPosition[] = []
    let cursor: string | null = null
    do {
      const page: { items: readonly RowPosition[]; nextCursor: string | null } = await readPage(
        { limit, cursor },
        tableOf(rows),
      )
      expect(page.items.length).toBeLessThanOrEqual(limit)
      seen.push(...page.items)
      cursor = page.nextCursor
    } while (cursor !== null)

    expect(seen).toEqual(rows)
  })

  it('says where to go on when there are more rows than one answer can hold', async () => {
    const page = await readPage({ limit: null, cursor: null }, tableOf(makeRows(10_001)))

    expect(page.items).toHaveLength(10_000)
    expect(parseCursor(page.nextCursor ?? '')).toEqual({ id: '9999', createdAtUnixSeconds: 1 })
    expect((await readPage({ limit: null, cursor: null }, tableOf(makeRows(10_000)))).nextCursor).toBeNull()
  })

  it('lets others have the event loop between the pieces of many long listings', async () => {
    let reads = 0
    let mostInOneTurn = 0
    let inThisTurn = 0
    const readRows = async (request: RowRequest) => {
      inThisTurn++
      reads++
      mostInOneTurn = Math.max(mostInOneTurn, inThisTurn)
      return tableOf(rows)(request)
    }
    const rows = makeRows(2000)
    let isReading = true
    const watch = () => {
      inThisTurn = 0
      if (isReading) setImmediate(watch)
    }
    setImmediate(watch)

    await Promise.all(Array.from({ length: 4 }, () => readPage({ limit: null, cursor: null }, readRows)))
    isReading = false

    expect(reads).toBeGreaterThan(8)
    expect(mostInOneTurn).toBe(1)
  })

  it('goes on after a listing that failed', async () => {
    const failure = new Error('disk')
    const failing = readPage({ limit: null, cursor: null }, async () => {
      throw failure
    })

    await expect(failing).rejects.toBe(failure)
    expect((await readPage({ limit: null, cursor: null }, tableOf(makeRows(3)))).items).toHaveLength(3)
  })
})

describe('parseCursor', () => {
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
    expect(() => parseCursor(cursor)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        param: 'cursor',
        message: `cursor must be the next_cursor of a page, but was ${JSON.stringify(cursor)}.`,
      }),
    )
  })

  it('repeats no more than the beginning of a long one', () => {
    expect(() => parseCursor('y'.repeat(5000))).toThrow(`"${'y'.repeat(64)}…"`)
  })
})
