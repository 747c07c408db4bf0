/**
 * The special tokens as GGUF metadata: which begin and end a text, and whether the tokenizer adds them. They are read from
 * tokenizer_config.json (texts), else from config.json (ids); further end tokens from generation_config.json.
 */
import { badFile, quoted, shown, unconvertible } from '../files/file-errors.ts'
import { gguf, type GgufValue } from '../gguf/gguf-format.ts'
import { type BinaryFile, isRecord, type JsonObject, listField } from '../files/json-file.ts'
import { isStep, stepsOf } from './tokenizer-vocabulary.ts'

/** What describes a tokenizer in the Hugging Face layout. */
export interface HfTokenizerFiles {
  readonly tokenizer: JsonObject
  readonly config: JsonObject
  readonly tokenizerConfig: JsonObject | null
  readonly generationConfig: JsonObject | null
  /** Text of chat_template.jinja. */
  readonly chatTemplate: string | null
  /** chat_template.json, where some releases have it that see or hear as well. */
  readonly processorTemplate: JsonObject | null
  /** tokenizer.model, which some tokenizers of other kinds have too. */
  readonly pieceModel: BinaryFile | null
}

type TokenIds = ReadonlyMap<string, number>

/** Tokens at which llama.cpp ends a text by what they are called, in any vocabulary (`special_eog_ids` of llama-vocab.cpp). */
const KNOWN_ENDS = [
  '<|eot_id|>',
  '<|eom_id|>',
  '<|end_of_text|>',
  '<|endoftext|>',
  '<|im_end|>',
  '<end_of_turn>',
]

export function specialTokenMetadata(
  files: HfTokenizerFiles,
  ids: TokenIds,
): (readonly [string, GgufValue])[] {
  const { tokenizer, tokenizerConfig, config, generationConfig } = files
  const added = tokensAround(tokenizer)
  const configuredId = (name: string) => configuredIds(config, name, ids)[0] ?? null
  const idOf = (name: string) => namedToken(tokenizerConfig, name, ids) ?? configuredId(name)

  const bos = namedToken(tokenizerConfig, 'bos', ids) ?? ids.get(added.before ?? '') ?? configuredId('bos')
  const namedEos = namedToken(tokenizerConfig, 'eos', ids)
  // The one that stands behind a text is the one that llama.cpp can put there; where another is named it ends answers too.
  const eos =
    ids.get(added.after ?? '') ??
    namedEos ??
    configuredId('eos') ??
    configuredIds(generationConfig, 'eos', ids)[0] ??
    null
  // Without the key llama.cpp takes token 11, and would end every text there.
  if (eos === null) throw unconvertible(tokenizer, 'no file beside it says which token ends a text')
  const otherEnds = [
    ...(namedEos === null ? [] : [namedEos]),
    ...configuredIds(generationConfig, 'eos', ids),
    ...configuredIds(config, 'eos', ids),
  ]
  const known = new Set(KNOWN_ENDS.map((text) => ids.get(text)))
  const ends = [...new Set(otherEnds.filter((id) => id !== eos))]
  // Whatever they are called, llama.cpp ends a text at each of these three: the places are for those that it does not know.
  const [endOfTurn, endOfMessage, ...unplaced] = ends.sort(
    (a, b) => Number(known.has(a)) - Number(known.has(b)),
  )
  const unknown = unplaced.filter((id) => !known.has(id))
  if (unknown.length > 0) {
    throw unconvertible(
      generationConfig ?? config,
      `a text would end at ${3 + unknown.length} tokens that llama.cpp does not know, but it has room for 3`,
    )
  }
  const entries: [string, number | null | undefined][] = [
    ['bos_token_id', bos],
    ['eos_token_id', eos],
    ['eot_token_id', endOfTurn],
    ['eom_token_id', endOfMessage],
    ['padding_token_id', idOf('pad')],
    ['unknown_token_id', idOf('unk')],
  ]
  return [
    ...entries.flatMap(([key, id]): [string, GgufValue][] =>
      typeof id === 'number' ? [[`tokenizer.ggml.${key}`, gguf.uint32(id)]] : [],
    ),
    addsToken(files, 'bos', { text: added.before, id: bos, ids }),
    addsToken(files, 'eos', { text: added.after, id: eos, ids }),
  ]
}

interface TokensAround {
  /** Text of the special token the post-processor puts before every text. */
  readonly before: string | null
  readonly after: string | null
}

