/**
 * Whether an artifact still holds what was made, by the CRC-32 in its manifest: it runs at several gigabytes per second, so
 * that reading the file is what takes the time. It protects against disks, not against people. A run compares an artifact
 * once; what it has made itself it does not compare.
 */
import { basename } from 'node:path'
import { crc32 } from 'node:zlib'
import { badFile } from '../files/file-errors.ts'
import { isFile } from '../files/json-file.ts'
import { checkFile, readFileChunks } from '../files/open-file.ts'
import { ARTIFACT_NAME, type Fingerprint, readFingerprint } from './artifact-manifest.ts'
import { fileIdentity } from './content-hash.ts'

const CHUNK_BYTES = 4 * 2 ** 20

/** By path: what this process has made or compared. */
const intact = new Map<string, Fingerprint>()

interface FindOptions {
  /** False where the file only becomes part of a key: then it is enough that nothing seems to have written to it. */
  readonly isOpened: boolean
  readonly signal: AbortSignal | undefined
}

/** Null where there is no artifact, one without a checksum, or one that was damaged. */
export async function findIntact(
  path: string,
  { isOpened, signal }: FindOptions,
): Promise<Fingerprint | null> {
  if (!(await isFile(path))) return null
  const identity = await fileIdentity(path)
  const known = intact.get(path)
  if (known?.identity === identity) return known
  const recorded = await readFingerprint(path)
  if (recorded === null) return null
  if (!isOpened && recorded.identity === identity) return recorded
  if ((await checksumOf(path, signal)) !== recorded.checksum) return null
  const fingerprint = { identity, checksum: recorded.checksum }
  intact.set(path, fingerprint)
  return fingerprint
}

/** Of a file that has just been made. */
export async function recordMade(path: string, checksum: string): Promise<Fingerprint> {
  const fingerprint = { identity: await fileIdentity(path), checksum }
  intact.set(path, fingerprint)
  return fingerprint
}

/** @throws StartError for an artifact that was damaged; every other file passes. */
export async function requireIntact(path: string, signal: AbortSignal | undefined): Promise<void> {
  if (!ARTIFACT_NAME.test(basename(path)) || (await findIntact(path, { isOpened: true, signal })) !== null)
    return
  throw badFile(path, 'was damaged on the disk; remove it, and it is made again')
}

/** @throws StartError when the file cannot be read; the signal's reason when it aborts. */
export async function checksumOf(path: string, signal: AbortSignal | undefined): Promise<string> {
  const range = { filePath: path, offsetBytes: 0, sizeBytes: await checkFile(path) }
  let crc = 0
  for await (const chunk of readFileChunks(range, CHUNK_BYTES)) {
    signal?.throwIfAborted()
    crc = crc32(chunk, crc)
  }
  return `crc32:${crc.toString(16).padStart(8, '0')}`
}
