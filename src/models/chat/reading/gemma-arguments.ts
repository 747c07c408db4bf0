/**
 * Reads arguments in Gemma 4's notation as the JSON text of an object. Texts are given as they come, numbers and keys once they are
 * whole. Whatever stands in the braces, what it gives is JSON.
 *
 *   {city:<|"|>Rome<|"|>,days:2}  →  {"city": "Rome", "days": 2}
 */
import { openMarkerLength } from './answer-part.ts'
import type { ArgumentReader, ReadArguments } from './argument-reader.ts'

export const GEMMA_QUOTE = '<|"|>'

interface Nested {
  readonly isObject: boolean
  count: number
}

const KEY_END = /[:,}\]]/
const SCALAR_END = /[,}\]]/
const SKIPPED = /^[\s,]+/
const HALF_CHARACTER = /[\ud800-\udbff]$/

type State = 'item' | 'value' | 'text'

export class GemmaArguments implements ArgumentReader {
  /** The innermost last. */
  readonly #nested: Nested[] = []
  #state: State = 'value'
  #json = ''
  #isEnd = false

  read(text: string): ReadArguments {
    let length = 0
    while (!this.#isEnd) {
      const read = this.#advance(text.slice(length))
      length += read
      if (read === 0) break
    }
    const json = this.#json
    this.#json = ''
    return { json, length, isEnd: this.#isEnd }
  }

  /** How much was read; 0 where more is needed. */
  #advance(text: string): number {
    if (text === '') return 0
    if (this.#state === 'text') return this.#readText(text)
    const skipped = (this.#state === 'item' ? SKIPPED : /^\s+/).exec(text)
    if (skipped !== null) return skipped[0].length
    return this.#state === 'item' ? this.#readItem(text) : this.#readValue(text)
  }

  /** A key, a value of an array, or the end of either. */
  #readItem(text: string): number {
    const nested = this.#nested.at(-1)
    const first = text.charAt(0)
    if (nested === undefined || first === '}' || first === ']') return this.#close()
    if (!nested.isObject) {
      this.#separate(nested)
      this.#state = 'value'
      return this.#readValue(text)
    }
    if (isOpenQuote(text)) return 0
    const isQuoted = text.startsWith(GEMMA_QUOTE)
    const start = isQuoted ? GEMMA_QUOTE.length : 0
    const end = isQuoted ? text.indexOf(GEMMA_QUOTE, start) : text.search(KEY_END)
    if (end === -1) return 0
    const key = isQuoted ? text.slice(start, end) : text.slice(start, end).trim().replaceAll('"', '')
    const colon = isQuoted ? text.indexOf(':', end + start) : end
    if (colon === -1) return 0
    this.#separate(nested)
    this.#json += `${JSON.stringify(key)}: `
    this.#state = 'value'
    return text.charAt(colon) === ':' ? colon + 1 : colon
  }

  #readValue(text: string): number {
    const first = text.charAt(0)
    if (first === '{' || first === '[') {
      this.#nested.push({ isObject: first === '{', count: 0 })
      this.#json += first
      this.#state = 'item'
      return 1
    }
    if (isOpenQuote(text)) return 0
    if (text.startsWith(GEMMA_QUOTE)) {
      this.#json += '"'
      this.#state = 'text'
      return GEMMA_QUOTE.length
    }
    const end = text.search(SCALAR_END)
    if (end === -1) return 0
    this.#json += toScalar(text.slice(0, end).trim())
    this.#state = 'item'
    if (end > 0) return end
    return first === ',' ? 1 : this.#close()
  }

  #readText(text: string): number {
    const end = text.indexOf(GEMMA_QUOTE)
    if (end !== -1) {
      this.#json += `${escaped(text.slice(0, end))}"`
      this.#state = 'item'
      return end + GEMMA_QUOTE.length
    }
    const open = openMarkerLength(text, [GEMMA_QUOTE])
    // Both halves of a character are written together.
    const ready = text.length - (open === 0 && HALF_CHARACTER.test(text) ? 1 : open)
    this.#json += escaped(text.slice(0, ready))
    return ready
  }

  #separate(nested: Nested): void {
    if (nested.count++ > 0) this.#json += ', '
  }

  #close(): number {
    const nested = this.#nested.pop()
    if (nested !== undefined) this.#json += nested.isObject ? '}' : ']'
    this.#isEnd = this.#nested.length === 0
    return 1
  }
}

/** Whether it may still become a quote. */
function isOpenQuote(text: string): boolean {
  return text.length < GEMMA_QUOTE.length && GEMMA_QUOTE.startsWith(text)
}

/** Numbers and words of JSON; anything else is a text. */
function toScalar(text: string): string {
  if (text === '' || text === 'None') return 'null'
  try {
    JSON.parse(text)
    return text
  } catch {
    return JSON.stringify(text)
  }
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
