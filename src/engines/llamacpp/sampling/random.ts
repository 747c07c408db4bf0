/**
 * The random numbers of sampling: sfc32, a small fast generator of 128 bits of state, one per sequence, so that a
 * sequence's draws depend on its own seed and on nothing that runs beside it. Not for secrets.
 */
import { randomInt } from 'node:crypto'

/** A generator of numbers in [0, 1) with 53 random bits. */
export type Random = () => number

/** Numbers that repeat with the same whole `seed`; null takes a random seed. */
export function createRandom(seed: number | null): Random {
  const chosen = BigInt(seed ?? randomInt(2 ** 47))
  let a = Number(BigInt.asIntN(32, chosen))
  let b = Number(BigInt.asIntN(32, chosen >> 32n))
  let c = 0x9e3779b9 | 0
  let counter = 1

  const nextInt = (): number => {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum
  }
  // Seeds that differ in one bit give unrelated numbers only after the state is stirred.
  for (let round = 0; round < 16; round++) nextInt()

  return () => ((nextInt() >>> 5) * 2 ** 26 + (nextInt() >>> 6)) / 2 ** 53
}
