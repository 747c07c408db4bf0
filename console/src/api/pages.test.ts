import { expect, it } from 'vitest'
import { readPages } from './pages.ts'

const PAGES = new Map([
  [null, { rows: ['a', 'b'], next_cursor: '2' }],
  ['2', { rows: ['c'], next_cursor: '3' }],
  ['3', { rows: ['d'], next_cursor: null }],
])

it('asks on until there is no next page', async () => {
  const asked: (string | null)[] = []
  const pages = await readPages(async (cursor) => {
    asked.push(cursor)
    return PAGES.get(cursor) ?? { rows: [], next_cursor: null }
  })
  expect(pages.flatMap(({ rows }) => rows)).toEqual(['a', 'b', 'c', 'd'])
  expect(asked).toEqual([null, '2', '3'])
})

it('asks once where the answer holds all and has no cursor', async () => {
  const pages = await readPages<{ rows: string[]; next_cursor?: null }>(async () => ({ rows: ['a'] }))
  expect(pages).toEqual([{ rows: ['a'] }])
})
