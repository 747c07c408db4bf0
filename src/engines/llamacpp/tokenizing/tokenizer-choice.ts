/** Which tokenizer makes tokens of a model's texts, by the metadata of its file. Asked by the model when it opens. */
import { EMBEDDING_ARCHITECTURES } from '../../../checkpoints/gguf/gguf-architectures.ts'
import {
  CASED_PRE_TOKENIZERS,
  type CasedPreTokenizer,
  NORMALIZING_PRE_TOKENIZERS,
  TOKENIZER_KEYS,
} from '../../../checkpoints/tokenizers/tokenizer-keys.ts'
import type { MetadataOverride } from '../../../protocol/runner-options.ts'
import type { CasedWordsOptions } from './cased-words.ts'
import type { UnigramOptions } from './unigram.ts'
import type { WordPieceOptions } from './word-piece.ts'

/** `LLAMA_VOCAB_TYPE_WPM`, BERT's, which always has a token that begins a text. */
export const WPM_VOCABULARY = 3
/** `LLAMA_VOCAB_TYPE_UGM`, SentencePiece's Unigram. */
const UGM_VOCABULARY = 4
const LOWERCASE_KEY = 'tokenizer.ggml.normalizer.lowercase'
const STRIP_ACCENTS_KEY = 'tokenizer.ggml.normalizer.strip_accents'
export const PRE_TOKENIZER_KEY = 'tokenizer.ggml.pre'
export const ADD_BOS_KEY = 'tokenizer.ggml.add_bos_token'
export const ADD_SPACE_KEY = 'tokenizer.ggml.add_space_prefix'
const REMOVE_SPACES_KEY = 'tokenizer.ggml.remove_extra_whitespaces'

/** llama.cpp's tokenizer, or one of ours. Plain data. */
export type TokenizerChoice =
  | { readonly kind: 'llama.cpp' }
  | ({ readonly kind: 'word-piece' } & WordPieceOptions)
  | ({ readonly kind: 'unigram' } & UnigramOptions)
  | ({ readonly kind: 'cased-words' } & CasedWordsOptions)

interface ModelFile {
  readonly architecture: string
  readonly vocabType: number
  /** Undefined where the caller leaves Unigram to llama.cpp; null where the file has no map. */
  readonly characterMap?: Uint8Array | null
  /** Whose words our engine cuts; llama.cpp cuts them where it is absent. */
  readonly casedWords?: CasedPreTokenizer | null
  /** A value of the metadata as text; null where there is none. */
  readonly read: (key: string) => string | null
}

export function chooseTokenizer(file: ModelFile): TokenizerChoice {
  const { architecture, vocabType, characterMap, casedWords = null, read } = file
  if (casedWords !== null) {
    const said = read(TOKENIZER_KEYS.ignoresMerges)
    const ignoresMerges = said === null ? CASED_PRE_TOKENIZERS[casedWords].ignoresMerges : said === 'true'
    return { kind: 'cased-words', pre: casedWords, ignoresMerges }
  }
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

/** The pre-tokenizer of llama.cpp that cuts text between digits and all else only, and so no word that is cut already. */
const LEAVES_WORDS_WHOLE = 'superbpe'

/** What llama.cpp is told of a file whose words our engine cuts. */
export function casedOverrides(saysBos: boolean, pre: CasedPreTokenizer): MetadataOverride[] {
  const words: MetadataOverride = { key: PRE_TOKENIZER_KEY, type: 'string', value: LEAVES_WORDS_WHOLE }
  // By its own name llama.cpp puts a first token in front, where the file does not say.
  const begins: MetadataOverride = { key: ADD_BOS_KEY, type: 'bool', value: true }
  return pre === 'tekken' && !saysBos ? [words, begins] : [words]
}

/** Whether text is brought into Unicode's NFC before it is tokenized, which llama.cpp does not. */
export function normalizesText(read: ModelFile['read']): boolean {
  const said = read(TOKENIZER_KEYS.nfc)
  return said === null ? NORMALIZING_PRE_TOKENIZERS.has(read(PRE_TOKENIZER_KEY) ?? '') : said === 'true'
}
