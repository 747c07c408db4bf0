/**
 * The rows of whole heads of Q or K, reordered; `headRows` is even.
 *
 *   Hugging Face rotates row i with row i + half:     a0 a1 a2 b0 b1 b2
 *   llama.cpp rotates row 2i with row 2i + 1:         a0 b0 a1 b1 a2 b2
 */
export function interleaveHeadRows(source: Uint8Array, headRows: number, rowBytes: number): Uint8Array {
  const target = new Uint8Array(source.length)
  const headBytes = headRows * rowBytes
  for (let head = 0; head < source.length; head += headBytes) {
    for (let row = 0; row < headRows; row++) {
      const begin = head + ((row % 2) * (headRows / 2) + Math.floor(row / 2)) * rowBytes
      target.set(source.subarray(begin, begin + rowBytes), head + row * rowBytes)
    }
  }
  return target
}
