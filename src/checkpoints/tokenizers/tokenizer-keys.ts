/**
 * What a tokenizer does that llama.cpp has no setting for: metadata of our own in a converted file, written by the
 * conversion and obeyed by the engine. All else in the file is what llama.cpp's own converter writes, so that its other
 * programs read the file as well as one of theirs.
 */
export const TOKENIZER_KEYS = {
  /** A text that begins with neither a space nor an added token gets a space in front, and no other text does. */
  spaceAtStart: 'sluice.tokenizer.space_at_start',
  /** Whether text is brought into Unicode's NFC, where the name of the pre-tokenizer says the opposite. */
  nfc: 'sluice.tokenizer.nfc',
  /** Of a Unigram tokenizer: any whitespace separates words, not only the space that the character map leaves of it. */
  splitsAtWhitespace: 'sluice.tokenizer.splits_at_whitespace',
  /** Whether a word that is a token is not merged, where the name of the pre-tokenizer says the opposite. */
  ignoresMerges: 'sluice.tokenizer.ignores_merges',
} as const

/** Values of `tokenizer.ggml.pre` of tokenizers that bring text into NFC: Qwen's. */
export const NORMALIZING_PRE_TOKENIZERS: ReadonlySet<string> = new Set(['qwen2', 'qwen35'])

/**
 * Values of `tokenizer.ggml.pre` whose words our engine cuts, because llama.cpp cuts them otherwise, and whether llama.cpp leaves a word
 * that is a token unmerged.
 */
export const CASED_PRE_TOKENIZERS = {
  'gpt-4o': { ignoresMerges: false },
  tekken: { ignoresMerges: true },
} as const

export type CasedPreTokenizer = keyof typeof CASED_PRE_TOKENIZERS

export function isCased(pre: string): pre is CasedPreTokenizer {
  return Object.hasOwn(CASED_PRE_TOKENIZERS, pre)
}
