/**
 * Quantizes a GGUF model into a new file, in this process: int4 and int8 with llama.cpp, fp8 with our own writer. Blocks
 * for as long as it takes, so the server has it done in a process of its own (`quantize-process.ts`).
 */
import { appendFile } from 'node:fs/promises'
import { InvariantError } from '../../../core/errors.ts'
import { fileError } from '../../../checkpoints/files/file-errors.ts'
import { writeFp8Model } from '../../../checkpoints/fp8/fp8-model.ts'
import { openGgufModel } from '../../../checkpoints/gguf/gguf-file.ts'
import { readTensorData, storedTensors } from '../../../checkpoints/gguf/gguf-tensor-data.ts'
import type { QuantFormat } from '../../../checkpoints/quantization/quantization-plan.ts'
import { loadLlama } from '../ffi/bindings.ts'
import { CHECK_SHARE, type QuantizeEnd, type QuantizeOptions } from './quantize-process.ts'

const PROBE_BYTES = 2 ** 20

/** llama.cpp's numbers of its file types. */
const FILE_TYPES: Readonly<Record<Exclude<QuantFormat, 'fp8'>, number>> = { Q4_K_M: 15, IQ4_NL: 25, Q8_0: 7 }

/** @throws StartError naming what is wrong with the weights or the disk; InvariantError when llama.cpp fails. */
export async function quantizeWeights(
  options: QuantizeOptions,
  onProgress: (fraction: number) => void,
): Promise<QuantizeEnd> {
  const { sourcePath, outputPath, format, threads } = options
  const model = await openGgufModel(sourcePath)
  if (format === 'fp8') return writeFp8Model({ model, outputPath, onProgress })
  const tensors = await storedTensors(model)
  let checkedBytes = 0
  for (const tensor of tensors) {
    for await (const chunk of readTensorData(tensor)) {
      checkedBytes += chunk.length
      onProgress((checkedBytes / model.sizeBytes) * CHECK_SHARE)
    }
  }
  const api = loadLlama('off')
  const params = { ...api.quantizeDefaultParams(), nthread: threads, ftype: FILE_TYPES[format] }
  if (api.quantize(sourcePath, outputPath, params) !== 0) {
    await checkDisk(outputPath)
    // llama.cpp has said why on standard error.
    throw new InvariantError(`llama.cpp could not quantize ${sourcePath} to ${format}.`)
  }
  onProgress(1)
  return { exactShare: null }
}

/** llama.cpp says of a full disk no more than that writing failed; so does writing more, with the reason. */
async function checkDisk(outputPath: string): Promise<void> {
  try {
    await appendFile(outputPath, Buffer.alloc(PROBE_BYTES))
  } catch (error) {
    throw fileError('write', outputPath, error)
  }
}
