import { describe, expect, it } from 'vitest'
import { frame, jsonOf, splitFrame } from './frames.ts'

describe('splitFrame', () => {
  it('gives what stands between the open values, so that filled in they are the frame', () => {
    const chunk = { model: 'm', choices: [{ index: 0, delta: { content: '' } }], usage: { total: 0 } }
    const [head, middle, last, tail] = splitFrame(chunk, ['index', 'content', 'total'])

    expect(`${head}7${middle}${JSON.stringify('a"b')}${last}12${tail}`).toBe(
      frame({ model: 'm', choices: [{ index: 7, delta: { content: 'a"b' } }], usage: { total: 12 } }),
    )
  })

  it('never takes the text of a value for an open one', () => {
    const [head, tail] = splitFrame({ model: '{"index":0,"x":""}', index: 0 }, ['index'])

    expect(`${head}3${tail}`).toBe(frame({ model: '{"index":0,"x":""}', index: 3 }))
  })

  it('refuses a key whose value is not open', () => {
    expect(() => splitFrame({ index: 10 }, ['index'])).toThrow('no open index')
  })
})

describe('jsonOf', () => {
  it('writes each character as JSON does', () => {
    for (let unit = 0; unit <= 0xffff; unit++) {
      const text = `a${String.fromCharCode(unit)}b`
      if (jsonOf(text) !== JSON.stringify(text)) expect(jsonOf(text)).toBe(JSON.stringify(text))
    }
  })

  it.each(['', ' token', '\u{1f600}', '\u{1f600}'.slice(1), 'a"b\\c\n', '\u2028'])('writes %j', (text) => {
    expect(jsonOf(text)).toBe(JSON.stringify(text))
  })
})
