/** The answer of an upstream that is one JSON object. */
import { isObject, type Json } from './answer-chunk.ts'
import { answerLost } from '../upstream-errors.ts'

/** 2048 texts of 4096 numbers, written out. */
const MAX_BYTES = 256 * 1024 * 1024

/** @throws ServiceError `engine_failed` where it is none */
export async function readJson(body: AsyncIterable<Uint8Array>): Promise<Json> {
  const pieces: Uint8Array[] = []
  let length = 0
  for await (const piece of body) {
    pieces.push(piece)
    length += piece.length
    if (length > MAX_BYTES) throw answerLost('is too long')
  }
  try {
    const answer: unknown = JSON.parse(Buffer.concat(pieces).toString('utf8'))
    if (isObject(answer)) return answer
  } catch (error) {
    throw answerLost('is no JSON', error)
  }
  throw answerLost('is no object')
}
