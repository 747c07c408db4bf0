/**
 * Reads arguments that stand each in tags of its own, as the JSON text of an object: values of strings as they come, others once
 * they are whole. Whatever stands in the tags, what it gives is JSON.
 *
 *   between ──<parameter=key>──▶ value ──</parameter>──▶ between ──</function>──▶ end
 */
import type { ArgumentReader, ReadArguments } from './argument-reader.ts'
import { JsonValue } from './json-value.ts'
import { typeName, typesOfValue } from './value-types.ts'

const PARAMETER = '<parameter='
const VALUE_END = '</parameter>'
const END = '</function>'
/** What a value's closing tag has behind it; before anything else it is a part of the value, as in a file that is written. */
const FOLLOWERS = [PARAMETER, END, '</tool_call>']
/** Of all arguments; some models leave the tag out. */
const ENDING = /<\/function>|(?=<\/tool_call>)/
const WHOLE_END = new RegExp(`\\n?${VALUE_END}\\s*(?=${FOLLOWERS.join('|')})`)
/** The end of a text that may still become one. */
const OPEN_END = new RegExp(
  `(?:\\n|\\n?(?:${beginningsOf(VALUE_END)}|${VALUE_END}\\s*(?:${FOLLOWERS.map(beginningsOf).join('|')})?))$`,
)
const PYTHON_WORDS: Readonly<Record<string, string>> = { True: 'true', False: 'false', None: 'null' }

const NESTED = /^\s*[[{]/
const HALF_CHARACTER = /[\ud800-\udbff]$/

interface OpenValue {
  /** Null for any. */
  readonly types: readonly string[] | null
  readonly isText: boolean
  hasBegun: boolean
}

export class XmlArguments implements ArgumentReader {
  readonly #parameters: Readonly<Record<string, unknown>>
  #json = '{'
  #count = 0
  #value: OpenValue | null = null

  /** @param parameters the function's schema */
  constructor(parameters: Readonly<Record<string, unknown>>) {
    this.#parameters = parameters
  }

  read(text: string): ReadArguments {
    let length = 0
    for (;;) {
      const rest = text.slice(length)
      const read = this.#value === null ? this.#readBetween(rest) : this.#readValue(rest, this.#value)
      if (read === 'end') return { json: `${this.#take()}}`, length: length + endOf(rest), isEnd: true }
      length += read
      if (read === 0) return { json: this.#take(), length, isEnd: false }
    }
  }

  #take(): string {
    const json = this.#json
    this.#json = ''
    return json
  }

  /** How much was read; 0 where more is needed. What is no parameter is dropped. */
  #readBetween(text: string): number | 'end' {
    const start = text.indexOf(PARAMETER)
    const end = text.search(ENDING)
    if (end !== -1 && (start === -1 || end < start)) return 'end'
    if (start === -1) return 0
    const nameEnd = text.indexOf('>', start)
    if (nameEnd === -1) return 0
    this.#open(text.slice(start + PARAMETER.length, nameEnd))
    return nameEnd + 1
  }

  #open(key: string): void {
    const { properties } = this.#parameters
    const schema = (properties as Readonly<Record<string, unknown>> | undefined)?.[key]
    const types = typesOfValue(schema, this.#parameters)
    const isText = types?.length === 1 && types[0] === 'string'
    this.#json += `${this.#count++ === 0 ? '' : ', '}${JSON.stringify(key)}: `
    this.#value = { types, isText, hasBegun: false }
  }

  #readValue(text: string, value: OpenValue): number {
    if (!value.hasBegun) {
      if (text === '') return 0
      value.hasBegun = true
      if (value.isText) this.#json += '"'
      if (text.startsWith('\n')) return 1
    }
    return value.isText ? this.#readText(text) : this.#readJson(text, value.types)
  }

  #readText(text: string): number {
    const end = WHOLE_END.exec(text)
    if (end !== null) {
      this.#json += `${escaped(text.slice(0, end.index))}"`
      this.#value = null
      return end.index + end[0].length
    }
    const open = OPEN_END.exec(text)?.[0].length ?? 0
    // Both halves of a character are written together.
    const ready = text.length - (open === 0 && HALF_CHARACTER.test(text) ? 1 : open)
    this.#json += escaped(text.slice(0, ready))
    return ready
  }

  #readJson(text: string, types: readonly string[] | null): number {
    // A text in an object may hold the closing tag.
    const isNested = types !== null && !types.includes('string') && NESTED.test(text)
    const valueEnd = isNested ? new JsonValue('{').advance(text, 0) : 0
    const found = valueEnd === -1 ? null : WHOLE_END.exec(text.slice(valueEnd))
    if (found === null) return 0
    const end = valueEnd + found.index
    this.#json += toJson(text.slice(0, end), types)
    this.#value = null
    return end + found[0].length
  }
}

function toJson(text: string, types: readonly string[] | null): string {
  const written = PYTHON_WORDS[text.trim()] ?? text.trim()
  try {
    const type = typeName(JSON.parse(written))
    const isOfType =
      types === null || types.includes(type) || (type === 'integer' && types.includes('number'))
    return isOfType || !types.includes('string') ? written : JSON.stringify(text)
  } catch {
    return JSON.stringify(text)
  }
}

/** Behind the end of all arguments, which is in the text. */
function endOf(text: string): number {
  const found = ENDING.exec(text)
  return found === null ? text.length : found.index + found[0].length
}

/** The source of an expression for all beginnings of a marker, itself left out. */
function beginningsOf(marker: string): string {
  const characters = marker.slice(0, -1).split('')
  return characters.reduceRight((rest, character) => `${character}(?:${rest})?`, '')
}

function escaped(text: string): string {
  return JSON.stringify(text).slice(1, -1)
}
