/**
 * What our own tokenizers have in common: they stand in the place of llama.cpp's where that one makes other tokens than those a
 * model was trained on. Works on the vocabulary of a loaded model. Owned by the vocabulary.
 */
import type { Bindings } from '../ffi/bindings.ts'
import type { Pointer } from '../ffi/structs.ts'

/** Bits of `llama_token_attr`. */
const ATTRIBUTES = { unknown: 1 << 0, unused: 1 << 1, control: 1 << 3, userDefined: 1 << 4 } as const

export interface OwnTokenizer {
  /** Special tokens are found before anything is normalized. */
  tokenize(text: string): Int32Array
  /** The parts of a text, in order, that can be tokenized each by itself. */
  slices(text: string): Generator<string>
}

export interface VocabularyToken {
  readonly id: number
  readonly text: string
  /** Whether it is found in text as it is written, whatever stands around it. */
  readonly isSpecial: boolean
  /** Whether it stands for characters that no token has. */
  readonly isUnknown: boolean
}

/** Ids that stand for nothing are left out. */
export function readTokens(api: Bindings, vocab: Pointer): readonly VocabularyToken[] {
  const special = ATTRIBUTES.unknown | ATTRIBUTES.control | ATTRIBUTES.userDefined
  return Array.from({ length: api.vocabTokens(vocab) }, (_, id) => id).flatMap((id) => {
    const attributes = api.vocabAttributes(vocab, id)
    const text = api.vocabText(vocab, id)
    if (text === '' || (attributes & ATTRIBUTES.unused) !== 0) return []
    const isUnknown = (attributes & ATTRIBUTES.unknown) !== 0
    return [{ id, text, isSpecial: (attributes & special) !== 0, isUnknown }]
  })
}

/** Finds special tokens in a text. */
export class SpecialTokens {
  readonly #ids: ReadonlyMap<string, number>
  /** With a group, so that what it splits off stays; null where there is no special token. */
  readonly #pattern: RegExp | null

  constructor(tokens: readonly VocabularyToken[]) {
    this.#ids = new Map(tokens.filter(({ isSpecial }) => isSpecial).map(({ text, id }) => [text, id]))
    const patterns = Array.from(this.#ids.keys())
      // Of two that begin at the same place the longer one is found.
      .toSorted((one, other) => other.length - one.length)
      .map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`))
    this.#pattern = patterns.length === 0 ? null : new RegExp(`(${patterns.join('|')})`)
  }

  idOf(text: string): number | undefined {
    return this.#ids.get(text)
  }

  /** Their ids in the place of the special tokens, and what `tokenizeText` makes of the texts between them. */
  tokenize(text: string, tokenizeText: (part: string) => readonly number[]): Int32Array {
    const parts = this.#pattern === null ? [text] : text.split(this.#pattern)
    return Int32Array.from(
      parts.flatMap((part, index) => {
        const specialId = index % 2 === 1 ? this.#ids.get(part) : undefined
        return specialId === undefined ? tokenizeText(part) : [specialId]
      }),
    )
  }
}
