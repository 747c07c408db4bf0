/** Reorders the numbers of experts' matrices, which some checkpoints store with rows and columns exchanged. Pure, on bytes. */
import type { RowPick } from '../architectures/architecture-plan.ts'

interface StoredMatrix {
  /** As stored. */
  readonly columns: number
  /** Of one number: 2 or 4. */
  readonly numberBytes: number
  /** Of the rows that its columns become. */
  readonly picks: RowPick
}

/** Where picking begins, and in what steps it goes on. */
export const PICKS: Readonly<Record<RowPick, readonly [first: number, step: number]>> = {
  all: [0, 1],
  even: [0, 2],
  odd: [1, 2],
}

/** The columns of one matrix as rows. */
export function transposeMatrix(
  bytes: Uint8Array,
  { columns, numberBytes, picks }: StoredMatrix,
): Uint8Array {
  const source = numbersOf(bytes, numberBytes)
  const [first, step] = PICKS[picks]
  const rows = source.length / columns
  const target = numbersOf(new Uint8Array(bytes.length / step), numberBytes)
  let at = 0
  for (let column = first; column < columns; column += step) {
    for (let row = 0; row < rows; row++) target[at++] = source[row * columns + column] ?? 0
  }
  return new Uint8Array(target.buffer)
}

/** Every other number; rows are even in length. */
export function pickNumbers(
  bytes: Uint8Array,
  numberBytes: number,
  picks: Exclude<RowPick, 'all'>,
): Uint8Array {
  const [first, step] = PICKS[picks]
  const target = numbersOf(bytes, numberBytes).filter((_, index) => index % step === first)
  return new Uint8Array(target.buffer)
}

function numbersOf(
  { buffer, byteOffset, length }: Uint8Array,
  numberBytes: number,
): Uint16Array | Uint32Array {
  return numberBytes === 2
    ? new Uint16Array(buffer, byteOffset, length / 2)
    : new Uint32Array(buffer, byteOffset, length / 4)
}
