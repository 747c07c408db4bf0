/**
 * What a converted file says about the model beside what is computed, under the keys of llama.cpp's own converter: its name,
 * size, license and base models, and the sampling that its authors recommend, which llama.cpp's programs take as their
 * defaults. All of it comes from the checkpoint's files, so that the same files make the same file wherever they lie.
 */
import type { MetadataEntry } from '../architectures/architecture-plan.ts'
import { elementCount, gguf, type GgufTensor, type GgufValue } from '../gguf/gguf-format.ts'
import type { JsonObject } from '../files/json-file.ts'

interface DescribedModel {
  /** As `general.architecture` names it. */
  readonly architecture: string
  readonly config: JsonObject
  readonly generationConfig: JsonObject | null
  /** Text of README.md. */
  readonly modelCard: string | null
}

/** llama.cpp tokenizes otherwise under such a name; the tokenizer gives it where that is right. */
const NAME_WITH_A_MEANING = /phi-?3|modern-bert/i
/** By the fields of generation_config.json. */
const SAMPLING_KEYS: readonly (readonly [field: string, key: string, type: 'int32' | 'float32'])[] = [
  ['top_k', 'top_k', 'int32'],
  ['top_p', 'top_p', 'float32'],
  ['min_p', 'min_p', 'float32'],
  ['temperature', 'temp', 'float32'],
  ['repetition_penalty', 'penalty_repeat', 'float32'],
]

export function generalMetadata(
  { architecture, config, generationConfig, modelCard }: DescribedModel,
  tensors: readonly GgufTensor[],
): MetadataEntry[] {
  const card = modelCard === null ? new Map<string, readonly string[]>() : parseModelCard(modelCard)
  const size = sizeLabel(tensors)
  const name = modelName(config, card.get('model_name')?.[0] ?? null) ?? `${architecture} ${size}`
  return [
    ...samplingMetadata(generationConfig),
    ...(NAME_WITH_A_MEANING.test(name) ? [] : [['general.name', gguf.string(name)] as const]),
    ['general.size_label', gguf.string(size)],
    ...['license', 'license_name', 'license_link'].flatMap((field): MetadataEntry[] => {
      const values = card.get(field) ?? []
      return values.length === 0
        ? []
        : [[`general.${field.replace('_', '.')}`, gguf.string(values.join(','))]]
    }),
    ...baseModelMetadata(card.get('base_model') ?? []),
  ]
}

function samplingMetadata(generationConfig: JsonObject | null): MetadataEntry[] {
  return SAMPLING_KEYS.flatMap(([field, key, type]): MetadataEntry[] => {
    const value = generationConfig?.fields[field]
    if (typeof value !== 'number' || (type === 'int32' && !Number.isInteger(value))) return []
    return [[`general.sampling.${key}`, { type, value } satisfies GgufValue]]
  })
}

/** `_name_or_path` may be a path of the machine that trained the model. */
function modelName(config: JsonObject, ofCard: string | null): string | null {
  if (ofCard !== null) return ofCard
  const { _name_or_path: id } = config.fields
  return typeof id === 'string' && /^[\w.-]+\/[\w.-]+$/.test(id) ? toTitle(id.split('/')[1] ?? '') : null
}

/** `qwen3-0.6B-base` → `Qwen3 0.6B Base` */
function toTitle(name: string): string {
  const words = name.split('-').filter((word) => word !== '')
  return words
    .map((word) =>
      word === word.toLowerCase() && !/^(v\d+(\.\d+)*|\d.*)$/.test(word)
        ? word.slice(0, 1).toUpperCase() + word.slice(1)
        : word,
    )
    .join(' ')
}

function baseModelMetadata(ids: readonly string[]): MetadataEntry[] {
  const named = ids.filter((id) => /^[\w.-]+\/[\w.-]+$/.test(id))
  if (named.length === 0) return []
  const entries = named.flatMap((id, index): MetadataEntry[] => {
    const [organization = '', name = ''] = id.split('/')
    const key = `general.base_model.${index}`
    return [
      [`${key}.name`, gguf.string(toTitle(name))],
      [`${key}.organization`, gguf.string(toTitle(organization))],
      [`${key}.repo_url`, gguf.string(`https://huggingface.co/${id}`)],
    ]
  })
  return [['general.base_model.count', gguf.uint32(named.length)], ...entries]
}

/** `596M`; of a mixture of experts their number and what one of them makes with all that they share: `128x1.8B`. */
export function sizeLabel(tensors: readonly GgufTensor[]): string {
  const count = (some: readonly GgufTensor[]) => some.reduce((sum, { shape }) => sum + elementCount(shape), 0)
  const ofExperts = tensors.filter(({ name }) => name.endsWith('_exps.weight'))
  const experts = ofExperts[0]?.shape.at(-1) ?? 0
  const all = count(tensors)
  if (experts === 0) return rounded(all)
  const expertElements = count(ofExperts)
  return `${experts}x${rounded(all - expertElements + expertElements / experts)}`
}

/** Two digits at least. */
function rounded(parameters: number): string {
  const units = [
    [1e12, 'T'],
    [1e9, 'B'],
    [1e6, 'M'],
  ] as const
  const [unit, suffix] = units.find(([size]) => parameters > size) ?? [1e3, 'K']
  const scaled = parameters / unit
  const digits = String(Math.round(scaled)).replace(/^0+/, '').length
  return `${scaled.toFixed(Math.max(2 - digits, 0))}${suffix}`
}

/** The simple fields of the front matter of README.md: texts and lists of texts; all others are passed over. */
function parseModelCard(text: string): ReadonlyMap<string, readonly string[]> {
  const card = new Map<string, string[]>()
  const lines = text.split(/\r?\n/)
  const end = lines[0] === '---' ? lines.indexOf('---', 1) : -1
  let field: string[] | null = null
  for (const line of lines.slice(1, Math.max(end, 1))) {
    const [, name, value = ''] = /^(\w+):\s*(.*)$/.exec(line) ?? []
    const [, item] = /^\s*-\s+(.+)$/.exec(line) ?? []
    if (name !== undefined) {
      field = value
        .replace(/^\[(.*)\]$/, '$1')
        .split(',')
        .map(unquoted)
        .filter((each) => each !== '')
      card.set(name, field)
    } else if (item !== undefined) field?.push(unquoted(item))
    else field = null
  }
  return card
}

function unquoted(text: string): string {
  return text.trim().replace(/^(["'])(.*)\1$/, '$2')
}
