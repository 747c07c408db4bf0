/**
 * Opens a GGUF model: reads the headers of the file and of all its splits, and checks that llama.cpp can serve it. Reads
 * no tensor data.
 */
import { basename, dirname, join } from 'node:path'
import { badFile, fileError, quoted } from '../files/file-errors.ts'
import { EMBEDDING_ARCHITECTURES, TEXT_ARCHITECTURES } from './gguf-architectures.ts'
import { type GgufHeader, MoreBytesNeeded, parseGgufHeader } from './gguf-header.ts'
import type { GgufMetadata, GgufTensorInfo } from './gguf-format.ts'
import { openFile } from '../files/open-file.ts'

const FIRST_READ_BYTES = 4 * 2 ** 20
/** Headers are mostly vocabulary: 256k tokens with their merges make about 20 MB. */
const MAX_HEADER_BYTES = 64 * 2 ** 20
/** llama.cpp's LLAMA_MAX_LAYERS; it ends its process at more, or at none. */
const MAX_LAYERS = 512
const SPLIT_NAME = /^(?<prefix>.+)-(?<number>\d{5})-of-(?<count>\d{5})\.gguf$/

/** A model that llama.cpp can serve, known from its headers. */
export interface GgufModel {
  /** The path that llama.cpp opens: the file, or the first of its splits. */
  readonly path: string
  /** All files, in order. */
  readonly filePaths: readonly string[]
  /** Of all files together. */
  readonly sizeBytes: number
  readonly architecture: string
  readonly metadata: GgufMetadata
  /** Of all files together. */
  readonly tensors: readonly GgufTensorInfo[]
}

/** @throws StartError when a file is missing, damaged, or no model that generates text or makes embeddings. */
export async function openGgufModel(path: string): Promise<GgufModel> {
  const firstPath = splitPath(path, 1) ?? path
  const first = await readGgufFile(firstPath)
  const count = numberValue(first.header.metadata, 'split.count') ?? 1
  return joinSplits([first, ...(count > 1 ? await readOtherSplits(firstPath, count) : [])])
}

/** The model of a file, or of all its splits in order. @throws StartError as `openGgufModel`. */
export function joinSplits(files: readonly [GgufFile, ...GgufFile[]]): GgufModel {
  const tensors = files.flatMap(({ header }) => header.tensors)
  if (files.length > 1) checkSplits(files, tensors.length)
  const [{ path: firstPath, header }] = files
  const { metadata } = header
  return {
    path: firstPath,
    filePaths: files.map((file) => file.path),
    sizeBytes: files.reduce((sum, file) => sum + file.sizeBytes, 0),
    architecture: checkServable(firstPath, metadata, tensors.length),
    metadata,
    tensors,
  }
}

export interface GgufFile {
  readonly path: string
  readonly sizeBytes: number
  readonly header: GgufHeader
}

/** Reads and checks one file's header. */
export async function readGgufFile(path: string): Promise<GgufFile> {
  try {
    await using handle = await openFile(path)
    const { size } = await handle.stat()
    const read = async (count: number) => {
      const bytes = Buffer.alloc(count)
      const { bytesRead } = await handle.read(bytes, 0, count, 0)
      return bytes.subarray(0, bytesRead)
    }
    return await readGgufHeader({ path, sizeBytes: size, read })
  } catch (error) {
    throw fileError('read', path, error)
  }
}

interface HeaderBytes {
  readonly path: string
  /** Of the whole file. */
  readonly sizeBytes: number
  /** Its first bytes. */
  readonly read: (count: number) => Promise<Buffer>
}

/** Reads as much of a file as its header needs. @throws StartError */
export async function readGgufHeader({ path, sizeBytes, read }: HeaderBytes): Promise<GgufFile> {
  for (let wanted = FIRST_READ_BYTES; ;) {
    const count = Math.min(wanted, sizeBytes)
    const bytes = await read(count)
    const parsed = parseOrGrow({ path, bytes, fileSizeBytes: sizeBytes })
    if ('header' in parsed) return { path, sizeBytes, header: parsed.header }
    // Or it would be asked for again and again.
    if (bytes.length < count) throw badFile(path, 'became shorter while it was read')
    wanted = Math.max(parsed.neededBytes, wanted * 4)
  }
}

