/**
 * The cheapest proof that a prompt does not fit into a model's context: its bytes against the longest token, and the special
 * texts in it, each of which is a token at least. Asked before a prompt is scanned, rendered or sent to an engine, so that
 * what could never run costs next to nothing. A long text is counted in slices between which the event loop goes on.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { ServiceError } from '../core/errors.ts'
import type { ModelInfo } from '../protocol/model-info.ts'
import { SpecialTexts } from '../checkpoints/tokenizers/special-texts.ts'

/** Characters counted in one turn of the event loop: about a millisecond. */
const SLICE_LENGTH = 65_536

type BoundedModel = Pick<ModelInfo, 'maxSeqLen' | 'maxTokenBytes' | 'specialTexts'>

interface RefuseOptions {
  readonly signal: AbortSignal
  readonly param?: string
}

export class PromptBound {
  readonly #maxTokens: number
  readonly #maxTokenBytes: number
  readonly #specialTexts: SpecialTexts
  readonly #shortestSpecialText: number

  constructor({ maxSeqLen, maxTokenBytes, specialTexts }: BoundedModel) {
    this.#maxTokens = maxSeqLen ?? Number.POSITIVE_INFINITY
    this.#maxTokenBytes = maxTokenBytes ?? Number.POSITIVE_INFINITY
    const counted = specialTexts.filter((text) => text !== '')
    this.#specialTexts = new SpecialTexts(counted)
    this.#shortestSpecialText = Math.min(...counted.map(({ length }) => length))
  }

  /** For each text that cannot fit as a prompt of its own, why; null for the others. @throws the signal's reason */
  async refuseEach(texts: readonly string[], signal: AbortSignal): Promise<readonly (ServiceError | null)[]> {
    const refusals: (ServiceError | null)[] = []
    for (const text of texts) refusals.push(await this.refusePieces([text], signal))
    return refusals
  }

  /** Why the pieces of one text cannot fit as a prompt, or null. @throws the signal's reason */
  refusePieces(pieces: readonly string[], signal: AbortSignal): Promise<ServiceError | null> {
    return this.#refuse(pieces, { signal })
  }

  /** Why so many tokens cannot fit as a prompt, or null. */
  refuseTokens(given: number): ServiceError | null {
    const max = this.#maxTokens
    return given <= max ? null : new ServiceError('context_length_exceeded', { given, max })
  }

  /** Why the contents of a chat's messages cannot fit together, or null. @throws the signal's reason */
  refuseChat(contents: readonly string[], signal: AbortSignal): Promise<ServiceError | null> {
    return this.#refuse(contents, { signal, param: 'messages' })
  }

  async #refuse(
    texts: readonly string[],
    { signal, ...options }: RefuseOptions,
  ): Promise<ServiceError | null> {
    const max = this.#maxTokens
    const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
    const fromBytes = Math.ceil(bytes / this.#maxTokenBytes)
    const given = fromBytes > max ? fromBytes : await this.#countSpecialTexts(texts, signal)
    if (given <= max) return null
    return new ServiceError('context_length_exceeded', { given: `at least ${given}`, max }, options)
  }

  /** Ends with the slice in which they are more than fit. */
  async #countSpecialTexts(texts: readonly string[], signal: AbortSignal): Promise<number> {
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    if (length <= this.#maxTokens * this.#shortestSpecialText) return 0
    let count = 0
    let left = SLICE_LENGTH
    for (const text of texts) {
      for (let from = 0; from < text.length;) {
        const slice = this.#specialTexts.count(text, { from, to: Math.min(text.length, from + left) })
        count += slice.count
        if (count > this.#maxTokens) return count
        left -= slice.end - from
        from = slice.end
        if (left > 0) continue
        await nextTurn()
        signal.throwIfAborted()
        left = SLICE_LENGTH
      }
    }
    return count
  }
}
