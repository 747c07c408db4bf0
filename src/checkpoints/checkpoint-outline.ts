/**
 * Reads the headers of a checkpoint and checks that its files can be served. The outline holds the numbers that
 * `/v1/models` shows while the model loads, and those from which `memory/` computes the memory it needs. Reads no weights.
 */
import type { ModelOutline } from '../protocol/model-info.ts'
import type { LocalModelSource } from '../protocol/model-source.ts'
import type { PlannedFile } from './conversion/conversion-plan.ts'
import { planAside } from './conversion/conversion-thread.ts'
import { type GgufModel, numbersValue, numberValue, openGgufModel } from './gguf/gguf-file.ts'
import { embeddingInfo } from './gguf/embedding-model.ts'
import { elementCount, mostCommonType } from './gguf/gguf-format.ts'
import { parseGgufHeader } from './gguf/gguf-header.ts'
import { metadataOverrides } from './architectures/gguf-overrides.ts'
import { readJsonObject } from './files/json-file.ts'
import { checkFullPrecision } from './quantization/quantization-plan.ts'
import { kvElementsPerToken } from './memory/kv-elements.ts'
import { servedSeqLen } from './memory/kv-room.ts'
import { type LayerSizes, layerSizes } from './memory/layer-sizes.ts'
import { embeddedSeqLen } from './memory/memory-need.ts'
import { findCheckpointFiles, type HfFiles, type CheckpointPaths } from './checkpoint-files.ts'

export interface CheckpointOutline extends ModelOutline {
  readonly maxSeqLen: number
  /** Elements of KV cache for each token of a sequence; 0 where the headers do not say. */
  readonly kvElementsPerToken: number
  readonly layers: LayerSizes
}

export function isCheckpointOutline(outline: ModelOutline | null): outline is CheckpointOutline {
  return outline !== null && 'kvElementsPerToken' in outline
}

/** llama.cpp's file types by their numbers; of others the type of most weights is shown. */
const FILE_TYPES: Readonly<Record<number, string>> = {
  0: 'F32',
  1: 'F16',
  2: 'Q4_0',
  3: 'Q4_1',
  7: 'Q8_0',
  8: 'Q5_0',
  9: 'Q5_1',
  10: 'Q2_K',
  11: 'Q3_K_S',
  12: 'Q3_K_M',
  13: 'Q3_K_L',
  14: 'Q4_K_S',
  15: 'Q4_K_M',
  16: 'Q5_K_S',
  17: 'Q5_K_M',
  18: 'Q6_K',
  32: 'BF16',
  38: 'MXFP4',
}

/** What is known of a checkpoint before its weights are read. */
export type CheckpointHeaders = Pick<GgufModel, 'architecture' | 'metadata' | 'tensors'>

export type OutlinedSource = CheckpointPaths & Partial<Pick<LocalModelSource, 'quantization'>>

export interface OutlineOptions {
  /** As configured. */
  readonly maxSeqLen: number | null
  /** As configured. @default none */
  readonly kvCacheTokens?: number | null
  readonly signal?: AbortSignal | undefined
  /** How the conversion of a checkpoint is planned. @default in a worker thread */
  readonly plan?: typeof planAside
}

/**
 * Reads the headers, and checks that the files can be served, and quantized if the source asks for it.
 * @throws StartError with one sentence saying what is wrong.
 */
export async function outlineCheckpoint(
  source: OutlinedSource,
  options: OutlineOptions,
): Promise<CheckpointOutline> {
  return outlineOf(await readCheckpointHeaders(source, options), options)
}

/** @throws StartError as `outlineCheckpoint`. */
export function readCheckpointHeaders(
  source: OutlinedSource,
  { signal, plan = planAside }: Pick<OutlineOptions, 'signal' | 'plan'>,
): Promise<CheckpointHeaders> {
  return readHeaders(source, (files) => plan(files, 'source', signal))
}

export function outlineOf(
  headers: CheckpointHeaders,
  options: Pick<OutlineOptions, 'maxSeqLen' | 'kvCacheTokens'>,
): CheckpointOutline {
  const { architecture, metadata, tensors } = headers
  const tokens = metadata.get('tokenizer.ggml.tokens')
  const contextLength = numberValue(metadata, `${architecture}.context_length`)
  const embedding = embeddingInfo(headers)
  return {
    architecture,
    parameters: tensors.reduce((sum, { shape }) => sum + elementCount(shape), 0),
    sizeBytes: tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    quantization: fileType(headers),
    maxSeqLen:
      embedding === null
        ? servedSeqLen(options, contextLength)
        : embeddedSeqLen(options.maxSeqLen, contextLength),
    vocabSize: tokens?.type === 'array' ? tokens.items.length : 0,
    engine: 'llama.cpp',
    ...(embedding !== null && { embedding }),
    kvElementsPerToken: kvElementsPerToken((name) => numbersValue(metadata, `${architecture}.${name}`)),
    layers: layerSizes(headers),
  }
}

async function readHeaders(
  source: OutlinedSource,
  plan: (files: HfFiles) => Promise<PlannedFile>,
): Promise<CheckpointHeaders> {
  const files = await findCheckpointFiles(source)
  if (files.kind === 'gguf') {
    const model = await openGgufModel(files.path)
    if (files.configPath !== null) metadataOverrides(await readJsonObject(files.configPath), model)
    if ((source.quantization ?? 'none') !== 'none') checkFullPrecision(model)
    return model
  }
  const { headerBytes, fileSizeBytes } = await plan(files)
  const bytes = Buffer.from(headerBytes.buffer)
  const { metadata, tensors } = parseGgufHeader({ path: files.weightsPath, bytes, fileSizeBytes })
  const architecture = metadata.get('general.architecture')
  return { architecture: architecture?.type === 'string' ? architecture.value : '', metadata, tensors }
}

function fileType({ metadata, tensors }: CheckpointHeaders): string {
  return FILE_TYPES[numberValue(metadata, 'general.file_type') ?? -1] ?? mostCommonType(tensors) ?? 'unknown'
}
