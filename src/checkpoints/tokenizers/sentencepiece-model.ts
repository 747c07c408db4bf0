/**
 * Reads the pieces of a SentencePiece model (tokenizer.model): a protocol buffer of which only texts, scores and types
 * of the pieces and the kind of the model are looked at. Every length is checked before anything is read.
 */
import { badFile } from '../files/file-errors.ts'

/** Numbers of fields and kinds of values in sentencepiece_model.proto. */
const FIELDS = { pieces: 1, trainer: 2, text: 1, score: 2, type: 3, modelType: 3 } as const
const WIRE = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const
const MODEL_TYPE_BPE = 2
const TYPE_NORMAL = 1
const MAX_VARINT_BYTES = 10

export interface SentencePiece {
  readonly text: string
  readonly score: number
  /** As in the file; 1 is an ordinary piece. */
  readonly type: number
}

/** @throws StartError when the file is damaged or its model is no BPE. */
export function parseSentencePieceModel(path: string, bytes: Buffer): SentencePiece[] {
  const pieces: SentencePiece[] = []
  let modelType = 1
  for (const field of readFields(path, bytes)) {
    if (field.number === FIELDS.pieces && field.wire === WIRE.bytes) pieces.push(readPiece(path, field.bytes))
    if (field.number === FIELDS.trainer && field.wire === WIRE.bytes) {
      for (const { number, wire, value } of readFields(path, field.bytes)) {
        if (number === FIELDS.modelType && wire === WIRE.varint) modelType = value
      }
    }
  }
  if (pieces.length === 0) throw badFile(path, 'is no SentencePiece model: it holds no pieces')
  if (modelType !== MODEL_TYPE_BPE) {
    throw badFile(path, 'cannot be converted: of SentencePiece models only those of the kind BPE are')
  }
  return pieces
}

function readPiece(path: string, bytes: Buffer): SentencePiece {
  let [text, score, type] = ['', 0, TYPE_NORMAL]
  for (const field of readFields(path, bytes)) {
    if (field.number === FIELDS.text && field.wire === WIRE.bytes) text = field.bytes.toString('utf8')
    if (field.number === FIELDS.score && field.wire === WIRE.fixed32) score = field.bytes.readFloatLE(0)
    if (field.number === FIELDS.type && field.wire === WIRE.varint) type = field.value
  }
  if (!Number.isFinite(score)) throw badFile(path, 'is corrupted: a piece has no usable score')
  return { text, score, type }
}

interface Field {
  readonly number: number
  readonly wire: number
  /** Of a varint; 0 otherwise. */
  readonly value: number
  /** Of anything else. */
  readonly bytes: Buffer
}

function* readFields(path: string, bytes: Buffer): Generator<Field> {
  let offset = 0
  const take = (size: number): Buffer => {
    if (size > bytes.length - offset) throw badFile(path, 'is truncated or corrupted')
    offset += size
    return bytes.subarray(offset - size, offset)
  }
  const varint = (): number => {
    let value = 0
    for (let index = 0; index < MAX_VARINT_BYTES; index++) {
      const byte = take(1).readUInt8(0)
      value += (byte & 0x7f) * 2 ** (7 * index)
      if (byte < 0x80) return value
    }
    throw badFile(path, 'is corrupted: a number in it does not end')
  }
  while (offset < bytes.length) {
    const tag = varint()
    const [number, wire] = [Math.floor(tag / 8), tag % 8]
    if (wire === WIRE.varint) yield { number, wire, value: varint(), bytes: bytes.subarray(0, 0) }
    else if (wire === WIRE.fixed32) yield { number, wire, value: 0, bytes: take(4) }
    else if (wire === WIRE.fixed64) yield { number, wire, value: 0, bytes: take(8) }
    else if (wire === WIRE.bytes) yield { number, wire, value: 0, bytes: take(varint()) }
    else throw badFile(path, 'is no SentencePiece model')
  }
}
