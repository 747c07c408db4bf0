import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { HeldTokens } from './held-tokens.ts'
import { Utf8Decoder } from './utf8-decoder.ts'

interface Token {
  readonly bytes: readonly number[]
}

const toToken = (text: string): Token => ({ bytes: [...Buffer.from(text)] })
const bytesOf = (tokens: readonly Token[]) => Buffer.from(tokens.flatMap(({ bytes }) => bytes))
const textOf = (tokens: readonly Token[]) => bytesOf(tokens).toString('utf8')

function hold(tokens: readonly Token[], clean?: (text: string) => string): HeldTokens<Token> {
  const held = new HeldTokens<Token>(clean)
  for (const token of tokens) held.add(token)
  return held
}

/** Bytes cut into tokens anywhere, also within characters and into nothing. */
const tokens = fc
  .tuple(
    fc.string({ unit: fc.constantFrom('a', 'b', 'ü', '€', '🙂', '\ufffd') }),
    fc.array(fc.nat(5), { minLength: 1 }),
  )
  .map(([text, sizes]) => {
    const bytes = [...Buffer.from(text)]
    const cut: Token[] = []
    for (let turn = 0; bytes.length > 0; turn++) {
      const size = sizes[turn % sizes.length] ?? 0
      cut.push({ bytes: bytes.splice(0, turn >= sizes.length ? Math.max(1, size) : size) })
    }
    return cut
  })

describe('HeldTokens', () => {
  it('releases a token with the last of its text', () => {
    const held = hold(['one', ' two', ' three'].map(toToken))

    expect(textOf(held.release(6))).toBe('one')
    expect(textOf(held.release(7))).toBe(' two')
    expect(textOf(held.release(12))).toBe('')
    expect(textOf(held.release(13))).toBe(' three')
    expect(held.isEmpty).toBe(true)
  })

  it('releases the parts of a character together, when it is sent', () => {
    const [a = 0, b = 0, c = 0] = Buffer.from('€')
    const held = hold([toToken('x'), { bytes: [a] }, { bytes: [b, c] }])

    expect(textOf(held.release(1))).toBe('x')
    expect(textOf(held.release(2))).toBe('€')
  })

  it('takes, where a text ends within a token, the whole token and none behind it', () => {
    const text = ['say', ' it\n', '\nmore', ''].map(toToken)

    expect(textOf(hold(text).finish(6))).toBe('say it\n')
    expect(textOf(hold(text).finish(3))).toBe('say')
  })

  it('drops a character that never became whole, unless its token has text that was sent', () => {
    const [first = 0] = Buffer.from('€')

    expect(bytesOf(hold([toToken('x'), { bytes: [first] }]).finish(1))).toEqual(Buffer.from('x'))
    expect(bytesOf(hold([{ bytes: [0x78, first] }]).finish(1))).toEqual(Buffer.from([0x78, first]))
  })

  it('never releases a token whose text was changed, nor one that began a character taken out of it', () => {
    const clean = (text: string) => text.replaceAll('€', '')
    const [a = 0, ...rest] = Buffer.from('€')
    const held = hold([toToken('x€'), toToken('y'), { bytes: [a] }, { bytes: rest }, toToken('z')], clean)

    expect(textOf(held.release(3))).toBe('yz')
  })

  it('gives, however text is cut and sent, the tokens of just the text sent', () => {
    fc.assert(
      fc.property(tokens, fc.array(fc.nat(6)), fc.nat(20), (all, pauses, last) => {
        const text = textOf(all)
        /** Text is sent in whole characters. */
        const toBorder = (offset: number) => (text.slice(0, offset).isWellFormed() ? offset : offset - 1)
        const held = new HeldTokens<Token>()
        const decoder = new Utf8Decoder()
        const released: Token[] = []
        let known = 0
        let sent = 0
        for (const [place, token] of all.entries()) {
          held.add(token)
          known += decoder.push(Uint8Array.from(token.bytes)).length
          sent = toBorder(Math.min(known, sent + (pauses[place % (pauses.length + 1)] ?? 0)))
          released.push(...held.release(sent))
          const bytes = bytesOf(released)
          expect(Buffer.from(text.slice(0, sent)).subarray(0, bytes.length)).toEqual(bytes)
        }
        const end = toBorder(Math.min(text.length, sent + last))
        released.push(...held.finish(end))
        expect(textOf(released).startsWith(text.slice(0, end))).toBe(true)
        expect(bytesOf(released.slice(0, -1)).length).toBeLessThanOrEqual(
          Buffer.byteLength(text.slice(0, end)),
        )
        expect(held.isEmpty).toBe(true)
      }),
    )
  })
})
