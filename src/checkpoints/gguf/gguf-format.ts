/**
 * The GGUF format as the pinned llama.cpp reads it: value types, tensor types with their block sizes, and the plain data
 * that readers and writers exchange. Touches no file.
 */
export const GGUF_MAGIC = 0x4655_4747 // "GGUF", little-endian
export const GGUF_VERSION = 3
export const GGUF_DEFAULT_ALIGNMENT = 32

/** In the order of their numbers in the file. */
export const GGUF_VALUE_TYPES = [
  'uint8',
  'int8',
  'uint16',
  'int16',
  'uint32',
  'int32',
  'float32',
  'bool',
  'string',
  'array',
  'uint64',
  'int64',
  'float64',
] as const

export type GgufValueType = (typeof GGUF_VALUE_TYPES)[number]
type GgufNumberType = Exclude<GgufValueType, 'bool' | 'string' | 'array' | GgufBigintType>
type GgufBigintType = 'uint64' | 'int64'

interface NumberRow {
  readonly read: (view: DataView, at: number) => number | bigint
  readonly write: (view: DataView, at: number, value: never) => void
  /** What a list of them is kept in. */
  readonly List: { readonly BYTES_PER_ELEMENT: number; new (buffer: ArrayBuffer): NumberArray | BigintArray }
}

const numbers = (name: NumberName, List: NumberRow['List']): NumberRow => ({
  read: (view, at) => view[`get${name}`](at, true),
  write: (view, at, value) => view[`set${name}`](at, value, true),
  List,
})

/** How each type of number is read, written and packed. */
export const GGUF_NUMBERS: Readonly<Record<GgufNumberType | GgufBigintType, NumberRow>> = {
  uint8: numbers('Uint8', Uint8Array),
  int8: numbers('Int8', Int8Array),
  uint16: numbers('Uint16', Uint16Array),
  int16: numbers('Int16', Int16Array),
  uint32: numbers('Uint32', Uint32Array),
  int32: numbers('Int32', Int32Array),
  float32: numbers('Float32', Float32Array),
  float64: numbers('Float64', Float64Array),
  uint64: numbers('BigUint64', BigUint64Array),
  int64: numbers('BigInt64', BigInt64Array),
}

export type GgufScalar =
  | { readonly type: GgufNumberType; readonly value: number }
  | { readonly type: GgufBigintType; readonly value: bigint }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }

export type GgufArray =
  | {
      readonly type: 'array'
      readonly itemType: GgufNumberType
      readonly items: readonly number[] | NumberArray
    }
  | {
      readonly type: 'array'
      readonly itemType: GgufBigintType
      readonly items: readonly bigint[] | BigintArray
    }
  | { readonly type: 'array'; readonly itemType: 'bool'; readonly items: readonly boolean[] | Uint8Array }
  | { readonly type: 'array'; readonly itemType: 'string'; readonly items: Texts }

/** A list of strings, or what reads them one by one: a vocabulary is long, and mostly only counted. */
export type Texts = Iterable<string> & { readonly length: number }

type NameOfGetter<Method> = Method extends `get${infer Name}` ? Name : never
type NumberName = NameOfGetter<keyof DataView>

/** Numbers stay packed: a vocabulary's scores and types are long. */
type NumberArray = Exclude<NodeJS.TypedArray, BigintArray | Uint8ClampedArray>
type BigintArray = BigUint64Array | BigInt64Array

export type GgufValue = GgufScalar | GgufArray
export type GgufMetadata = ReadonlyMap<string, GgufValue>

export interface GgufTensor {
  readonly name: string
  /** ggml's order: the fastest-running dimension first, the reverse of PyTorch's. */
  readonly shape: readonly number[]
  readonly type: GgmlType
}

export interface GgufTensorInfo extends GgufTensor {
  /** From the start of the data section. */
  readonly offsetBytes: number
  readonly sizeBytes: number
}

interface GgmlTypeRow {
  /** Its number in the file. */
  readonly id: number
  readonly blockElements: number
  readonly blockBytes: number
}

