/**
 * Plans the quantization of a model from its headers: whether it can be quantized, the format of its matrices and an
 * estimate of its size. Reads headers only; the engine's quantizer does the work.
 */
import type { QuantMode } from '../../core/choices/quant-mode.ts'
import { badFile } from '../files/file-errors.ts'
import { type GgufModel, openGgufModel } from '../gguf/gguf-file.ts'
import { elementCount, type GgmlType, type GgufTensor } from '../gguf/gguf-format.ts'
import { findCheckpointFiles, type CheckpointPaths } from '../checkpoint-files.ts'

/** The format of quantized matrices; the first three are llama.cpp's file types. */
export type QuantFormat = 'Q4_K_M' | 'IQ4_NL' | 'Q8_0' | 'fp8'

/** Rows of whole blocks of this many weights are what llama.cpp's K-quants take. */
const K_BLOCK_ELEMENTS = 256
const SMALL_BLOCK_ELEMENTS = 32

/** Bits for a weight, on the high side: both 4-bit formats keep some matrices in more. */
const MATRIX_BITS: Readonly<Record<QuantFormat, number>> = { Q4_K_M: 6.6, IQ4_NL: 6.1, Q8_0: 8.5, fp8: 8.5 }
/** Bits for a weight of the embeddings, and of matrices that fall back to 32-blocks. */
const FALLBACK_BITS = 8.5
const EMBEDDING = /^(token_embd|output)\.weight$/

const FULL_PRECISION: ReadonlySet<GgmlType> = new Set(['F64', 'F32', 'F16', 'BF16'])
const INTEGERS: ReadonlySet<GgmlType> = new Set(['I8', 'I16', 'I32', 'I64'])

/** Small matrices with a large effect on quality; llama.cpp never quantizes them either. */
const KEPT_NAMES =
  /_norm\.weight|ffn_gate_(inp|tid2eid)\.weight|altup|laurel|per_layer_model_proj|position_embd|token_types|ssm_conv1d|shortconv\.conv\.weight|indexer\.[kq]_proj\.weight|time_mix_(first|[wvag]\d|decay_w\d|lerp_fused)\.weight|attn_rel_b\.weight/

/** The type of the first matrix that is not in full precision; null when all are. */
function quantizedType({ tensors }: Pick<GgufModel, 'tensors'>): GgmlType | null {
  const found = tensors.find(
    (tensor) => isMatrix(tensor) && !FULL_PRECISION.has(tensor.type) && !INTEGERS.has(tensor.type),
  )
  return found?.type ?? null
}

/**
 * The same of a checkpoint that is not opened yet.
 * @throws StartError
 */
export async function quantizedTypeOf(options: CheckpointPaths): Promise<GgmlType | null> {
  const files = await findCheckpointFiles(options)
  return files.kind === 'gguf' ? quantizedType(await openGgufModel(files.path)) : null
}

/** @throws StartError when a model is quantized already. */
export function checkFullPrecision(model: Pick<GgufModel, 'path' | 'tensors'>): void {
  const type = quantizedType(model)
  if (type === null) return
  throw badFile(
    model.path,
    `cannot be quantized: its weights are quantized already (${type}); give a checkpoint in full precision`,
  )
}

/**
 * For int4 the K-quants, which lose least at this size, where most of the weights lie in rows of whole 256-blocks;
 * else IQ4_NL, which takes rows of 32. K-quants would fall back to 5 and 8 bits there.
 */
export function quantFormat(mode: QuantMode, { tensors }: Pick<GgufModel, 'tensors'>): QuantFormat {
  switch (mode) {
    case 'fp8':
      return 'fp8'
    case 'int8':
      return 'Q8_0'
    case 'int4': {
      const matrices = tensors.filter(isWeightMatrix)
      const fitting = matrices.filter(({ shape: [row = 0] }) => row % K_BLOCK_ELEMENTS === 0)
      return countElements(fitting) * 2 >= countElements(matrices) ? 'Q4_K_M' : 'IQ4_NL'
    }
  }
}

/** Whether a matrix is one of the weights that quantizing changes. */
export function isWeightMatrix(tensor: GgufTensor): boolean {
  const { name, type } = tensor
  if (!isMatrix(tensor) || !name.endsWith('weight') || INTEGERS.has(type)) return false
  return !KEPT_NAMES.test(name)
}

/** A matrix that can be written in blocks of 32. */
export function fitsSmallBlocks({ shape: [row = 0] }: GgufTensor): boolean {
  return row % SMALL_BLOCK_ELEMENTS === 0
}

/** An estimate of the quantized size, on the high side. */
export function estimateBytes(format: QuantFormat, { tensors }: Pick<GgufModel, 'tensors'>): number {
  return tensors.reduce((sum, tensor) => {
    if (!isWeightMatrix(tensor) || !fitsSmallBlocks(tensor)) return sum + tensor.sizeBytes
    const fallsBack = format === 'Q4_K_M' && (tensor.shape[0] ?? 0) % K_BLOCK_ELEMENTS !== 0
    const bits = fallsBack || EMBEDDING.test(tensor.name) ? FALLBACK_BITS : MATRIX_BITS[format]
    return sum + Math.min(tensor.sizeBytes, Math.ceil((elementCount(tensor.shape) * bits) / 8))
  }, 0)
}

export interface QuantizationSummary {
  /** Weight matrices whose type changed. */
  readonly layersQuantized: number
  /** Of all weights after it. */
  readonly sizeBytes: number
}

export function summarizeQuantization(
  before: Pick<GgufModel, 'tensors'>,
  after: Pick<GgufModel, 'tensors'>,
): QuantizationSummary {
  const types = new Map(before.tensors.map(({ name, type }) => [name, type]))
  return {
    layersQuantized: after.tensors.filter(
      (tensor) => isMatrix(tensor) && types.get(tensor.name) !== tensor.type,
    ).length,
    sizeBytes: after.tensors.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  }
}

function isMatrix({ shape }: GgufTensor): boolean {
  return shape.slice(1).some((size) => size > 1)
}

function countElements(tensors: readonly GgufTensor[]): number {
  return tensors.reduce((sum, { shape }) => sum + elementCount(shape), 0)
}
