/**
 * What a tokenizer does that llama.cpp has no setting for: metadata of our own in a converted file, written by the
 * conversion and obeyed by the engine.
 */
export const TOKENIZER_KEYS = {
  /** A text that begins with neither a space nor an added token gets a space in front. */
  spaceAtStart: 'sluice.tokenizer.space_at_start',
  /** Text is brought into Unicode's NFC. */
  nfc: 'sluice.tokenizer.nfc',
  /** Of a Unigram tokenizer: any whitespace separates words, not only the space that the character map leaves of it. */
  splitsAtWhitespace: 'sluice.tokenizer.splits_at_whitespace',
} as const
