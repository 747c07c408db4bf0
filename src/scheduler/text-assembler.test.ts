import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { TextAssembler } from './text-assembler.ts'

describe('TextAssembler', () => {
  it('shows a character only when its last byte has arrived', () => {
    const assembler = new TextAssembler([])
    const [a, b, c, d] = Buffer.from('🙂')
    expect([a, b, c, d].map((byte) => assembler.push(Uint8Array.of(byte ?? 0)).text)).toEqual([
      '',
      '',
      '',
      '🙂',
    ])
  })

  it('gives the whole text back, however its bytes are cut', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.array(fc.nat(5)), (text, cuts) => {
        const assembler = new TextAssembler([])
        const bytes = Buffer.from(text)
        let shown = ''
        let offset = 0
        for (const size of [...cuts, bytes.length]) {
          shown += assembler.push(bytes.subarray(offset, offset + size)).text
          offset = Math.min(bytes.length, offset + size)
        }
        expect(shown + assembler.flush()).toBe(text)
      }),
    )
  })

  it('drops a character that never becomes whole', () => {
    const assembler = new TextAssembler([])
    expect(assembler.push(Uint8Array.of(0x61, 0xf0, 0x9f)).text).toBe('a')
    expect(assembler.flush()).toBe('')
  })

  it('replaces bytes that are no UTF-8', () => {
    const assembler = new TextAssembler([])
    expect(assembler.push(Uint8Array.of(0x61, 0xff, 0x62)).text).toBe('a\uFFFDb')
  })

  it('keeps a byte order mark', () => {
    expect(new TextAssembler([]).push(Buffer.from('\uFEFFa')).text).toBe('\uFEFFa')
  })

  it('forks at any byte into two that go their own ways', () => {
    const words = fc
      .array(fc.constantFrom('a', 'b', 'ü', '🙂'), { maxLength: 8 })
      .map((parts) => parts.join(''))
    fc.assert(
      fc.property(fc.tuple(words, words, words), fc.nat(3), ([before, rest, otherRest], cut) => {
        const stopStrings = ['aab', 'üb', 'b🙂']
        const read = (assembler: TextAssembler, bytes: Uint8Array): string => {
          const { text, stopString } = assembler.push(bytes)
          return stopString !== null ? `${text}|` : text + assembler.flush()
        }
        const bytes = Buffer.from(before + rest)
        const at = Math.min(Buffer.byteLength(before) + cut, bytes.length)
        const assembler = new TextAssembler(stopStrings)
        const first = assembler.push(bytes.subarray(0, at))
        fc.pre(first.stopString === null)
        const fork = assembler.fork()
        read(fork, Buffer.from(otherRest))
        const whole = read(new TextAssembler(stopStrings), bytes)
        expect(first.text + read(assembler, bytes.subarray(at))).toBe(whole)
        const another = new TextAssembler(stopStrings)
        another.push(bytes.subarray(0, at))
        expect(first.text + read(another.fork(), bytes.subarray(at))).toBe(whole)
      }),
    )
  })
})
