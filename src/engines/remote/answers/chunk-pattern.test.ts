import { describe, expect, it } from 'vitest'
import { ChunkPattern } from './chunk-pattern.ts'

const chunk = (content: string, more: object = {}) =>
  JSON.stringify({ id: 'c1', choices: [{ index: 0, delta: { content }, finish_reason: null, ...more }] })

describe('ChunkPattern', () => {
  it.each(['b', '', ' \u00e9\u20ac\u{1f600}', 'content', "'", '{}', '\u007f\u2028'])(
    'reads the text of a chunk that differs in it alone: %j',
    (text) => expect(ChunkPattern.of(chunk('a'), 'a')?.textOf(chunk(text))).toBe(text),
  )

  it('reads what Python writes, with a space behind each key', () => {
    const spaced = (text: string) => chunk(text).replaceAll('":', '": ')

    expect(ChunkPattern.of(spaced('a'), 'a')?.textOf(spaced('b c'))).toBe('b c')
  })

  it('grows out of a chunk whose text is empty', () => {
    expect(ChunkPattern.of(chunk(''), '')?.textOf(chunk('b'))).toBe('b')
  })

  it.each([
    ['an escape', chunk('a\nb')],
    ['a quote', chunk('"')],
    ['a text that only looks like the end of the chunk', chunk('b"},"finish_reason":null}]}')],
    ['another end', chunk('b', { finish_reason: 'stop' })],
    ['another beginning', chunk('b').replace('c1', 'c2')],
    ['a line break that JSON does not allow', chunk('b').replace('"b"', '"\n"')],
    ['less than the beginning and the end', chunk('').slice(1)],
    ['a part of both at once', '{"id":"c1"'],
    ['another field behind the text', chunk('b').replace('"b"', '"b","content":"c"')],
  ])('leaves %s to the parser', (_, given) => {
    expect(ChunkPattern.of(chunk('a'), 'a')?.textOf(given)).toBeNull()
  })

  it.each([
    ['two texts', chunk('a', { content: 'a' }), 'a'],
    ['a text with escapes', chunk('\n'), '\n'],
    ['a text that is written with escapes', chunk('a').replace('"a"', '"\\u0061"'), 'a'],
    ['no text', '{"choices":[]}', ''],
  ])('learns nothing from a chunk with %s', (_, given, text) => {
    expect(ChunkPattern.of(given, text)).toBeNull()
  })
})
