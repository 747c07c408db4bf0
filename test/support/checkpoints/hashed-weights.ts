/**
 * Weights that look random and are a function of a tensor's name alone, exact in F32, F16 and BF16: the same numbers
 * as `tools/checkpoints/weights.py` makes, so that no checkpoint has to be stored.
 */
function fnv1a(name: string): number {
  let value = 0x811c9dc5
  for (const byte of Buffer.from(name)) value = Math.imul(value ^ byte, 0x01000193)
  return value >>> 0
}

/** Whole numbers from -128 to 127. */
function hashed(seed: number, index: number): number {
  let h = (Math.imul(index, 0x9e3779b1) + seed) >>> 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b) >>> 0
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35) >>> 0
  return ((h ^ (h >>> 16)) >>> 24) - 128
}

/** `normsAround`: 1, or 0 where the architecture adds the one itself. */
export function hashedTensor(name: string, shape: readonly number[], normsAround: number): Float32Array {
  const seed = fnv1a(name)
  const count = shape.reduce((product, size) => product * size, 1)
  const toWeight = scaleOf(name, normsAround)
  return Float32Array.from({ length: count }, (_, index) => toWeight(hashed(seed, index)))
}

/** Of a tensor of bytes: blocks and scales of MXFP4; null for one of floats. */
export function hashedBytes(name: string, shape: readonly number[]): Uint8Array | null {
  const isScales = name.endsWith('_scales')
  if (!isScales && !name.endsWith('_blocks')) return null
  const seed = fnv1a(name)
  const count = shape.reduce((product, size) => product * size, 1)
  return Uint8Array.from({ length: count }, (_, index) => {
    const byte = hashed(seed, index) + 128
    return isScales ? 119 + (byte % 4) : byte
  })
}

function scaleOf(name: string, normsAround: number): (value: number) => number {
  if (name.endsWith('norm.weight')) return (value) => normsAround + Math.floor(value / 4) / 128
  if (name === 'model.embed_tokens.weight') return (value) => value / 64
  if (name === 'lm_head.weight') return (value) => value / 256
  // Large enough for the limit of gpt-oss's activation to matter.
  if (name.endsWith('gate_up_proj_bias')) return (value) => value / 16
  return (value) => value / 512
}
