/** What a mask leaves of a row of logits, and what stands in the place of a token. */
import { describe, expect, it } from 'vitest'
import { NO_TOKEN } from '../../../protocol/model-runner.ts'
import type { MaskState } from '../../constraints/mask-lane.ts'
import { maskOut, TokenMask } from './token-mask.ts'

const NONE = Number.NEGATIVE_INFINITY

function createMask(state: MaskState, ...words: number[]) {
  const posted: number[] = []
  const mask = new TokenMask({
    mask: Int32Array.from(words),
    wait: () => state,
    post: (tokenId) => posted.push(tokenId),
  })
  return { mask, posted }
}

describe('maskOut', () => {
  it('leaves the tokens whose bit is set, also where the vocabulary ends within a word', () => {
    const logits = Float32Array.from({ length: 70 }, (_, i) => i)
    maskOut(logits, Int32Array.of(0b101, 0, 1 << 3))
    expect([...logits.entries()].filter(([, logit]) => logit !== NONE)).toEqual([
      [0, 0],
      [2, 2],
      [67, 67],
    ])
  })

  it('reads the last bit of a word, which makes it negative', () => {
    const logits = new Float32Array(33)
    maskOut(logits, Int32Array.of(1 << 31, -1))
    expect([...logits.entries()].flatMap(([id, logit]) => (logit === 0 ? [id] : []))).toEqual([31, 32])
  })
})

describe('TokenMask', () => {
  it('masks a row and goes on with the token', () => {
    const { mask, posted } = createMask('open', 0b10)
    const logits = Float32Array.of(5, 1)
    expect(mask.apply(logits)).toBeNull()
    expect([...logits]).toEqual([NONE, 1])
    mask.record(1)
    expect(posted).toEqual([1])
  })

  it('ends a text whose grammar has ended, and fails one that cannot be followed', () => {
    expect(createMask('ended').mask.apply(Float32Array.of(1))).toEqual({ instead: null })
    expect(createMask('lost').mask.apply(Float32Array.of(1))).toEqual({ instead: NO_TOKEN })
    expect(new TokenMask(null).apply(Float32Array.of(1))).toEqual({ instead: NO_TOKEN })
  })
})