const row = (id: number, blockElements: number, blockBytes: number): GgmlTypeRow => ({
  id,
  blockElements,
  blockBytes,
})

export const GGML_TYPES = {
  F32: row(0, 1, 4),
  F16: row(1, 1, 2),
  Q4_0: row(2, 32, 18),
  Q4_1: row(3, 32, 20),
  Q5_0: row(6, 32, 22),
  Q5_1: row(7, 32, 24),
  Q8_0: row(8, 32, 34),
  Q8_1: row(9, 32, 36),
  Q2_K: row(10, 256, 84),
  Q3_K: row(11, 256, 110),
  Q4_K: row(12, 256, 144),
  Q5_K: row(13, 256, 176),
  Q6_K: row(14, 256, 210),
  Q8_K: row(15, 256, 292),
  IQ2_XXS: row(16, 256, 66),
  IQ2_XS: row(17, 256, 74),
  IQ3_XXS: row(18, 256, 98),
  IQ1_S: row(19, 256, 50),
  IQ4_NL: row(20, 32, 18),
  IQ3_S: row(21, 256, 110),
  IQ2_S: row(22, 256, 82),
  IQ4_XS: row(23, 256, 136),
  I8: row(24, 1, 1),
  I16: row(25, 1, 2),
  I32: row(26, 1, 4),
  I64: row(27, 1, 8),
  F64: row(28, 1, 8),
  IQ1_M: row(29, 256, 56),
  BF16: row(30, 1, 2),
  TQ1_0: row(34, 256, 54),
  TQ2_0: row(35, 256, 66),
  MXFP4: row(39, 32, 17),
  NVFP4: row(40, 64, 36),
  Q1_0: row(41, 128, 18),
  Q2_0: row(42, 64, 18),
} as const satisfies Record<string, GgmlTypeRow>

export type GgmlType = keyof typeof GGML_TYPES

const GGML_TYPE_NAMES = new Map(Object.entries(GGML_TYPES).map(([name, { id }]) => [id, name as GgmlType]))

export function ggmlTypeName(id: number): GgmlType | null {
  return GGML_TYPE_NAMES.get(id) ?? null
}

export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1)
}

/** The type of most weights; null without tensors. */
export function mostCommonType<Type extends GgmlType>(
  tensors: readonly { readonly type: Type; readonly shape: readonly number[] }[],
): Type | null {
  const elements = new Map<Type, number>()
  for (const { type, shape } of tensors) elements.set(type, (elements.get(type) ?? 0) + elementCount(shape))
  const [largest] = Array.from(elements).toSorted(([, a], [, b]) => b - a)
  return largest?.[0] ?? null
}

/** Bytes a tensor takes; a row holds whole blocks only, which the caller has checked. */
export function tensorSizeBytes({ type, shape }: Pick<GgufTensor, 'type' | 'shape'>): number {
  const { blockElements, blockBytes } = GGML_TYPES[type]
  return (elementCount(shape) / blockElements) * blockBytes
}

export function alignUp(offset: number, alignment: number): number {
  return Math.ceil(offset / alignment) * alignment
}

export const gguf = {
  string: (value: string): GgufValue => ({ type: 'string', value }),
  bool: (value: boolean): GgufValue => ({ type: 'bool', value }),
  uint32: (value: number): GgufValue => ({ type: 'uint32', value }),
  float32: (value: number): GgufValue => ({ type: 'float32', value }),
  strings: (items: readonly string[]): GgufValue => ({ type: 'array', itemType: 'string', items }),
  uint8s: (items: Uint8Array): GgufValue => ({ type: 'array', itemType: 'uint8', items }),
  int32s: (items: readonly number[]): GgufValue => ({ type: 'array', itemType: 'int32', items }),
  float32s: (items: readonly number[]): GgufValue => ({ type: 'array', itemType: 'float32', items }),
  bools: (items: readonly boolean[]): GgufValue => ({ type: 'array', itemType: 'bool', items }),
} as const