/** What the post-processor puts around a single text; llama.cpp can put one token before and one behind. */
export function tokensAround(tokenizer: JsonObject): TokensAround {
  const { step, kind } = postProcessing(tokenizer)
  if (kind === 'none') return { before: null, after: null }
  if (kind === 'fixed') return fixedTokens(tokenizer, step)
  const [before, after, ...others] = splitTemplate({ path: tokenizer.path, fields: step }, 'single') ?? []
  if (
    before === undefined ||
    after === undefined ||
    before.length > 1 ||
    after.length > 1 ||
    others.length > 0
  ) {
    throw unconvertible(tokenizer, 'it puts more than one special token around a text')
  }
  return { before: before[0] ?? null, after: after[0] ?? null }
}

/**
 * The special tokens that stand between two texts that are read together.
 * @throws StartError where something else differs from what stands around a single text
 */
export function tokensBetween(tokenizer: JsonObject): readonly string[] {
  const { step, kind } = postProcessing(tokenizer)
  if (kind === 'none') return []
  const single = tokensAround(tokenizer)
  if (kind === 'fixed') {
    const separator = single.after ?? ''
    return isStep(step, 'RobertaProcessing') ? [separator, separator] : [separator]
  }
  const [before, between, after] = splitTemplate({ path: tokenizer.path, fields: step }, 'pair') ?? []
  if (before?.join() === (single.before ?? '') && after?.join() === (single.after ?? '')) return between ?? []
  throw unconvertible(tokenizer, 'its post-processor puts other tokens around two texts than around one')
}

/** The one step that adds tokens. */
function postProcessing(tokenizer: JsonObject): {
  readonly kind: 'none' | 'fixed' | 'template'
  readonly step: Record<string, unknown>
} {
  const processor = tokenizer.fields['post_processor']
  const steps = stepsOf(processor, 'processors').filter((step) => step !== null && !isStep(step, 'ByteLevel'))
  const [step, ...others] = steps
  if (step === undefined) return { kind: 'none', step: {} }
  if (others.length === 0) {
    if (isStep(step, 'TemplateProcessing')) return { kind: 'template', step }
    if (isStep(step, 'BertProcessing') || isStep(step, 'RobertaProcessing')) return { kind: 'fixed', step }
  }
  throw badFile(tokenizer.path, `has a post-processor that cannot be converted: ${shown(processor)}`)
}

/** `"cls": ["<s>", 0], "sep": ["</s>", 2]` */
function fixedTokens(tokenizer: JsonObject, step: Record<string, unknown>): TokensAround {
  const [before, after] = ['cls', 'sep'].map((name) => {
    const [text] = listField({ path: tokenizer.path, fields: step }, name)
    if (typeof text === 'string') return text
    throw unconvertible(tokenizer, `${quoted(name)} of its post-processor is ${shown(step[name])}`)
  })
  return { before: before ?? null, after: after ?? null }
}

/** The special tokens of a template before, between and behind its texts; null where there is something else in it. */
function splitTemplate(step: JsonObject, name: 'single' | 'pair'): readonly (readonly string[])[] | null {
  const parts: string[][] = [[]]
  for (const item of listField(step, name)) {
    const { SpecialToken: special, Sequence: sequence } = isRecord(item) ? item : {}
    if (isRecord(special) && typeof special['id'] === 'string') parts.at(-1)?.push(special['id'])
    else if (isRecord(sequence)) parts.push([])
    else return null
  }
  return parts
}

/** `text` is what the post-processor adds. */
function addsToken(
  { tokenizer, tokenizerConfig }: HfTokenizerFiles,
  name: 'bos' | 'eos',
  { text, id, ids }: { readonly text: string | null; readonly id: number | null; readonly ids: TokenIds },
): [string, GgufValue] {
  if (text !== null && ids.get(text) !== id) {
    throw unconvertible(tokenizer, `it adds ${quoted(text)} to a text, which is not its ${name} token`)
  }
  const configured = tokenizerConfig?.fields[`add_${name}_token`]
  const adds = typeof configured === 'boolean' ? configured : text !== null
  return [`tokenizer.ggml.add_${name}_token`, gguf.bool(adds && id !== null)]
}

/** `"bos_token": "<s>"` or `{"content": "<s>"}` of tokenizer_config.json. */
function namedToken(tokenizerConfig: JsonObject | null, name: string, ids: TokenIds): number | null {
  const entry = tokenizerConfig?.fields[`${name}_token`]
  const text = isRecord(entry) ? entry['content'] : entry
  return typeof text === 'string' ? (ids.get(text) ?? null) : null
}

/** `"eos_token_id": 2` or `[2, 7]`; ids outside the vocabulary are left out. */
function configuredIds(config: JsonObject | null, name: string, ids: TokenIds): number[] {
  const value = config?.fields[`${name}_token_id`]
  const listed: readonly unknown[] = Array.isArray(value) ? value : [value]
  return listed.filter(
    (id): id is number => typeof id === 'number' && Number.isInteger(id) && id >= 0 && id < ids.size,
  )
}
