/**
 * The file of one stored copy: what a slot held, with the tokens that it was computed from.
 *
 *   magic | length of the head | head: JSON | tokens: 4 bytes each | state: llama.cpp's bytes | SHA-256 of all before
 *
 * The start reads head and tokens; the state is read, and the whole file checked, when a prompt wants it.
 */
import { createHash, type Hash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { isRecord } from '../../../checkpoints/files/json-file.ts'
import type { StoredCopy } from '../../../protocol/model-runner.ts'

const MAGIC = Buffer.from('SLUICEKV')
const FIXED_BYTES = MAGIC.length + 4
const TOKEN_BYTES = 4
const DIGEST_BYTES = 32
/** Far more than a head has. */
const MAX_HEAD_BYTES = 65_536
/** The event loop stands still while so much of a state is hashed: some milliseconds. */
const CHUNK_BYTES = 4 * 1024 * 1024

/** A copy in a file; `bytes` are those of the state. */
export interface CopyHead extends StoredCopy {
  readonly cachedTokenIds: Int32Array
  /** Of the model's shape: the state means nothing to another. */
  readonly shape: string
  readonly usedUnixMs: number
}

/** Writes a new file that only this user may read. */
export async function writeCopyFile(path: string, head: CopyHead, state: Uint8Array): Promise<void> {
  await using handle = await open(path, 'wx', 0o600)
  const hash = createHash('sha256')
  for (const part of [encodeHead(head), bytesOf(head.cachedTokenIds), state]) {
    for (let offset = 0; offset < part.length; offset += CHUNK_BYTES)
      await write(handle, hash, part.subarray(offset, offset + CHUNK_BYTES))
  }
  await handle.write(hash.digest())
}

/** Null for a file that is no whole copy. @throws what the system says */
export function readCopyHead(path: string): CopyHead | null {
  const file = openSync(path, 'r')
  try {
    const fixed = readExactly(file, FIXED_BYTES, 0)
    if (fixed === null || !fixed.subarray(0, MAGIC.length).equals(MAGIC)) return null
    const headBytes = fixed.readUInt32LE(MAGIC.length)
    const text = headBytes > MAX_HEAD_BYTES ? null : readExactly(file, headBytes, FIXED_BYTES)
    const head = text === null ? null : parseHead(text.toString())
    if (head === null) return null
    const { tokens, ...rest } = head
    const tokensAt = FIXED_BYTES + headBytes
    if (fstatSync(file).size !== tokensAt + tokens * TOKEN_BYTES + head.bytes + DIGEST_BYTES) return null
    const ids = readExactly(file, tokens * TOKEN_BYTES, tokensAt)
    if (ids === null) return null
    return { ...rest, cachedTokenIds: new Int32Array(Uint8Array.from(ids).buffer) }
  } finally {
    closeSync(file)
  }
}

/** Reads the state of the copy with this head into `target`; false where the file is not what was written. @throws what the system says */
export async function readCopyState(path: string, head: CopyHead, target: Uint8Array): Promise<boolean> {
  await using handle = await open(path, 'r')
  const hash = createHash('sha256')
  const before = Buffer.concat([encodeHead(head), bytesOf(head.cachedTokenIds)])
  hash.update(before)
  let position = before.length
  for (let offset = 0; offset < target.length;) {
    const { bytesRead } = await handle.read(
      target,
      offset,
      Math.min(CHUNK_BYTES, target.length - offset),
      position,
    )
    if (bytesRead === 0) return false
    hash.update(target.subarray(offset, offset + bytesRead))
    offset += bytesRead
    position += bytesRead
  }
  const digest = Buffer.alloc(DIGEST_BYTES)
  const { bytesRead } = await handle.read(digest, 0, DIGEST_BYTES, position)
  return bytesRead === DIGEST_BYTES && digest.equals(hash.digest())
}

/** The same bytes for the same head, so that they need not be read again to be checked. */
function encodeHead({ shape, accountId, leastCut, bytes, usedUnixMs, cachedTokenIds }: CopyHead): Buffer {
  const head = { shape, accountId, leastCut, bytes, usedUnixMs, tokens: cachedTokenIds.length }
  const text = Buffer.from(JSON.stringify(head))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  return Buffer.concat([MAGIC, length, text])
}

function parseHead(text: string): (Omit<CopyHead, 'cachedTokenIds'> & { readonly tokens: number }) | null {
  const head = parseJson(text)
  if (!isRecord(head)) return null
  const { shape, accountId, leastCut, bytes, usedUnixMs, tokens } = head
  const isHead = typeof shape === 'string' && typeof accountId === 'string'
  if (!isHead || !isCount(leastCut) || !isCount(bytes) || !isCount(usedUnixMs) || !isCount(tokens))
    return null
  return leastCut > tokens ? null : { shape, accountId, leastCut, bytes, usedUnixMs, tokens }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

async function write(handle: FileHandle, hash: Hash, chunk: Uint8Array): Promise<void> {
  hash.update(chunk)
  for (let offset = 0; offset < chunk.length;) offset += (await handle.write(chunk, offset)).bytesWritten
}

function bytesOf({ buffer, byteOffset, byteLength }: Int32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength)
}

function readExactly(file: number, bytes: number, position: number): Buffer | null {
  const buffer = Buffer.alloc(bytes)
  return readSync(file, buffer, 0, bytes, position) === bytes ? buffer : null
}
