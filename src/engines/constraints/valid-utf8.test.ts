/** That masks leave out exactly the bytes which decoders refuse. */
import { describe, expect, it } from 'vitest'
import { ValidUtf8 } from './valid-utf8.ts'

/** A token for each byte, a whole character, one that is overlong, and one without bytes. */
const WHOLE = 256
const OVERLONG = 257
const EMPTY = 258
const BYTES = [
  ...Array.from({ length: 256 }, (_, byte) => [byte]),
  [0xe2, 0x82, 0xac],
  [0xe0, 0x80, 0xaf],
  [],
]
const vocabulary = {
  bytes: Uint8Array.from(BYTES.flat()),
  offsets: Int32Array.from(
    BYTES.reduce<number[]>((offsets, token) => [...offsets, (offsets.at(-1) ?? 0) + token.length], [0]),
  ),
  endTokenIds: [],
  specialTexts: [],
  specialTokenIds: [],
}

function possibleBehind(behind: number | null): readonly number[] {
  const mask = new Int32Array(Math.ceil(BYTES.length / 32)).fill(-1)
  new ValidUtf8(vocabulary).restrict(mask, behind)
  return BYTES.flatMap((_, id) => (((mask[id >> 5] ?? 0) >>> (id & 31)) & 1 ? [id] : []))
}

/** Whether a decoder takes the bytes as the beginning of a text. */
function isBeginning(bytes: readonly number[]): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(bytes), { stream: true })
    return true
  } catch {
    return false
  }
}

describe('tokens that keep a text valid UTF-8', () => {
  it('are whole characters, not overlong ones', () => {
    expect(possibleBehind(null)).toContain(WHOLE)
    expect(possibleBehind(null)).toContain(EMPTY)
    expect(possibleBehind(null)).not.toContain(OVERLONG)
  })

  it('never begin with a byte that no character has', () => {
    const bytes = possibleBehind(null).filter((id) => id >= 0xc0 && id < 256)
    expect(bytes).toEqual(Array.from({ length: 0xf5 - 0xc2 }, (_, i) => 0xc2 + i))
  })

  it.each([0xe0, 0xe1, 0xec, 0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4])(
    'behind the lead byte %i are those that a decoder takes',
    (lead) => {
      const continuations = possibleBehind(lead).filter((id) => id >= 0x80 && id < 0xc0)
      const taken = Array.from({ length: 64 }, (_, i) => 0x80 + i).filter((byte) => isBeginning([lead, byte]))
      expect(continuations).toEqual(taken)
    },
  )
})
