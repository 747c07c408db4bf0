import { describe, expect, it } from 'vitest'
import { cuttableTexts, TextSlicer } from './text-slices.ts'

const slicer = new TextSlicer({ beforeTexts: ['<s>', '</s>'], beforeSpaces: true })

describe('slices of a text', () => {
  it('are the text, however it is made', () => {
    for (const unit of ['<s>', '<s>a ', 'word ', 'a', '<', '😀<s>', '</s>\n']) {
      const text = unit.repeat(20_000)
      expect([...slicer.slices(text)].join('')).toBe(text)
    }
  })

  it('begin with a special text, after some of them or some length', () => {
    const lengths = [...slicer.slices('<s>'.repeat(100))].map(({ length }) => length / 3)
    expect(lengths).toEqual([32, 32, 32, 4])
    const [first, second] = slicer.slices(`${'a'.repeat(9000)}<s>b`)
    expect([first?.length, second]).toEqual([9000, '<s>b'])
  })

  it('begin with a space between two words', () => {
    const slices = [...slicer.slices('word '.repeat(4000))]
    expect(slices).toHaveLength(3)
    expect(slices.slice(1).every((slice) => slice.startsWith(' w'))).toBe(true)
    expect([...slicer.slices('1 '.repeat(10_000))]).toHaveLength(1)
  })

  it('are one where the vocabulary allows no cut', () => {
    const text = 'a word <s>'.repeat(10_000)
    expect([...new TextSlicer({ beforeTexts: [], beforeSpaces: false }).slices(text)]).toEqual([text])
  })
})

it('a text is cut in front of an added text only where no other one can reach over it', () => {
  expect(cuttableTexts(['<s>', '</s>', 'x', ''])).toEqual(['<s>', '</s>', 'x'])
  expect(cuttableTexts(['<s>', 'a<', '[x]', '🙂x'])).toEqual(['a<', '[x]', '🙂x'])
})
