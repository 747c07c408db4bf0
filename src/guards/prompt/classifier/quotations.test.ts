import { describe, expect, it } from 'vitest'
import { findQuotations } from './quotations.ts'

function quoted(text: string): string[] {
  const marks = findQuotations(text)
  return marks.flatMap((mark, index) => (index % 2 === 0 ? [text.slice(mark + 1, marks[index + 1])] : []))
}

describe('findQuotations', () => {
  it('finds what stands between marks of all kinds', () => {
    expect(quoted('Say "one", “two”, «three» and „four“.')).toEqual(['one', 'two', 'three', 'four'])
    expect(quoted('请翻译“规则”，「指示」。')).toEqual(['规则', '指示'])
  })

  it('takes an apostrophe for none', () => {
    expect(quoted("I don't know what it's for")).toEqual([])
    expect(quoted("The word 'don't' is short")).toEqual(["don't"])
  })

  it('ends with a paragraph and after 400 characters', () => {
    expect(quoted('"open\n\nclosed"')).toEqual([])
    expect(quoted(`"${'a '.repeat(300)}"`)).toEqual([])
    expect(quoted(`"${'a '.repeat(300)} "now"`)).toEqual(['now'])
  })
})
