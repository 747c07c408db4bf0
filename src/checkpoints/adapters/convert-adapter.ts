/**
 * Converts a LoRA adapter of PEFT to GGUF, as `convert_lora_to_gguf.py` of llama.cpp does: the pairs get the names of the model's
 * tensors, and where llama.cpp rotates neighbouring rows of Q and K, the rows of B are reordered as the model's own are. Alpha is
 * one number in GGUF; where a module's differs, or the adapter is rank-stabilized, B is scaled. One tensor is in memory at a time.
 */
import { interleaveHeadRows } from '../conversion/convert.ts'
import { badFile, quoted } from '../file-errors.ts'
import { convertFloats, findNonFinite, isFloatType } from '../gguf/float-conversion.ts'
import { numberValue } from '../gguf/gguf-file.ts'
import { gguf, type GgufMetadata, type GgufTensor } from '../gguf/gguf-format.ts'
import { layoutGguf, writeGguf } from '../gguf/gguf-writer.ts'
import { readJsonObject } from '../json-file.ts'
import { readFileChunks } from '../open-file.ts'
import { openCheckpoint, type SafetensorsTensor } from '../safetensors/safetensors-file.ts'
import type { PeftFiles } from './adapter-files.ts'
import { type BaseModel, checkFits } from './adapter-model.ts'
import { hasRotatedHeads, isOfExperts, LORA_ARCHITECTURES, tensorOfModule } from './lora-modules.ts'
import { type PeftConfig, readPeftConfig } from './peft-config.ts'

const PREFIX = 'base_model.model.'
const PART = /^(?<module>.+)\.lora_(?<part>[AB])\.weight$/

interface PlannedPart extends GgufTensor {
  readonly type: 'F32'
  readonly source: SafetensorsTensor
  /** Rows of a head, where they are reordered. */
  readonly headRows: number | null
  readonly scale: number
}

/** @throws StartError naming what cannot be converted, or does not fit the model */
export async function convertAdapter(
  { configPath, weightsPath }: PeftFiles,
  base: BaseModel,
  outputPath: string,
): Promise<void> {
  const config = readPeftConfig(await readJsonObject(configPath))
  const { tensors } = await openCheckpoint(weightsPath)
  const parts = planParts([...tensors.values()], config, base)
  checkFits(weightsPath, parts, base)
  const metadata: GgufMetadata = new Map([
    ['general.architecture', gguf.string(base.architecture)],
    ['general.type', gguf.string('adapter')],
    ['adapter.type', gguf.string('lora')],
    ['adapter.lora.alpha', gguf.float32(config.alpha)],
  ])
  await writeGguf(outputPath, layoutGguf(metadata, parts), async function* (part) {
    yield await dataOf(part)
  })
}

/** What beside the files decides how they are converted. */
export function recipeOf({ architecture, metadata }: Pick<BaseModel, 'architecture' | 'metadata'>): string {
  return `${architecture} ${headRowsOf({ architecture, metadata }) ?? 'as they are'}`
}

/** Rows of a head of Q and K, where they are reordered; null where they stay as they are. */
function headRowsOf({ architecture, metadata }: Pick<BaseModel, 'architecture' | 'metadata'>): number | null {
  if (LORA_ARCHITECTURES.get(architecture)?.interleavesHeads !== true) return null
  const read = (name: string) => numberValue(metadata, `${architecture}.${name}`)
  const [size, heads] = [read('embedding_length') ?? 0, read('attention.head_count') ?? 1]
  return read('attention.key_length') ?? size / heads
}

function planParts(
  tensors: readonly SafetensorsTensor[],
  config: PeftConfig,
  base: BaseModel,
): PlannedPart[] {
  const headRows = headRowsOf(base)
  return tensors.map((source) => {
    const { name, filePath, shape } = source
    const { module, part } = PART.exec(name)?.groups ?? {}
    if (module === undefined)
      throw badFile(
        filePath,
        `has tensor ${quoted(name)}, which is not half of a LoRA pair of a linear layer`,
      )
    const moduleName = module.startsWith(PREFIX) ? module.slice(PREFIX.length) : module
    if (isOfExperts(moduleName))
      throw badFile(
        filePath,
        `has tensor ${quoted(name)}, which is for experts of a layer: such an adapter is not served; merge it into its base model, and give that as a checkpoint`,
      )
    const target = tensorOfModule(moduleName)
    if (target === null)
      throw badFile(
        filePath,
        `has tensor ${quoted(name)}, whose layer is not one of the linear layers that are converted`,
      )
    if (shape.length !== 2)
      throw badFile(filePath, `has tensor ${quoted(name)} with ${shape.length} dimensions, not 2`)
    const [rows = 0, columns = 0] = shape
    const isB = part === 'B'
    return {
      name: `${target}.lora_${isB ? 'b' : 'a'}`,
      shape: [columns, rows],
      type: 'F32',
      source,
      headRows: isB && hasRotatedHeads(target) ? headRows : null,
      scale: isB ? config.alphaOf(moduleName, columns) / config.alpha : 1,
    }
  })
}

async function dataOf({ source, headRows, scale }: PlannedPart): Promise<Uint8Array> {
  const { name, dtype, filePath, shape, sizeBytes } = source
  if (!isFloatType(dtype))
    throw badFile(filePath, `has tensor ${quoted(name)} of type ${dtype}; F32, F16 and BF16 are converted`)
  let stored: Uint8Array = new Uint8Array()
  for await (const chunk of readFileChunks(source, Math.max(1, sizeBytes))) stored = chunk
  if (findNonFinite(stored, dtype) !== null)
    throw badFile(filePath, `holds a NaN or an Infinity in tensor ${quoted(name)}`)
  const bytes = convertFloats(stored, dtype, 'F32')
  if (scale !== 1) multiply(bytes, scale)
  const rowBytes = bytes.length / (shape[0] ?? 1)
  return headRows === null ? bytes : interleaveHeadRows(bytes, headRows, rowBytes)
}

function multiply({ buffer, byteOffset, byteLength }: Uint8Array, scale: number): void {
  const values = new Float32Array(buffer, byteOffset, byteLength / Float32Array.BYTES_PER_ELEMENT)
  for (let index = 0; index < values.length; index++) values[index] = (values[index] ?? 0) * scale
}
