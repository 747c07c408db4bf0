/**
 * The order of rows within an attention head of Q and K.
 *
 *   Hugging Face rotates row i with row i + half:     a0 a1 a2 b0 b1 b2
 *   llama.cpp rotates row 2i with row 2i + 1:         a0 b0 a1 b1 a2 b2
 */
export interface HeadRows {
  /** Rows of one head; even. */
  readonly headRows: number
  readonly rowBytes: number
}

/** Copies whole heads from `source` to `target`, halves interleaved. */
export function interleaveHeadRows(
  source: Uint8Array,
  target: Uint8Array,
  { headRows, rowBytes }: HeadRows,
): void {
  const half = headRows / 2
  const headBytes = headRows * rowBytes
  for (let head = 0; head < source.length; head += headBytes) {
    for (let row = 0; row < headRows; row++) {
      const sourceRow = (row % 2) * half + Math.floor(row / 2)
      const begin = head + sourceRow * rowBytes
      target.set(source.subarray(begin, begin + rowBytes), head + row * rowBytes)
    }
  }
}
