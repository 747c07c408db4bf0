/** Chooses the files of a repository that make up a model, by their names alone. */
import path from 'node:path'
import { StartError } from '../../core/errors.ts'
import { listed } from '../files/file-errors.ts'
import { isRecord } from '../files/json-file.ts'
import { type HubReference, isInsideRepo } from './hub-reference.ts'

export interface ChosenFiles {
  /** The file that the checkpoint is opened by: the first of `weights`, or the index. */
  readonly opened: string
  /** Null when the index names them. */
  readonly weights: readonly string[] | null
  readonly others: readonly string[]
}

/** Files beside the weights; each is taken where it exists. */
const COMPANIONS = new Set([
  'README.md',
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer.model',
  'tokenizer_config.json',
  'special_tokens_map.json',
  'added_tokens.json',
  'vocab.json',
  'merges.txt',
  'chat_template.jinja',
  'chat_template.json',
  'modules.json',
])
/** As sentence-transformers names its folder. */
const POOLING_CONFIG = /^[^/]*Pooling\/config\.json$/
const INDEX_FILE = 'model.safetensors.index.json'
const TEKKEN_FILE = 'tekken.json'
const SPLIT = /-(?<part>\d{5})-of-(?<count>\d{5})\.gguf$/
const MAX_PARTS = 10_000

export interface ChooseOptions {
  /** Whether a LoRA adapter is wanted, and no model. @default false */
  readonly isAdapter?: boolean | undefined
}

/** As PEFT saves it. */
const PEFT_FILES = { weights: 'adapter_model.safetensors', config: 'adapter_config.json' } as const

/** @throws StartError when there is no such model, or more than one. */
export function chooseFiles(
  { repo, file }: HubReference,
  names: readonly string[],
  { isAdapter = false }: ChooseOptions = {},
): ChosenFiles {
  const sound = names.filter(isInsideRepo)
  // A split model is named by its first file.
  const ggufs = sound
    .filter((name) => name.endsWith('.gguf') && (SPLIT.exec(name)?.groups?.['part'] ?? '00001') === '00001')
    .sort()
  if (file !== null) {
    const weights = ggufParts(repo, file, { names: sound, ggufs })
    return { opened: weights[0] ?? '', weights, others: [] }
  }
  if (isAdapter) return chooseAdapter(repo, { names: sound, ggufs })
  // As large as the usual one, and read only where that is missing.
  const needsTekken = !sound.includes('tokenizer.json')
  const isCompanion = (name: string) => COMPANIONS.has(name) || POOLING_CONFIG.test(name)
  const others = sound.filter((name) => isCompanion(name) || (needsTekken && name === TEKKEN_FILE)).sort()
  refuseAdapter(repo, sound)
  if (sound.includes(INDEX_FILE)) return { opened: INDEX_FILE, weights: null, others }
  const safetensors = sound.filter(
    (name) => path.posix.dirname(name) === '.' && name.endsWith('.safetensors'),
  )
  const only = safetensors.includes('model.safetensors') ? 'model.safetensors' : safetensors[0]
  if (only !== undefined && (safetensors.length === 1 || only === 'model.safetensors')) {
    return { opened: only, weights: [only], others }
  }
  if (ggufs.length === 0 && safetensors.length > 0) {
    throw new StartError(
      `${repo} has several .safetensors files and no index that says what they are: ${listed(safetensors)}.`,
    )
  }
  if (ggufs.length === 0) throw withoutModel(repo, sound)
  throw new StartError(`${repo} holds GGUF files; name one of them, as in hf:${repo}:FILE: ${listed(ggufs)}.`)
}

/** One file of weights and no model: what it is trained for has a repository of its own. @throws StartError */
function refuseAdapter(repo: string, names: readonly string[]): void {
  if (!names.includes('adapter_config.json') || names.includes('config.json')) return
  throw new StartError(
    `${repo} is a LoRA adapter, not a model: register it beside its base model, with "base" and "adapter" in the place of "checkpoint".`,
  )
}

function chooseAdapter(
  repo: string,
  { names, ggufs }: { readonly names: readonly string[]; readonly ggufs: readonly string[] },
): ChosenFiles {
  const { weights, config } = PEFT_FILES
  if (names.includes(config) && names.includes(weights))
    return { opened: weights, weights: [weights], others: [config] }
  const [gguf] = ggufs
  if (gguf === undefined)
    throw new StartError(`${repo} holds no adapter: neither ${config} with ${weights}, nor a GGUF file.`)
  throw new StartError(`${repo} holds GGUF files; name one of them, as in hf:${repo}:FILE: ${listed(ggufs)}.`)
}

function withoutModel(repo: string, names: readonly string[]): StartError {
  const pytorch = names.find((name) => /\.(bin|pt|pth)$/.test(name))
  const sentence = `${repo} has no .safetensors or .gguf file to serve`
  if (pytorch === undefined) return new StartError(`${sentence}.`)
  return new StartError(
    `${sentence}, but PyTorch weights (${pytorch}), which are not read: look for a repository of the model with either, or save them as safetensors.`,
  )
}

/** The shards that an index names. @throws StartError */
export function shardsOf(repo: string, index: string): readonly string[] {
  const shards = [...new Set(weightMapValues(index))].filter((name) => typeof name === 'string')
  if (shards.length === 0 || shards.length > MAX_PARTS || !shards.every(isInsideRepo)) {
    throw new StartError(`The index of ${repo} (${INDEX_FILE}) does not name the files of its weights.`)
  }
  return shards.sort()
}

function weightMapValues(index: string): readonly unknown[] {
  try {
    const parsed: unknown = JSON.parse(index)
    const map = isRecord(parsed) ? parsed['weight_map'] : null
    return isRecord(map) ? Object.values(map) : []
  } catch {
    return []
  }
}

function ggufParts(
  repo: string,
  file: string,
  { names, ggufs }: { readonly names: readonly string[]; readonly ggufs: readonly string[] },
): readonly string[] {
  if (!file.endsWith('.gguf')) {
    throw new StartError(`'${file}' is no .gguf file; a safetensors checkpoint is named without its files.`)
  }
  const known = new Set(names)
  const missing = partsOf(file).filter((part) => !known.has(part))
  if (missing.length === 0) return partsOf(file)
  const choice = ggufs.length === 0 ? 'no .gguf file at all' : `these: ${listed(ggufs)}`
  throw new StartError(`${repo} has no file '${missing[0]}', but ${choice}.`)
}

function partsOf(file: string): readonly string[] {
  const count = Number(SPLIT.exec(file)?.groups?.['count'] ?? 0)
  if (count === 0 || count > MAX_PARTS) return [file]
  const total = String(count).padStart(5, '0')
  return Array.from({ length: count }, (_, index) =>
    file.replace(SPLIT, `-${String(index + 1).padStart(5, '0')}-of-${total}.gguf`),
  )
}
