/**
 * Parses JSON as `JSON.parse` does, in slices of bounded work, so that a large body does not hold the event loop; and within
 * bounds that are checked while it reads, so that what exceeds them is never built. Called by `json-body.ts`, which parses
 * small bodies at once. Decides nothing about turns of the loop: `advance` is one slice.
 *
 * Invariant: between two slices `#at` is in front of a token, of whitespace, or inside the string that `#text` collects.
 */
import { ServiceError } from '../../core/errors.ts'

/** Far more than any request of this interface needs, and far less than recursion can bear. */
export const MAX_JSON_DEPTH = 100

/** Objects, arrays and what they hold: a chat of 16,000 messages. */
export const MAX_JSON_VALUES = 50_000

/** Node slows down on objects of many names, and everything that walks over them does too. */
export const MAX_JSON_NAMES = 1000

/** More precise than any double. */
const MAX_NUMBER_BYTES = 1000

/** The work of one slice, in bytes of text: about two milliseconds. */
export const SLICE_WORK = 131_072

/** What a token costs beside its bytes. */
const TOKEN_WORK = 32

/** Pieces of a string that are decoded together. */
const PIECE_BYTES = 65_536

const QUOTE = 0x22
const BACKSLASH = 0x5c
const LETTER_U = 0x75
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_BRACKET = 0x5b
const CLOSE_BRACKET = 0x5d
const OPEN_BRACE = 0x7b
const CLOSE_BRACE = 0x7d
const FIRST_PRINTABLE = 0x20
const FIRST_BEYOND_ASCII = 0x80

const LITERALS: readonly { readonly text: string; readonly value: boolean | null }[] = [
  { text: 'true', value: true },
  { text: 'false', value: false },
  { text: 'null', value: null },
]

type Container =
  | { readonly kind: 'array'; readonly value: unknown[] }
  | { readonly kind: 'object'; readonly value: Record<string, unknown>; name: string; names: number }

type Expected = 'value' | 'value-or-end' | 'name' | 'name-or-end' | 'colon' | 'comma-or-end' | 'nothing'

export class JsonParser {
  readonly #body: Buffer
  readonly #open: Container[] = []
  #at: number
  #expected: Expected = 'value'
  #values = 0
  #work = 0
  #result: unknown = undefined
  /** Pieces of the string that is being read; null outside of one. */
  #text: string[] | null = null

  /** @param body valid UTF-8. @param start where the JSON begins in it */
  constructor(body: Buffer, start = 0) {
    this.#body = body
    this.#at = start
  }

  /** The whole value, once `advance` has returned true. */
  get result(): unknown {
    return this.#result
  }

