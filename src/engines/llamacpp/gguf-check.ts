/**
 * Looks at a model file before llama.cpp loads it, so that the common faults are reported in one sentence each:
 * missing, not a model, damaged, cut off. Reads the header only.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs'
import {
  type CasedPreTokenizer,
  isCased,
  TOKENIZER_KEYS,
} from '../../checkpoints/tokenizers/tokenizer-keys.ts'
import { kvElementsPerToken } from '../../checkpoints/memory/kv-elements.ts'
import { StartError } from '../../core/errors.ts'
import { ADD_BOS_KEY, PRE_TOKENIZER_KEY } from './tokenizing/tokenizer-choice.ts'
import { type Bindings, viewInt32, viewInt8 } from './ffi/bindings.ts'
import type { Pointer } from './ffi/structs.ts'
import { LONG_FACTORS, type RopeContexts, ropeContextKeys } from './rope-factors.ts'

const MAGIC = 'GGUF'
const UINT32_TYPE = 4
const BOOL_TYPE = 7
const STRING_TYPE = 8
const ARRAY_TYPE = 9
/** Unsigned and signed ones. */
const BYTE_TYPES: readonly number[] = [0, 1]
/** The same of four bytes, which llama.cpp takes for sizes. */
const WORD_TYPES: readonly number[] = [UINT32_TYPE, 5]
const CHARACTER_MAP_KEY = 'tokenizer.ggml.precompiled_charsmap'
const SPLIT_NAME = /-00001-of-(\d{5})\.gguf$/

export interface GgufSummary {
  readonly architecture: string
  /** Of all files of a split. */
  readonly fileBytes: number
  /** Of a Unigram tokenizer; null without one. */
  readonly characterMap: Uint8Array | null
  /** Whether a text that begins with neither a space nor an added token gets a space in front. */
  readonly putsSpaceAtStart: boolean
  /** The pre-tokenizer whose words our engine cuts; null for others. */
  readonly casedWords: CasedPreTokenizer | null
  /** Whether it says that a text begins with a token of its own, or that it does not. */
  readonly saysBos: boolean
  /** Of two sets of rotary factors; null for other models. */
  readonly ropeContexts: RopeContexts | null
  /** Elements of KV cache per token of a sequence, all layers. */
  readonly kvElementsPerToken: number
}

/** @throws StartError saying what is wrong with the file. */
export function checkGguf(api: Bindings, modelPath: string): GgufSummary {
  const firstBytes = fileBytes(modelPath)
  if (readMagic(modelPath) !== MAGIC) throw new StartError(`'${modelPath}' is not a GGUF model file.`, 1)
  const header = api.ggufInitFromFile(modelPath, { no_alloc: true, ctx: null })
  if (header === null) {
    throw new StartError(`'${modelPath}' is damaged or cut off: its GGUF header cannot be read.`, 1)
  }
  try {
    const neededBytes = endOfTensors(api, header)
    if (neededBytes > firstBytes) {
      throw new StartError(
        `'${modelPath}' is cut off: its tensors end at byte ${neededBytes}, but the file has ${firstBytes} bytes.`,
        1,
      )
    }
    const architecture = readArchitecture(api, header, modelPath)
    return {
      architecture,
      fileBytes: splitBytes(modelPath, firstBytes),
      characterMap: readCharacterMap(api, header, modelPath),
      casedWords: readCasedWords(api, header),
      saysBos: api.ggufFindKey(header, ADD_BOS_KEY) >= 0,
      ropeContexts: readRopeContexts(api, header, architecture),
      putsSpaceAtStart: readFlag(api, header, TOKENIZER_KEYS.spaceAtStart),
      kvElementsPerToken: kvElementsPerToken((name) => readNumbers(api, header, `${architecture}.${name}`)),
    }
  } finally {
    api.ggufFree(header)
  }
}

function fileBytes(path: string): number {
  let stats
  try {
    stats = statSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      throw new StartError(`The model file '${path}' does not exist.`, 1)
    }
    throw new StartError(`The model file '${path}' cannot be read: ${(error as Error).message}`, 1)
  }
  if (!stats.isFile()) throw new StartError(`'${path}' is not a file.`, 1)
  return stats.size
}

