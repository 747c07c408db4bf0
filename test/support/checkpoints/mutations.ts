/** Files damaged at random, the same way for the same seed: bytes of any file, and the numbers and names of JSON. */

export type Random = () => number

/** From 0 to below 1 (mulberry32). */
export function createRandom(seed: number): Random {
  let state = seed | 0
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

function pick<Item>(random: Random, items: readonly [Item, ...Item[]]): Item {
  return items[Math.floor(random() * items.length)] ?? items[0]
}

const LENGTHS = [
  0n,
  1n,
  7n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 53n,
  2n ** 60n,
  2n ** 63n,
  2n ** 64n - 1n,
] as const
const JSON_VALUES = [
  ...['-1', '0', '0.5', '1e308', '1e999', '9007199254740993', '1152921504606846976', '16777216', '4096'],
  ...['null', 'true', '""', '"x"', '[]', '{}', '[[[[]]]]', '"\\ud800"', '"../../etc/passwd"'],
] as const

/** Headers are where damage matters: half of it goes to the first bytes. */
function place(random: Random, size: number): number {
  const range = random() < 0.5 ? Math.min(size, 512) : size
  return Math.floor(random() * range)
}

const BYTE_MUTATIONS: readonly [...((bytes: Buffer, random: Random) => Buffer)[]] = [
  function flipBits(bytes, random) {
    const damaged = Buffer.from(bytes)
    for (let count = 1 + Math.floor(random() * 8); count > 0 && damaged.length > 0; count--) {
      const at = place(random, damaged.length)
      damaged[at] = (damaged[at] ?? 0) ^ (1 << Math.floor(random() * 8))
    }
    return damaged
  },
  function overwriteLength(bytes, random) {
    if (bytes.length < 8) return Buffer.alloc(0)
    const damaged = Buffer.from(bytes)
    const at = random() < 0.3 ? 0 : place(random, damaged.length - 7)
    damaged.writeBigUInt64LE(pick(random, LENGTHS), at)
    return damaged
  },
  function truncate(bytes, random) {
    return bytes.subarray(0, place(random, bytes.length))
  },
  function cutOut(bytes, random) {
    const at = place(random, bytes.length)
    return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1 + Math.floor(random() * 64))])
  },
  function repeat(bytes, random) {
    const at = place(random, bytes.length)
    const slice = bytes.subarray(at, at + 1 + Math.floor(random() * 64))
    return Buffer.concat([bytes.subarray(0, at), slice, slice, bytes.subarray(at)])
  },
  function append(bytes, random) {
    return Buffer.concat([bytes, Buffer.alloc(1 + Math.floor(random() * 64), Math.floor(random() * 256))])
  },
]

export function mutateBytes(bytes: Buffer, random: Random): Buffer {
  const [first = (same: Buffer) => same, ...others] = BYTE_MUTATIONS
  return pick(random, [first, ...others])(bytes, random)
}

const JSON_VALUE = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|true|false|null/g

/** Another value or name in the place of one or two. */
export function mutateJson(text: string, random: Random): string {
  let damaged = text
  for (let count = 1 + Math.floor(random() * 2); count > 0; count--) {
    const values = Array.from(damaged.matchAll(JSON_VALUE))
    const chosen = values[Math.floor(random() * values.length)]
    if (chosen === undefined) return damaged
    const other = values[Math.floor(random() * values.length)]?.[0] ?? '0'
    const value = random() < 0.3 ? other : pick(random, JSON_VALUES)
    damaged = damaged.slice(0, chosen.index) + value + damaged.slice(chosen.index + chosen[0].length)
  }
  return damaged
}

/** The header of a safetensors file as JSON, its length made to fit again. */
export function mutateSafetensorsHeader(bytes: Buffer, random: Random): Buffer {
  const end = 8 + Number(bytes.readBigUInt64LE(0))
  const header = Buffer.from(mutateJson(bytes.toString('utf8', 8, end), random))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  return Buffer.concat([length, header, bytes.subarray(end)])
}
