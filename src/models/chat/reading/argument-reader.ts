/** Reads the arguments of one call, in pieces of any length, as the JSON text of an object. */
import { JsonValue } from './json-value.ts'

export interface ReadArguments {
  /** JSON text that goes on behind that of the calls before. */
  readonly json: string
  /** How much of the text has been read; what is left is to come again, with more. */
  readonly length: number
  /** Whether the arguments end there. */
  readonly isEnd: boolean
}

export interface ArgumentReader {
  read(text: string): ReadArguments
}

/** Of a format that writes them as JSON. */
export class JsonArguments implements ArgumentReader {
  readonly #value = new JsonValue('{')

  read(text: string): ReadArguments {
    const end = this.#value.advance(text, 0)
    const length = end === -1 ? text.length : end
    return { json: text.slice(0, length), length, isEnd: end !== -1 }
  }
}
