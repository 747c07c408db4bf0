/**
 * Whether the `quantization_config` of a checkpoint says that its matrices are 8-bit integers with a scale for each row, or
 * one for all: the format "int-quantized" of compressed-tensors, which llm-compressor writes. How activations would be
 * rounded makes no difference here, where they are computed with.
 */
import { isRecord } from '../files/json-file.ts'

export function isInt8ByRows(quantization: unknown): boolean {
  if (!isRecord(quantization) || quantization['quant_method'] !== 'compressed-tensors') return false
  const { format, config_groups: groups } = quantization
  if (format !== 'int-quantized' || !isRecord(groups)) return false
  return Object.values(groups).every((group) => {
    const weights = isRecord(group) ? group['weights'] : undefined
    if (!isRecord(weights)) return false
    const { num_bits: bits, type, symmetric, strategy } = weights
    return (
      bits === 8 && type === 'int' && symmetric === true && (strategy === 'channel' || strategy === 'tensor')
    )
  })
}