function parseOrGrow(
  source: Parameters<typeof parseGgufHeader>[0],
): { header: GgufHeader } | { neededBytes: number } {
  try {
    return { header: parseGgufHeader(source) }
  } catch (error) {
    if (!(error instanceof MoreBytesNeeded)) throw error
    if (error.neededBytes > MAX_HEADER_BYTES) {
      throw badFile(source.path, `is corrupted: its header is longer than ${MAX_HEADER_BYTES} bytes`)
    }
    return { neededBytes: error.neededBytes }
  }
}

/** The path of another split of the same model; null when the name is not that of a split. */
function splitPath(path: string, number: number): string | null {
  const { prefix, count } = SPLIT_NAME.exec(basename(path))?.groups ?? {}
  if (prefix === undefined || count === undefined) return null
  return join(dirname(path), `${prefix}-${String(number).padStart(5, '0')}-of-${count}.gguf`)
}

async function readOtherSplits(firstPath: string, count: number): Promise<GgufFile[]> {
  const namedCount = Number(SPLIT_NAME.exec(basename(firstPath))?.groups?.['count'])
  if (namedCount !== count) {
    throw badFile(
      firstPath,
      `is one of ${count} splits; its name must end in -00001-of-${String(count).padStart(5, '0')}.gguf`,
    )
  }
  const files: GgufFile[] = []
  for (let number = 2; number <= count; number++) {
    const path = splitPath(firstPath, number)
    if (path !== null) files.push(await readGgufFile(path))
  }
  return files
}

function checkSplits(files: readonly GgufFile[], tensorCount: number): void {
  for (const [index, { path, header }] of files.entries()) {
    const number = numberValue(header.metadata, 'split.no')
    if (number !== index)
      throw badFile(path, `is split ${number ?? 'without a number'} by its header, not ${index}`)
  }
  const [first] = files
  if (first === undefined) return
  const expected = numberValue(first.header.metadata, 'split.tensors.count')
  if (expected !== null && expected !== tensorCount) {
    throw badFile(
      first.path,
      `and its splits hold ${tensorCount} tensors together, but should hold ${expected}`,
    )
  }
}

function checkServable(path: string, metadata: GgufMetadata, tensorCount: number): string {
  const architecture = metadata.get('general.architecture')
  if (architecture?.type !== 'string')
    throw badFile(path, 'is a GGUF file but no model: it names no architecture')
  if (!TEXT_ARCHITECTURES.has(architecture.value) && !EMBEDDING_ARCHITECTURES.has(architecture.value)) {
    throw badFile(
      path,
      `has the architecture ${quoted(architecture.value)}, with which llama.cpp generates no text`,
    )
  }
  const type = metadata.get('general.type')
  if (type?.type === 'string' && type.value === 'adapter') {
    throw badFile(
      path,
      'is a LoRA adapter, not a model: register it beside its base model, with "base" and "adapter" in the place of "checkpoint"',
    )
  }
  if (tensorCount === 0) throw badFile(path, 'holds no weights')
  if (
    metadata.get('tokenizer.ggml.model')?.type !== 'string' ||
    metadata.get('tokenizer.ggml.tokens')?.type !== 'array'
  ) {
    throw badFile(path, 'has no tokenizer inside')
  }
  const layers = numberValue(metadata, `${architecture.value}.block_count`)
  if (layers !== null && !(layers >= 1 && layers <= MAX_LAYERS))
    throw badFile(path, `is not usable: it names ${layers} layers; llama.cpp computes 1 to ${MAX_LAYERS}`)
  return architecture.value
}

/** A whole number of the metadata, whatever its width; null when it is missing or of another type. */
export function numberValue(metadata: GgufMetadata, key: string): number | null {
  const value = metadata.get(key)
  if (value === undefined || value.type === 'array' || value.type === 'string' || value.type === 'bool')
    return null
  return Number(value.value)
}

/** The same of a list of numbers, each of them. */
export function numbersValue(metadata: GgufMetadata, key: string): number | readonly number[] | null {
  const value = metadata.get(key)
  if (value?.type !== 'array') return numberValue(metadata, key)
  if (value.itemType === 'string' || value.itemType === 'bool') return null
  return Array.from<number | bigint, number>(value.items, Number)
}
