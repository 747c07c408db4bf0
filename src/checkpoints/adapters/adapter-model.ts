/**
 * A LoRA adapter in GGUF, known from its header, and whether it fits a model: each of its pairs must be for a tensor that the model
 * has, in that tensor's shape. llama.cpp checks the same when it loads the adapter, but says why on its log only.
 */
import type { StartError } from '../../core/errors.ts'
import { badFile, quoted } from '../files/file-errors.ts'
import { type GgufModel, readGgufFile } from '../gguf/gguf-file.ts'
import { elementCount, type GgmlType, type GgufMetadata, type GgufTensor } from '../gguf/gguf-format.ts'

/** The model that an adapter is for. */
export interface BaseModel extends Pick<GgufModel, 'architecture' | 'metadata' | 'tensors'> {
  /** Its id, for messages. */
  readonly modelId: string
}

export interface AdapterModel {
  readonly path: string
  readonly parameters: number
  readonly sizeBytes: number
}

const SUFFIXES = ['.lora_a', '.lora_b'] as const
const EMBEDDINGS = 'token_embd.weight'
/** Indices, and what weights are multiplied by. */
const NOT_MULTIPLIED: ReadonlySet<GgmlType> = new Set(['F64', 'I8', 'I16', 'I32', 'I64', 'Q8_1', 'Q8_K'])

/**
 * @param path as messages name it, where that is not the file itself
 * @throws StartError where the file is no LoRA adapter, or not one for this model
 */
export async function openAdapterModel(
  filePath: string,
  base: BaseModel,
  path = filePath,
): Promise<AdapterModel> {
  const { header } = await readGgufFile(filePath)
  const { metadata, tensors } = header
  const type = textValue(metadata, 'general.type')
  if (type !== 'adapter')
    throw badFile(path, 'is a GGUF file but no adapter; where it is a model, register it with "checkpoint"')
  const kind = textValue(metadata, 'adapter.type')
  if (kind !== 'lora')
    throw badFile(path, `is an adapter of the type ${quoted(kind ?? 'none')}; only LoRA is served`)
  if (metadata.has('adapter.alora.invocation_tokens'))
    throw badFile(path, 'is an activated LoRA adapter (aLoRA), which is not served')
  checkAlpha(path, metadata)
  const architecture = textValue(metadata, 'general.architecture')
  if (architecture !== base.architecture)
    throw unfit(path, `is for the architecture ${quoted(architecture ?? 'none')}`, {
      ...base,
      has: quoted(base.architecture),
    })
  checkTypes(path, tensors)
  checkFits(path, tensors, base)
  return {
    path: filePath,
    parameters: tensors.reduce((sum, { shape }) => sum + elementCount(shape), 0),
    sizeBytes: tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  }
}

/** llama.cpp ends its process at any other type, and with it what runs on the base model. */
function checkAlpha(path: string, metadata: GgufMetadata): void {
  const alpha = metadata.get('adapter.lora.alpha')
  if (alpha === undefined) throw badFile(path, 'has no "adapter.lora.alpha"')
  if (alpha.type !== 'float32' || !Number.isFinite(alpha.value))
    throw badFile(path, 'is damaged: its "adapter.lora.alpha" is no number of the type float32')
}

/** The process ends at these too, at the first request. */
function checkTypes(path: string, tensors: readonly GgufTensor[]): void {
  const wrong = tensors.find(({ type }) => NOT_MULTIPLIED.has(type))
  if (wrong !== undefined)
    throw badFile(
      path,
      `has tensor ${quoted(wrong.name)} of the type ${wrong.type}, which llama.cpp does not multiply`,
    )
}

/** @throws StartError naming the first tensor that the model has not, or has in another shape */
export function checkFits(path: string, tensors: readonly GgufTensor[], base: BaseModel): void {
  if (tensors.length === 0) throw badFile(path, 'holds no weights')
  const shapes = new Map(tensors.map(({ name, shape }) => [name, shape]))
  const ofBase = new Map(base.tensors.map(({ name, shape }) => [name, shape]))
  for (const { name } of tensors) {
    const suffix = SUFFIXES.find((one) => name.endsWith(one))
    if (suffix === undefined)
      throw badFile(path, `holds tensor ${quoted(name)}, which is no part of a LoRA pair and is not served`)
    const target = name.slice(0, -suffix.length)
    const [a, b] = SUFFIXES.map((one) => shapes.get(target + one))
    if (a === undefined || b === undefined)
      throw badFile(path, `lacks the other half of tensor ${quoted(name)}`)
    const weight = ofBase.get(target)
    if (weight === undefined)
      throw unfit(path, `is for a tensor ${quoted(target)}`, { ...base, has: 'none of that name' })
    // Experts of a layer have a third dimension, their number.
    const given = target === EMBEDDINGS ? [b[1], a[1]] : [a[0], b[1], ...a.slice(2)]
    const rank = target === EMBEDDINGS ? [a[0], b[0]] : [a[1], b[0]]
    if (rank[0] !== rank[1])
      throw badFile(
        path,
        `is damaged: the halves of tensor ${quoted(target)} have the ranks ${rank.join(' and ')}`,
      )
    if (a.length !== b.length || a[2] !== b[2])
      throw badFile(
        path,
        `is damaged: the halves of tensor ${quoted(target)} are ${a.join(' x ')} and ${b.join(' x ')}`,
      )
    if (given.length !== weight.length || given.some((size, index) => size !== weight[index]))
      throw unfit(path, `is for a tensor ${quoted(target)} of ${given.join(' x ')}`, {
        ...base,
        has: weight.join(' x '),
      })
  }
}

function unfit(path: string, what: string, { modelId, has }: { modelId: string; has: string }): StartError {
  return badFile(
    path,
    `${what}, but its base model ${quoted(modelId)} has ${has}: it was made for another model`,
  )
}

function textValue(metadata: GgufMetadata, key: string): string | null {
  const value = metadata.get(key)
  return value?.type === 'string' ? value.value : null
}
