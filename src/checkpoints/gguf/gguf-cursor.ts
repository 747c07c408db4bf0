/**
 * Reads the primitive values of a GGUF header from bytes that may be only the beginning of the file. Every length
 * is checked against the file's size before anything is read or allocated, so a corrupted one costs nothing.
 * Running past the bytes at hand throws `MoreBytesNeeded`; running past the file is a truncated file.
 */
import { badFile } from '../file-errors.ts'
import type { Texts } from './gguf-format.ts'

/** The header goes on behind the bytes that were given; for the reader of the file only. */
export class MoreBytesNeeded extends Error {
  readonly neededBytes: number

  constructor(neededBytes: number) {
    super(`${neededBytes} bytes are needed`)
    this.neededBytes = neededBytes
  }
}

export interface HeaderSource {
  readonly path: string
  /** The first bytes of the file. */
  readonly bytes: Buffer
  readonly fileSizeBytes: number
}

export class GgufCursor {
  readonly #source: HeaderSource
  #offset = 0

  constructor(source: HeaderSource) {
    this.#source = source
  }

  get offset(): number {
    return this.#offset
  }

  /** Throws unless `size` more bytes are in the file and at hand; returns where they start. */
  take(size: number): number {
    const start = this.#offset
    const end = start + size
    if (end > this.#source.fileSizeBytes) {
      throw badFile(
        this.#source.path,
        `is truncated or corrupted: its header goes on to byte ${end}, but the file has ${this.#source.fileSizeBytes}`,
      )
    }
    if (end > this.#source.bytes.length) throw new MoreBytesNeeded(end)
    this.#offset = end
    return start
  }

  uint8(): number {
    return this.#source.bytes.readUInt8(this.take(1))
  }
  int8(): number {
    return this.#source.bytes.readInt8(this.take(1))
  }
  uint16(): number {
    return this.#source.bytes.readUInt16LE(this.take(2))
  }
  int16(): number {
    return this.#source.bytes.readInt16LE(this.take(2))
  }
  uint32(): number {
    return this.#source.bytes.readUInt32LE(this.take(4))
  }
  int32(): number {
    return this.#source.bytes.readInt32LE(this.take(4))
  }
  float32(): number {
    return this.#source.bytes.readFloatLE(this.take(4))
  }
  float64(): number {
    return this.#source.bytes.readDoubleLE(this.take(8))
  }
  uint64(): bigint {
    return this.#source.bytes.readBigUInt64LE(this.take(8))
  }
  int64(): bigint {
    return this.#source.bytes.readBigInt64LE(this.take(8))
  }

  /** A count or a size; what does not fit a double exactly cannot be in a file. */
  size(): number {
    const start = this.take(8)
    const { bytes } = this.#source
    // Two halves, since a vocabulary has hundreds of thousands of these, and big integers are slow.
    const value = bytes.readUInt32LE(start) + bytes.readUInt32LE(start + 4) * 2 ** 32
    return Math.min(value, Number.MAX_SAFE_INTEGER)
  }

  string(): string {
    const size = this.size()
    const start = this.take(size)
    return this.#source.bytes.toString('utf8', start, start + size)
  }

  /** Checked to lie within the bytes at hand; decoded whenever they are gone through. */
  texts(count: number): Texts {
    const start = this.#offset
    for (let index = 0; index < count; index++) this.take(this.size())
    const source = { ...this.#source, bytes: this.#source.bytes.subarray(0, this.#offset) }
    return {
      length: count,
      *[Symbol.iterator]() {
        const cursor = new GgufCursor(source)
        cursor.take(start)
        for (let index = 0; index < count; index++) yield cursor.string()
      },
    }
  }

  /** A copy of the next bytes, aligned for any typed array. */
  copy(size: number): ArrayBuffer {
    const start = this.take(size)
    const copied = new ArrayBuffer(size)
    new Uint8Array(copied).set(this.#source.bytes.subarray(start, start + size))
    return copied
  }
}
