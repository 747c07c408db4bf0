/**
 * Reads the primitive values of a GGUF header from bytes that may be only the beginning of the file. Every length
 * is checked against the file's size before anything is read or allocated, so a corrupted one costs nothing.
 * Running past the bytes at hand throws `MoreBytesNeeded`; running past the file is a truncated file.
 */
import { badFile } from '../file-errors.ts'
import { GGUF_NUMBERS, type Texts } from './gguf-format.ts'

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
  readonly #view: DataView
  #offset = 0

  constructor(source: HeaderSource) {
    this.#source = source
    const { buffer, byteOffset, byteLength } = source.bytes
    this.#view = new DataView(buffer, byteOffset, byteLength)
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

  number(type: keyof typeof GGUF_NUMBERS): number | bigint {
    const { read, List } = GGUF_NUMBERS[type]
    return read(this.#view, this.take(List.BYTES_PER_ELEMENT))
  }

  uint32(): number {
    return this.#view.getUint32(this.take(4), true)
  }

  /** A count or a size; what does not fit a double exactly cannot be in a file. */
  size(): number {
    const start = this.take(8)
    // Two halves, since a vocabulary has hundreds of thousands of these, and big integers are slow.
    const value = this.#view.getUint32(start, true) + this.#view.getUint32(start + 4, true) * 2 ** 32
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
