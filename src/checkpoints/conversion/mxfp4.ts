/**
 * MXFP4 weights as gpt-oss stores them, in llama.cpp's order, without a loss. Both have blocks of 32 numbers of 4 bits with a
 * scale, a power of two in a byte:
 *
 *   stored       blocks: n1n0 n3n2 n5n4 ... n31n30   scales: s
 *   llama.cpp    s n16n0 n17n1 n18n2 ... n31n15
 */
import { badFile, quoted } from '../files/file-errors.ts'
import { GGML_TYPES } from '../gguf/gguf-format.ts'
import { readFileChunks } from '../files/open-file.ts'
import type { Mxfp4Data } from './conversion-plan.ts'
import { PICKS } from './expert-matrices.ts'

const { blockBytes: BLOCK_BYTES, blockElements: BLOCK_NUMBERS } = GGML_TYPES.MXFP4
const PACKED_BYTES = BLOCK_NUMBERS / 2
const HALF = BLOCK_NUMBERS / 2
/** A NaN in the format of the scales, E8M0. */
const SCALE_NAN = 0xff

/** One expert after the other. @throws StartError naming a scale that is not a number */
export async function* mxfp4Chunks(name: string, data: Mxfp4Data): AsyncGenerator<Uint8Array> {
  const { blocks, scales } = data
  const [experts = 1] = scales.shape
  const scaleChunks = readFileChunks(scales, scales.sizeBytes / experts)
  try {
    for await (const packed of readFileChunks(blocks, blocks.sizeBytes / experts)) {
      const { value } = await scaleChunks.next()
      const ofExpert: Uint8Array = value ?? new Uint8Array()
      if (ofExpert.includes(SCALE_NAN)) {
        throw badFile(scales.filePath, `holds a NaN in tensor ${quoted(scales.name)} (${name})`)
      }
      yield repackExpert(packed, ofExpert, data)
    }
  } finally {
    await scaleChunks.return(undefined)
  }
}

function repackExpert(
  packed: Uint8Array,
  scalesOfExpert: Uint8Array,
  { scales, picks }: Mxfp4Data,
): Uint8Array {
  const [, rows = 1, blocksOfRow = 1] = scales.shape
  const [first, step] = PICKS[picks]
  const target = new Uint8Array((rows / step) * blocksOfRow * BLOCK_BYTES)
  let at = 0
  for (let row = first; row < rows; row += step) {
    for (let block = row * blocksOfRow; block < (row + 1) * blocksOfRow; block++) {
      target[at] = scalesOfExpert[block] ?? 0
      repack(packed.subarray(block * PACKED_BYTES, (block + 1) * PACKED_BYTES), target, at + 1)
      at += BLOCK_BYTES
    }
  }
  return target
}

function repack(packed: Uint8Array, target: Uint8Array, at: number): void {
  for (let index = 0; index < HALF; index++) {
    target[at + index] = number4(packed, index) | (number4(packed, index + HALF) << 4)
  }
}

function number4(packed: Uint8Array, index: number): number {
  return ((packed[index >> 1] ?? 0) >> (4 * (index & 1))) & 0xf
}
