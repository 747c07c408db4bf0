/**
 * The special tokens as GGUF metadata: which begin and end a text, and whether the tokenizer adds them. They are read from
 * tokenizer_config.json (texts), else from config.json (ids); further end tokens from generation_config.json.
 */
import { badFile, quoted, shown, unconvertible } from '../file-errors.ts'
import { gguf, type GgufValue } from '../gguf/gguf-format.ts'
import { type BinaryFile, isRecord, type JsonObject, listField } from '../json-file.ts'
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

export function specialTokenMetadata(
  files: HfTokenizerFiles,
  ids: TokenIds,
): (readonly [string, GgufValue])[] {
  const { tokenizer, tokenizerConfig, config, generationConfig } = files
  const added = readAddedTokens(tokenizer)
  const configuredId = (name: string) => configuredIds(config, name, ids)[0] ?? null
  const idOf = (name: string) => namedToken(tokenizerConfig, name, ids) ?? configuredId(name)

  const bos = namedToken(tokenizerConfig, 'bos', ids) ?? ids.get(added.before ?? '') ?? configuredId('bos')
  const eos =
    namedToken(tokenizerConfig, 'eos', ids) ??
    ids.get(added.after ?? '') ??
    configuredId('eos') ??
    configuredIds(generationConfig, 'eos', ids)[0] ??
    null
  // Without the key llama.cpp takes token 11, and would end every text there.
  if (eos === null) throw unconvertible(tokenizer, 'no file beside it says which token ends a text')
  const otherEnds = [...configuredIds(generationConfig, 'eos', ids), ...configuredIds(config, 'eos', ids)]
  // Whatever they are called, llama.cpp ends a text at each of these three.
  const [endOfTurn, endOfMessage, ...unplaced] = new Set(otherEnds.filter((id) => id !== eos))
  if (unplaced.length > 0) {
    throw unconvertible(
      generationConfig ?? config,
      `a text would end at ${3 + unplaced.length} tokens, but llama.cpp has room for 3`,
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

interface AddedAround {
  /** Text of the special token the post-processor puts before every text. */
  readonly before: string | null
  readonly after: string | null
}

/** What the post-processor puts around a single text; llama.cpp can put one token before and one behind. */
function readAddedTokens(tokenizer: JsonObject): AddedAround {
  const processor = tokenizer.fields['post_processor']
  const steps = stepsOf(processor, 'processors').filter((step) => step !== null && !isStep(step, 'ByteLevel'))
  const [template, ...others] = steps
  if (template === undefined) return { before: null, after: null }
  if (others.length > 0 || !isStep(template, 'TemplateProcessing')) {
    throw badFile(tokenizer.path, `has a post-processor that cannot be converted: ${shown(processor)}`)
  }
  return readTemplate(tokenizer, listField({ path: tokenizer.path, fields: template }, 'single'))
}

function readTemplate(tokenizer: JsonObject, items: readonly unknown[]): AddedAround {
  const special = (item: unknown) => {
    const token = isRecord(item) && isRecord(item['SpecialToken']) ? item['SpecialToken']['id'] : null
    return typeof token === 'string' ? token : null
  }
  const textAt = items.findIndex((item) => isRecord(item) && 'Sequence' in item)
  const before = items.slice(0, Math.max(0, textAt)).map(special)
  const after = items.slice(textAt + 1).map(special)
  if (textAt < 0 || before.length > 1 || after.length > 1 || before.includes(null) || after.includes(null)) {
    throw unconvertible(tokenizer, 'it puts more than one special token around a text')
  }
  return { before: before[0] ?? null, after: after[0] ?? null }
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
