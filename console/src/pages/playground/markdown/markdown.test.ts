import { describe, expect, it } from 'vitest'
import { parseInline, parseMarkdown } from './markdown.ts'

describe('parseMarkdown', () => {
  it('reads the blocks that models write', () => {
    const text =
      '# Title\n\nOne\ntwo\n\n- a\n  - b\n- c\n\n> quoted\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n---\n```py\nprint(1)\n```'
    expect(parseMarkdown(text)).toEqual([
      { kind: 'heading', level: 1, text: 'Title' },
      { kind: 'paragraph', text: 'One\ntwo' },
      {
        kind: 'list',
        start: null,
        items: [
          [
            { kind: 'paragraph', text: 'a' },
            { kind: 'list', start: null, items: [[{ kind: 'paragraph', text: 'b' }]] },
          ],
          [{ kind: 'paragraph', text: 'c' }],
        ],
      },
      { kind: 'quote', blocks: [{ kind: 'paragraph', text: 'quoted' }] },
      { kind: 'table', head: ['x', 'y'], rows: [['1', '2']] },
      { kind: 'rule' },
      { kind: 'code', language: 'py', text: 'print(1)' },
    ])
  })

  it('shows code whose end is still on its way', () => {
    expect(parseMarkdown('```\nhalf')).toEqual([{ kind: 'code', language: '', text: 'half' }])
  })

  it('numbers a list from where the model began', () => {
    expect(parseMarkdown('3. c\n4. d')).toMatchObject([{ kind: 'list', start: 3, items: [{}, {}] }])
  })

  it.each([
    ['quotes in quotes', '>'.repeat(20_000)],
    ['lists in lists', '- '.repeat(20_000)],
    ['marks that never close', '*'.repeat(20_000)],
    ['brackets that never close', '['.repeat(20_000)],
    ['ticks that never close', '`a'.repeat(10_000)],
    ['underscores', '_a '.repeat(7000)],
  ])('comes to an end with %s', (_, text) => {
    expect(parseMarkdown(text)).not.toEqual([])
    expect(parseInline(text)).not.toEqual([])
  })
})

describe('parseInline', () => {
  it('reads emphasis, code and links', () => {
    expect(parseInline('a **b** `*c*` [d](https://e.org) *f*')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'strong', parts: [{ kind: 'text', text: 'b' }] },
      { kind: 'text', text: ' ' },
      { kind: 'code', text: '*c*' },
      { kind: 'text', text: ' ' },
      { kind: 'link', href: 'https://e.org', parts: [{ kind: 'text', text: 'd' }] },
      { kind: 'text', text: ' ' },
      { kind: 'emphasis', parts: [{ kind: 'text', text: 'f' }] },
    ])
  })

  it.each(['javascript:alert(1)', 'data:text/html,x', '#/keys', 'v1/keys', '//evil.example'])(
    'makes no link of %s',
    (href) => {
      expect(parseInline(`[x](${href})`).some(({ kind }) => kind === 'link')).toBe(false)
    },
  )

  it('leaves names with underscores and sums alone', () => {
    expect(parseInline('snake_case_name and 2 * 3 * 4')).toEqual([
      { kind: 'text', text: 'snake_case_name and 2 * 3 * 4' },
    ])
  })
})
