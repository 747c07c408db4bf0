/**
 * Reads one tool call that a model writes as a JSON object with the function's name and its arguments, in either order, while it
 * arrives. Arguments are given as soon as the name is known. Owned by `call-reader.ts`.
 *
 *   open ──▶ done        the object is closed
 *    └────▶ broken      it is no call: no such function, a key that no call has, no JSON
 */
import { JsonValue } from './json-value.ts'

export interface CallEvents {
  /** Whether a function may be called. */
  readonly isTool: (name: string) => boolean
  readonly onName: (name: string) => void
  readonly onArguments: (text: string) => void
}

const NAME_KEYS: readonly string[] = ['name']
const ARGUMENT_KEYS: readonly string[] = ['arguments', 'parameters']
const READ_KEYS = [...NAME_KEYS, ...ARGUMENT_KEYS]
/** What some models write beside, perhaps in front. */
const OTHER_KEYS: readonly string[] = ['id', 'type']
const LONGEST_KEY = 64
/** With its quotes. */
const LONGEST_NAME = 256

type Expected = 'brace' | 'key' | 'colon' | 'value' | 'comma'

export class CallObject {
  readonly #events: CallEvents
  #state: 'open' | 'done' | 'broken' = 'open'
  #expected: Expected = 'brace'
  #value: JsonValue | null = null
  /** Text of the key or value under way, where it is read only once it is whole. */
  #text = ''
  #key = ''
  #isNamed = false
  /** Arguments that came before the name; null while there are none. */
  #arguments: string | null = null

  constructor(events: CallEvents) {
    this.#events = events
  }

  get state(): 'open' | 'done' | 'broken' {
    return this.#state
  }

  /** Whether the name was given: from then on it is a call, also where it breaks. */
  get isNamed(): boolean {
    return this.#isNamed
  }

  /** Reads from an index on; returns the index of what it has not read, at which it is done or broken, else the text's end. */
  read(text: string, from: number): number {
    let i = from
    while (i < text.length && this.#state === 'open') {
      if (this.#value !== null) i = this.#readValue(text, i)
      else if (WHITESPACE.test(text.charAt(i))) i++
      else i = this.#readMark(text, i)
    }
    return i
  }

  #readMark(text: string, i: number): number {
    const mark = text.charAt(i)
    switch (this.#expected) {
      case 'brace':
        return mark === '{' ? this.#expect('key', i) : this.#break(i)
      case 'comma':
        if (mark === '}') return this.#finish(i)
        return mark === ',' ? this.#expect('key', i) : this.#break(i)
      case 'colon':
        return mark === ':' ? this.#expect('value', i) : this.#break(i)
      case 'key':
        if (mark !== '"') return mark === '}' ? this.#finish(i) : this.#break(i)
        this.#value = new JsonValue(mark)
        return i
      case 'value':
        if (NO_VALUE.test(mark) || (mark === '[' && ARGUMENT_KEYS.includes(this.#key))) return this.#break(i)
        this.#value = new JsonValue(mark)
        return i
    }
  }

  #expect(expected: Expected, i: number): number {
    this.#expected = expected
    return i + 1
  }

  #readValue(text: string, from: number): number {
    const value = this.#value
    if (value === null) return from
    const end = value.advance(text, from)
    const piece = text.slice(from, end === -1 ? text.length : end)
    const isKey = this.#expected === 'key'
    const isStreamed = !isKey && value.kind === 'nested' && ARGUMENT_KEYS.includes(this.#key)
    if (isStreamed) this.#addArguments(piece)
    else if (isKey || READ_KEYS.includes(this.#key)) this.#text += piece
    if (this.#isTooLong(isKey)) return this.#break(from)
    if (end === -1) return text.length
    this.#value = null
    const whole = this.#text
    this.#text = ''
    if (isKey) this.#readKey(whole)
    else {
      this.#expected = 'comma'
      if (!isStreamed) this.#readWhole(whole)
    }
    return end
  }

  /** Of a model that writes on and on, not all is kept until it ends. */
  #isTooLong(isKey: boolean): boolean {
    if (isKey) return this.#text.length > LONGEST_KEY
    return NAME_KEYS.includes(this.#key) && this.#text.length > LONGEST_NAME
  }

  #readKey(text: string): void {
    const key = text.slice(1, -1)
    const isKnown = this.#isNamed || READ_KEYS.includes(key) || OTHER_KEYS.includes(key)
    const isTwice = ARGUMENT_KEYS.includes(key) && this.#arguments !== null
    if (!isKnown || isTwice) this.#fail()
    this.#key = key
    this.#expected = 'colon'
  }

  #readWhole(text: string): void {
    if (!READ_KEYS.includes(this.#key)) return
    const value = parse(text)
    if (NAME_KEYS.includes(this.#key)) {
      if (typeof value === 'string' && !this.#isNamed && this.#events.isTool(value)) this.#name(value)
      else this.#fail()
      return
    }
    // Some models write the object as JSON text, or null for none.
    if (value === null) this.#addArguments('{}')
    else if (typeof value === 'string' && isObject(parse(value))) this.#addArguments(value)
    else this.#fail()
  }

  #name(name: string): void {
    this.#isNamed = true
    this.#events.onName(name)
    if (this.#arguments !== null) this.#events.onArguments(this.#arguments)
  }

  #addArguments(text: string): void {
    this.#arguments = this.#isNamed ? '' : (this.#arguments ?? '') + text
    if (this.#isNamed) this.#events.onArguments(text)
  }

  #finish(i: number): number {
    if (!this.#isNamed) return this.#break(i)
    if (this.#arguments === null) this.#events.onArguments('{}')
    this.#state = 'done'
    return i + 1
  }

  #break(i: number): number {
    this.#fail()
    return i
  }

  /** A call that was given has arguments that parse, also where the model wrote none. */
  #fail(): void {
    if (this.#isNamed && this.#arguments === null) this.#events.onArguments('{}')
    this.#state = 'broken'
  }
}

const WHITESPACE = /\s/
const NO_VALUE = /[,:}\]]/

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
