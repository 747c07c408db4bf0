/**
 * Leaves in a row of logits what the constraint of a text allows next. Called by the runner for each token, before any
 * other rule of sampling.
 */
import { NO_TOKEN } from '../../../protocol/model-runner.ts'
import type { MaskReader } from '../../constraints/mask-lane.ts'

const ALL_ALLOWED = -1
const WORD_BITS = 32

type TokenMasks = Pick<MaskReader, 'mask' | 'wait' | 'post'>

export class TokenMask {
  readonly #reader: TokenMasks | null

  /** @param reader null where the constraint cannot be followed */
  constructor(reader: TokenMasks | null) {
    this.#reader = reader
  }

  /** Null where the row can be sampled from; otherwise what stands in the place of a token: null for the end of the text. */
  apply(logits: Float32Array): { readonly instead: null | typeof NO_TOKEN } | null {
    const reader = this.#reader
    const state = reader?.wait() ?? 'lost'
    if (reader === null || state === 'lost') return { instead: NO_TOKEN }
    if (state === 'ended') return { instead: null }
    maskOut(logits, reader.mask)
    return null
  }

  /** The text goes on with this token. */
  record(tokenId: number): void {
    this.#reader?.post(tokenId)
  }
}

/** @param mask a bit for each token, set where it is allowed */
export function maskOut(logits: Float32Array, mask: Int32Array): void {
  const words = Math.ceil(logits.length / WORD_BITS)
  for (let word = 0; word < words; word++) {
    const bits = mask[word] as number
    if (bits === ALL_ALLOWED) continue
    const first = word * WORD_BITS
    if (bits === 0) {
      // One call for as many as there are: most masks allow few tokens.
      while (word + 1 < words && mask[word + 1] === 0) word++
      logits.fill(Number.NEGATIVE_INFINITY, first, (word + 1) * WORD_BITS)
      continue
    }
    const end = Math.min(first + WORD_BITS, logits.length)
    for (let tokenId = first; tokenId < end; tokenId++) {
      if (((bits >>> (tokenId - first)) & 1) === 0) logits[tokenId] = Number.NEGATIVE_INFINITY
    }
  }
}
