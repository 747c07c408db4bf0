import { expect, it } from 'vitest'
import { renderCsv } from './csv.ts'

it('quotes what holds a separator, and leaves the rest as it is', () => {
  const rows = [
    ['plain', 1.5, null],
    ['a,b', 0, 'say "hi"'],
    ['two\nlines', -3, ''],
  ] as const
  expect(renderCsv(['a', 'b', 'c'], rows)).toBe(
    'a,b,c\r\nplain,1.5,\r\n"a,b",0,"say ""hi"""\r\n"two\nlines",-3,\r\n',
  )
})

it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1'])('makes no formula of %j', (text) => {
  expect(
    renderCsv(['name'], [[text]])
      .slice('name\r\n'.length)
      .replace(/^"/, ''),
  ).toMatch(/^'/)
})

it('keeps a quoted formula in one cell', () => {
  expect(renderCsv(['n'], [['=HYPERLINK("http://x","y")']])).toBe(
    `n\r\n"'=HYPERLINK(""http://x"",""y"")"\r\n`,
  )
})