function readMagic(path: string): string {
  let file
  try {
    file = openSync(path, 'r')
  } catch (error) {
    throw new StartError(`The model file '${path}' cannot be read: ${(error as Error).message}`, 1)
  }
  try {
    const bytes = Buffer.alloc(MAGIC.length)
    readSync(file, bytes, 0, bytes.length, 0)
    return bytes.toString('latin1')
  } finally {
    closeSync(file)
  }
}

function endOfTensors(api: Bindings, header: Pointer): number {
  const dataOffset = api.ggufDataOffset(header)
  let end = 0
  for (let i = 0; i < api.ggufTensors(header); i++) {
    end = Math.max(end, dataOffset + api.ggufTensorOffset(header, i) + api.ggufTensorBytes(header, i))
  }
  return end
}

function readArchitecture(api: Bindings, header: Pointer, modelPath: string): string {
  const key = api.ggufFindKey(header, 'general.architecture')
  if (key < 0 || api.ggufKeyType(header, key) !== STRING_TYPE) {
    throw new StartError(`'${modelPath}' is not a model: its GGUF header names no architecture.`, 1)
  }
  return api.ggufString(header, key)
}

function readCharacterMap(api: Bindings, header: Pointer, modelPath: string): Uint8Array | null {
  const key = api.ggufFindKey(header, CHARACTER_MAP_KEY)
  if (key < 0) return null
  const isBytes =
    api.ggufKeyType(header, key) === ARRAY_TYPE && BYTE_TYPES.includes(api.ggufArrayType(header, key))
  const length = isBytes ? api.ggufArrayLength(header, key) : 0
  // The length of the trie comes first.
  const bytes = length < 4 ? null : Uint8Array.from(viewInt8(api.ggufArray(header, key), length))
  const trieBytes = bytes === null ? 0 : new DataView(bytes.buffer).getUint32(0, true)
  if (bytes !== null && trieBytes % 4 === 0 && trieBytes + 4 < length) return bytes
  throw new StartError(`'${modelPath}' is damaged: ${CHARACTER_MAP_KEY} is no character map.`, 1)
}

function readCasedWords(api: Bindings, header: Pointer): CasedPreTokenizer | null {
  const key = api.ggufFindKey(header, PRE_TOKENIZER_KEY)
  if (key < 0 || api.ggufKeyType(header, key) !== STRING_TYPE) return null
  const pre = api.ggufString(header, key)
  return isCased(pre) ? pre : null
}

function readRopeContexts(api: Bindings, header: Pointer, architecture: string): RopeContexts | null {
  if (api.ggufFindTensor(header, LONG_FACTORS) < 0) return null
  const { original, trained } = ropeContextKeys(architecture)
  return {
    original: [original, readNumber(api, header, original)],
    trained: [trained, readNumber(api, header, trained)],
  }
}

function readNumber(api: Bindings, header: Pointer, name: string): number | null {
  const key = api.ggufFindKey(header, name)
  if (key < 0 || api.ggufKeyType(header, key) !== UINT32_TYPE) return null
  return api.ggufUint32(header, key)
}

/** Also of a list: a number for each layer. */
function readNumbers(api: Bindings, header: Pointer, name: string): number | readonly number[] | null {
  const key = api.ggufFindKey(header, name)
  if (key < 0 || api.ggufKeyType(header, key) !== ARRAY_TYPE) return readNumber(api, header, name)
  if (!WORD_TYPES.includes(api.ggufArrayType(header, key))) return null
  return Array.from(viewInt32(api.ggufArray(header, key), api.ggufArrayLength(header, key)))
}

function readFlag(api: Bindings, header: Pointer, name: string): boolean {
  const key = api.ggufFindKey(header, name)
  return key >= 0 && api.ggufKeyType(header, key) === BOOL_TYPE && api.ggufBool(header, key)
}

function splitBytes(modelPath: string, firstBytes: number): number {
  const files = Number(SPLIT_NAME.exec(modelPath)?.[1] ?? 1)
  let sum = firstBytes
  for (let i = 2; i <= files; i++) {
    sum += fileBytes(modelPath.replace('-00001-of-', `-${String(i).padStart(5, '0')}-of-`))
  }
  return sum
}
