/**
 * Which tokens begin and end a text, and whether the tokenizer adds them by itself, as GGUF metadata. The texts come
 * from tokenizer_config.json, else the ids from config.json; further end tokens from generation_config.json.
 */
import { badFile, quoted, shown } from '../file-errors.ts'
import { gguf, type GgufValue } from '../gguf/gguf-format.ts'
import { type BinaryFile, isRecord, type JsonObject, listField } from '../json-file.ts'

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
  if (eos === null)
    throw badFile(tokenizer.path, 'cannot be converted: no file beside it says which token ends a text')
  const otherEnds = [...configuredIds(generationConfig, 'eos', ids), ...configuredIds(config, 'eos', ids)]
  // Whatever they are called, llama.cpp ends a text at each of these three.
  const [endOfTurn, endOfMessage, ...unplaced] = new Set(otherEnds.filter((id) => id !== eos))
  if (unplaced.length > 0) {
    throw badFile(
      (generationConfig ?? config).path,
      `cannot be converted: a text would end at ${3 + unplaced.length} tokens, but llama.cpp has room for 3`,
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
    [
      'tokenizer.ggml.add_bos_token',
      gguf.bool(addsToken({ files, name: 'bos', text: added.before, id: bos, ids })),
    ],
    [
      'tokenizer.ggml.add_eos_token',
      gguf.bool(addsToken({ files, name: 'eos', text: added.after, id: eos, ids })),
    ],
  ]
}

interface AddedAround {
  /** Text of the special token the post-processor puts before every text. */
  readonly before: string | null
  readonly after: string | null
}

/** What the post-processor puts around a single text; llama.cpp can put one token before and one behind. */
function readAddedTokens(tokenizer: JsonObject): AddedAround {
  const processor = tokenizer.fields['post_processor'] ?? null
  const isSequence = isRecord(processor) && processor['type'] === 'Sequence'
  const listed: unknown = isSequence ? processor['processors'] : [processor]
  const steps = (Array.isArray(listed) ? listed : []).filter(
    (step) => !isRecord(step) || step['type'] !== 'ByteLevel',
  )
  const [template, ...others] = steps.filter((step) => step !== null)
  if (template === undefined) return { before: null, after: null }
  if (others.length > 0 || !isRecord(template) || template['type'] !== 'TemplateProcessing') {
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
    throw badFile(tokenizer.path, 'cannot be converted: it puts more than one special token around a text')
  }
  return { before: before[0] ?? null, after: after[0] ?? null }
}

interface AddedTokenQuestion {
  readonly files: HfTokenizerFiles
  readonly name: 'bos' | 'eos'
  /** What the post-processor adds. */
  readonly text: string | null
  readonly id: number | null
  readonly ids: TokenIds
}

function addsToken({ files, name, text, id, ids }: AddedTokenQuestion): boolean {
  const configured = files.tokenizerConfig?.fields[`add_${name}_token`]
  if (text !== null && ids.get(text) !== id) {
    throw badFile(
      files.tokenizer.path,
      `cannot be converted: it adds ${quoted(text)} to a text, which is not its ${name} token`,
    )
  }
  const adds = typeof configured === 'boolean' ? configured : text !== null
  return adds && id !== null
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
