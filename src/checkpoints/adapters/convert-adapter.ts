/**
 * Converts a LoRA adapter of PEFT to GGUF, as `convert_lora_to_gguf.py` of llama.cpp does: the pairs get the names of the model's
 * tensors, and where llama.cpp rotates neighbouring rows of Q and K, the rows of B are reordered as the model's own are. Alpha is
 * one number in GGUF; where a module's differs, or the adapter is rank-stabilized, B is scaled. Those of experts are planned
 * in `plan-experts.ts`. One stored tensor is in memory at a time. Called in the conversion's worker thread.
 */
import { badFile, quoted } from '../files/file-errors.ts'
import { numberValue } from '../gguf/gguf-file.ts'
import { gguf, type GgufMetadata } from '../gguf/gguf-format.ts'
import { interleaveHeadRows } from '../gguf/head-rows.ts'
import { layoutGguf, writeGguf } from '../gguf/gguf-writer.ts'
import { readJsonObject } from '../files/json-file.ts'
import { openCheckpoint, type SafetensorsTensor } from '../safetensors/safetensors-file.ts'
import type { PeftFiles } from './adapter-files.ts'
import { type BaseModel, checkFits } from './adapter-model.ts'
import { hasRotatedHeads, layerOfAllExperts, LORA_ARCHITECTURES, placeOfModule } from './lora-modules.ts'
import { bytesOf, type LoraHalf, type LoraPart, numbersOf, readLoraHalf, scaleOf } from './lora-parts.ts'
import { type PeftConfig, readPeftConfig } from './peft-config.ts'
import { type ExpertHalf, planAllExperts, planEachExpert } from './plan-experts.ts'

/** Three times as large as that for each expert of a large model; as JSON it may take thirty times as much memory. */
const MAX_HEADER_BYTES = 16 * 2 ** 20

export interface AdapterConversion {
  readonly files: PeftFiles
  readonly base: BaseModel
  /** Must not exist yet; on failure the caller removes what was written. */
  readonly outputPath: string
}

/** @throws StartError naming what cannot be converted, or does not fit the model */
export async function convertAdapter({ files, base, outputPath }: AdapterConversion): Promise<void> {
  const { configPath, weightsPath } = files
  const config = readPeftConfig(await readJsonObject(configPath))
  const { tensors } = await openCheckpoint(weightsPath, MAX_HEADER_BYTES)
  const parts = planParts([...tensors.values()], config, base)
  checkFits(weightsPath, parts, base)
  const metadata: GgufMetadata = new Map([
    ['general.architecture', gguf.string(base.architecture)],
    ['general.type', gguf.string('adapter')],
    ['adapter.type', gguf.string('lora')],
    ['adapter.lora.alpha', gguf.float32(config.alpha)],
  ])
  await writeGguf(outputPath, layoutGguf(metadata, parts), ({ data }) => data())
}

/** What beside the files decides how they are converted. */
export function recipeOf({ architecture, metadata }: Pick<BaseModel, 'architecture' | 'metadata'>): string {
  const experts = numberValue(metadata, `${architecture}.expert_count`)
  const ofExperts = experts === null ? '' : ` ${experts} experts`
  return `${architecture} ${headRowsOf({ architecture, metadata }) ?? 'as they are'}${ofExperts}`
}

/** Rows of a head of Q and K, where they are reordered; null where they stay as they are. */
function headRowsOf({ architecture, metadata }: Pick<BaseModel, 'architecture' | 'metadata'>): number | null {
  if (LORA_ARCHITECTURES.get(architecture)?.interleavesHeads !== true) return null
  const read = (name: string) => numberValue(metadata, `${architecture}.${name}`)
  const [size, heads] = [read('embedding_length') ?? 0, read('attention.head_count') ?? 1]
  return read('attention.key_length') ?? size / heads
}

function planParts(tensors: readonly SafetensorsTensor[], config: PeftConfig, base: BaseModel): LoraPart[] {
  const parts: LoraPart[] = []
  const ofEach: ExpertHalf[] = []
  const ofAll = new Map<number, LoraHalf[]>()
  for (const source of tensors) {
    const half = readLoraHalf(source)
    const place = placeOfModule(half.module)
    const layer = layerOfAllExperts(half.module)
    if (place !== null && place.expert !== null) ofEach.push({ ...half, ...place, expert: place.expert })
    else if (place !== null) parts.push(planLinear(half, place.tensor, { config, base }))
    else if (layer !== null && LORA_ARCHITECTURES.get(base.architecture)?.gateUp !== undefined) {
      ofAll.set(layer, [...(ofAll.get(layer) ?? []), half])
    } else
      throw badFile(
        source.filePath,
        `has tensor ${quoted(source.name)}, whose layer is not one of the linear layers that are converted`,
      )
  }
  parts.push(...planEachExpert(ofEach, config, base))
  for (const [layer, halves] of ofAll) parts.push(...planAllExperts(halves, layer, { config, base }))
  return parts
}

function planLinear(
  half: LoraHalf,
  tensor: string,
  { config, base }: { readonly config: PeftConfig; readonly base: BaseModel },
): LoraPart {
  const { part, rows, columns } = half
  const headRows = part === 'B' && hasRotatedHeads(tensor) ? headRowsOf(base) : null
  return {
    ...{ name: `${tensor}.lora_${part.toLowerCase()}`, type: 'F32', shape: [columns, rows] },
    data: async function* () {
      const bytes = bytesOf(await numbersOf(half, scaleOf(half, config)))
      yield headRows === null ? bytes : interleaveHeadRows(bytes, headRows, bytes.length / rows)
    },
  }
}
