import { expect, it } from 'vitest'
import { renderTable, toIsoDay } from './table.ts'

it('aligns columns and shows what is not there', () => {
  expect(
    renderTable(
      ['name', 'tier', 'rpm'],
      [
        ['CI', 'enterprise', '60'],
        ['', 'pro', ''],
      ],
    ),
  ).toEqual(['name  tier        rpm', 'CI    enterprise  60', '-     pro         -'])
})

it('counts two columns for a wide character and none for a mark', () => {
  const [, ...lines] = renderTable(
    ['name', 'end'],
    [
      ['鍵鍵鍵', '|'],
      ['caf\u0065\u0301s', '|'],
      ['🔑🔑🔑', '|'],
      ['plain!', '|'],
    ],
  )
  expect(lines).toEqual(['鍵鍵鍵  |', 'caf\u0065\u0301s   |', '🔑🔑🔑  |', 'plain!  |'])
})

it('keeps a cell to its line', () => {
  const lines = renderTable(['name'], [['a\nb\u001b[2J']])
  expect(lines).toEqual(['name', String.raw`a\u000ab\u001b[2J`])
})

it('gives the day in UTC', () => {
  expect(toIsoDay(1_700_000_000.25)).toBe('2023-11-14')
})
