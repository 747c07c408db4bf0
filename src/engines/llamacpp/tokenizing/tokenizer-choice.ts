/** Which tokenizer makes tokens of a model's texts, by the metadata of its file. Asked by the model when it opens. */
import { EMBEDDING_ARCHITECTURES } from '../../../checkpoints/gguf/gguf-architectures.ts'
import { NORMALIZING_PRE_TOKENIZERS, TOKENIZER_KEYS } from '../../../checkpoints/tokenizers/tokenizer-keys.ts'
import type { UnigramOptions } from './unigram.ts'
import type { WordPieceOptions } from './word-piece.ts'

/** `LLAMA_VOCAB_TYPE_WPM`, BERT's, which always has a token that begins a text. */
export const WPM_VOCABULARY = 3
/** `LLAMA_VOCAB_TYPE_UGM`, SentencePiece's Unigram. */
const UGM_VOCABULARY = 4
const LOWERCASE_KEY = 'tokenizer.ggml.normalizer.lowercase'
const STRIP_ACCENTS_KEY = 'tokenizer.ggml.normalizer.strip_accents'
const PRE_TOKENIZER_KEY = 'tokenizer.ggml.pre'
export const ADD_SPACE_KEY = 'tokenizer.ggml.add_space_prefix'
const REMOVE_SPACES_KEY = 'tokenizer.ggml.remove_extra_whitespaces'

/** llama.cpp's tokenizer, or one of ours. Plain data. */
export type TokenizerChoice =
  | { readonly kind: 'llama.cpp' }
  | ({ readonly kind: 'word-piece' } & WordPieceOptions)
  | ({ readonly kind: 'unigram' } & UnigramOptions)

interface ModelFile {
  readonly architecture: string
  readonly vocabType: number
  /** Undefined where the caller leaves Unigram to llama.cpp; null where the file has no map. */
  readonly characterMap?: Uint8Array | null
  /** A value of the metadata as text; null where there is none. */
  readonly read: (key: string) => string | null
}

export function chooseTokenizer({ architecture, vocabType, characterMap, read }: ModelFile): TokenizerChoice {
  if (vocabType === WPM_VOCABULARY) {
    const lowersCase = read(LOWERCASE_KEY) !== 'false'
    const stripsAccents = read(STRIP_ACCENTS_KEY)
    return {
      kind: 'word-piece',
      lowersCase,
      stripsAccents: stripsAccents === null ? lowersCase : stripsAccents === 'true',
    }
  }
  const isUnigram = vocabType === UGM_VOCABULARY && EMBEDDING_ARCHITECTURES.has(architecture)
  // Of other SentencePiece models, which keep spaces as they are, llama.cpp makes the tokens.
  const marksWords = [ADD_SPACE_KEY, REMOVE_SPACES_KEY].every((key) => read(key) !== 'false')
  if (!isUnigram || !marksWords || characterMap === undefined) return { kind: 'llama.cpp' }
  return {
    kind: 'unigram',
    characterMap,
    splitsAtWhitespace: read(TOKENIZER_KEYS.splitsAtWhitespace) !== 'false',
  }
}

/** Whether text is brought into Unicode's NFC before it is tokenized, which llama.cpp does not. */
export function normalizesText(read: ModelFile['read']): boolean {
  const said = read(TOKENIZER_KEYS.nfc)
  return said === null ? NORMALIZING_PRE_TOKENIZERS.has(read(PRE_TOKENIZER_KEY) ?? '') : said === 'true'
}
