/**
 * Hands llama.cpp the values that take the place of a file's own metadata: a native array that ends with an empty key,
 * alive only while the model loads.
 */
import { StartError } from '../../core/errors.ts'
import type { MetadataOverride } from '../../protocol/runner-options.ts'
import { koffi } from '../koffi.ts'
import { STRUCTS, type Pointer } from './ffi/structs.ts'

const TAGS = { int: 0, float: 1, bool: 2, string: 3 } as const
const KEY_BYTES = 128
const VALUE_BYTES = 128

/** @throws StartError for a key or text that is longer than llama.cpp takes. */
export function withMetadataOverrides<T>(
  overrides: readonly MetadataOverride[],
  body: (overrides: Pointer | null) => T,
): T {
  if (overrides.length === 0) return body(null)
  const type = STRUCTS.llama_model_kv_override
  const size = koffi.sizeof(type)
  const list = koffi.alloc(type, overrides.length + 1) as Pointer
  try {
    for (const [index, override] of overrides.entries()) {
      koffi.encode(list, index * size, type, {
        tag: TAGS[override.type],
        key: checkLength(override.key, override.key, KEY_BYTES),
        val_i64: encodeValue(override),
      })
    }
    koffi.encode(list, overrides.length * size, type, {
      tag: 0,
      key: '',
      val_i64: toInt64s(Buffer.alloc(VALUE_BYTES)),
    })
    return body(list)
  } finally {
    koffi.free(list)
  }
}

function encodeValue(override: MetadataOverride): bigint[] {
  const bytes = Buffer.alloc(VALUE_BYTES)
  switch (override.type) {
    case 'int':
      bytes.writeBigInt64LE(BigInt(override.value))
      break
    case 'float':
      bytes.writeDoubleLE(override.value)
      break
    case 'bool':
      bytes.writeUInt8(override.value ? 1 : 0)
      break
    case 'string':
      bytes.write(checkLength(override.key, override.value, VALUE_BYTES))
  }
  return toInt64s(bytes)
}

function toInt64s(bytes: Buffer): bigint[] {
  return Array.from({ length: bytes.length / 8 }, (_, i) => bytes.readBigInt64LE(i * 8))
}

/** The text, which must leave room for its end mark. */
function checkLength(key: string, text: string, maxBytes: number): string {
  if (Buffer.byteLength(text) < maxBytes) return text
  throw new StartError(`Metadata '${key}' cannot be overridden: '${text}' is ${maxBytes} bytes or longer.`, 1)
}