  /** Does one slice of work; true when that was the last. @throws ServiceError `malformed_json`, or `invalid_request` of a bound */
  advance(): boolean {
    this.#work = SLICE_WORK
    while (this.#work > 0 && this.#at < this.#body.length) {
      if (this.#text === null) this.#readToken()
      else this.#readPiece(this.#text)
    }
    if (this.#at < this.#body.length) return false
    if (this.#expected !== 'nothing') throw malformed('Unexpected end of JSON input')
    return true
  }

  #readToken(): void {
    const byte = this.#body[this.#at] ?? 0
    if (isSpace(byte)) {
      this.#work--
      this.#at++
      return
    }
    this.#work -= TOKEN_WORK
    switch (this.#expected) {
      case 'name':
      case 'name-or-end':
        if (byte === QUOTE) return this.#openString()
        if (byte === CLOSE_BRACE && this.#expected === 'name-or-end') return this.#close()
        break
      case 'colon':
        if (byte === COLON) return this.#pass('value')
        break
      case 'comma-or-end':
        return this.#endItem(byte)
      case 'value':
      case 'value-or-end':
        if (byte === CLOSE_BRACKET && this.#expected === 'value-or-end') return this.#close()
        return this.#readValue(byte)
      case 'nothing':
        break
    }
    this.#refuse()
  }

  #readValue(byte: number): void {
    this.#countValue()
    switch (byte) {
      case QUOTE:
        return this.#openString()
      case OPEN_BRACE:
        this.#push({ kind: 'object', value: {}, name: '', names: 0 })
        return this.#pass('name-or-end')
      case OPEN_BRACKET:
        this.#push({ kind: 'array', value: [] })
        return this.#pass('value-or-end')
      default:
        return this.#readScalar()
    }
  }

  #readScalar(): void {
    const start = this.#at
    for (const { text, value } of LITERALS) {
      if (this.#body.toString('latin1', start, start + text.length) !== text) continue
      this.#at += text.length
      return this.#add(value)
    }
    while (this.#at - start <= MAX_NUMBER_BYTES && isOfNumber(this.#body[this.#at] ?? 0)) this.#at++
    if (this.#at === start) this.#refuse()
    if (this.#at - start > MAX_NUMBER_BYTES)
      throw exceeded(`hold no number of more than ${MAX_NUMBER_BYTES} characters`)
    this.#work -= this.#at - start
    this.#add(parseText(this.#body.toString('latin1', start, this.#at)))
  }

  #openString(): void {
    this.#text = []
    this.#at++
  }

  /** Reads to the end of the string, or a piece of it that ends between two characters. */
  #readPiece(pieces: string[]): void {
    const body = this.#body
    const start = this.#at
    const limit = Math.min(body.length, start + PIECE_BYTES)
    let hasEscape = false
    let highest = 0
    let at = start
    while (at < limit) {
      const byte = body[at] ?? 0
      if (byte === QUOTE) break
      if (byte < FIRST_PRINTABLE) throw malformed('Bad control character in string literal')
      if (byte > highest) highest = byte
      if (byte !== BACKSLASH) at++
      else {
        hasEscape = true
        at += body[at + 1] === LETTER_U ? 6 : 2
      }
    }
    const isWhole = body[at] === QUOTE
    if (!isWhole && at >= body.length) throw malformed('Unterminated string in JSON')
    // Only inside a character: a quote, which ends the string, is none of these.
    while (isContinuation(body[at] ?? 0)) at++
    this.#work -= at - start
    const text =
      highest < FIRST_BEYOND_ASCII ? body.toString('latin1', start, at) : body.toString('utf8', start, at)
    // An escape that is none is found here.
    pieces.push(hasEscape ? String(parseText(`"${text}"`)) : text)
    this.#at = isWhole ? at + 1 : at
    if (!isWhole) return
    this.#text = null
    this.#endString(pieces.join(''))
  }

  #endString(text: string): void {
    if (this.#expected !== 'name' && this.#expected !== 'name-or-end') return this.#add(text)
    const object = this.#open.at(-1)
    if (object?.kind === 'object') {
      object.name = text
      if (++object.names > MAX_JSON_NAMES)
        throw exceeded(`hold no object of more than ${MAX_JSON_NAMES} names`)
    }
    this.#expected = 'colon'
  }

  #endItem(byte: number): void {
    const kind = this.#open.at(-1)?.kind
    if (byte === COMMA) return this.#pass(kind === 'array' ? 'value' : 'name')
    if (byte !== (kind === 'array' ? CLOSE_BRACKET : CLOSE_BRACE)) this.#refuse()
    this.#close()
  }

  #add(value: unknown): void {
    const container = this.#open.at(-1)
    if (container === undefined) this.#result = value
    else if (container.kind === 'array') container.value.push(value)
    else addMember(container.value, container.name, value)
    this.#expected = container === undefined ? 'nothing' : 'comma-or-end'
  }

  #push(container: Container): void {
    if (this.#open.length >= MAX_JSON_DEPTH) throw tooDeep()
    this.#add(container.value)
    this.#open.push(container)
  }

  #close(): void {
    this.#open.pop()
    this.#pass(this.#open.length === 0 ? 'nothing' : 'comma-or-end')
  }

  /** Steps over a token of one byte. */
  #pass(expected: Expected): void {
    this.#at++
    this.#expected = expected
  }

  #countValue(): void {
    if (++this.#values > MAX_JSON_VALUES) throw exceeded(`hold at most ${MAX_JSON_VALUES} values`)
  }

  #refuse(): never {
    const from = this.#at
    // The whole character that stands there.
    const [character = ''] = this.#body.toString('utf8', from, from + 4)
    throw malformed(`Unexpected token '${character}'`)
  }
}

/** @throws ServiceError `malformed_json`. */
export function parseText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw malformed(withoutExcerpt(error))
  }
}

export function tooDeep(): ServiceError {
  return exceeded(`be nested at most ${MAX_JSON_DEPTH} levels deep`)
}

function exceeded(rule: string): ServiceError {
  return new ServiceError('invalid_request', { message: `The request body must ${rule}.` })
}

function malformed(message: string): ServiceError {
  return new ServiceError('malformed_json', { message })
}

/** The parser quotes the text around a mistake, which in a body with a password may be the password. */
function withoutExcerpt(error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  return message
    .replace(/^"[\s\S]*" is not valid JSON$/, 'Not JSON')
    .replace(/,? (?:\.{3})?"[\s\S]*"(?:\.{3})? is not valid JSON$/, '')
}

/** As `JSON.parse` adds it: `__proto__` is a name like any other. */
function addMember(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') object[name] = value
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}

function isSpace(byte: number): boolean {
  return byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09
}

/** A digit, `-`, `+`, `.`, `e` or `E`; what they make is parsed afterwards. */
function isOfNumber(byte: number): boolean {
  return (
    (byte >= 0x30 && byte <= 0x39) ||
    byte === 0x2d ||
    byte === 0x2b ||
    byte === 0x2e ||
    (byte | 0x20) === 0x65
  )
}

/** A byte of UTF-8 in the middle of a character. */
function isContinuation(byte: number): boolean {
  return (byte & 0xc0) === 0x80
}
