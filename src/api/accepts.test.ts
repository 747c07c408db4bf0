import { describe, expect, it } from 'vitest'
import { acceptsNamed, prefersNamed } from './accepts.ts'

describe('a header that says what an answer may be', () => {
  it.each<[string | undefined, boolean, boolean]>([
    ['text/csv', true, true],
    [' Text/CSV; q=0.5 , text/html', true, true],
    ['text/html, text/csv', true, false],
    ['text/csv;q=0', false, false],
    ['text/csv; header=present; Q=0.000, */*', false, false],
    ['text/csv;q=0.01', true, true],
    ['text/csv-schema', false, false],
    ['*/*', false, false],
    ['', false, false],
    [undefined, false, false],
  ])('%j names text/csv: %j, first of all: %j', (header, isNamed, isFirst) => {
    expect(acceptsNamed(header, 'text/csv')).toBe(isNamed)
    expect(prefersNamed(header, 'text/csv')).toBe(isFirst)
  })
})
