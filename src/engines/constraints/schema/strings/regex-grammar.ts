/**
 * A regular expression of ECMAScript as a grammar that matches the whole text, with the names of groups and the `(?i)` in front as
 * Python writes them. What a grammar cannot say is refused: lookaround, back-references, word boundaries, classes by Unicode property,
 * other flags. Inside a JSON string, characters that JSON escapes stand as their escapes.
 */
import { characterSet, codesOf } from './character-class.ts'
import { withBothCases } from './character-cases.ts'
import {
  complement,
  difference,
  DIGITS,
  intersection,
  LINE_ENDS,
  type Ranges,
  single,
  SPACES,
  union,
  WORD_CHARACTERS,
} from './character-ranges.ts'
import { literal } from '../ebnf.ts'
import { repeat, type WriteOnce } from '../repetition.ts'
import { SchemaError } from '../schema-error.ts'

const MAX_DEPTH = 100
const MAX_COUNT = 100_000
/** Of the rules that long counts are written in. */
const MAX_RULES_LENGTH = 2 * 1024 * 1024
const QUANTIFIER = /\{(\d+)(,(\d*))?\}/y
/** The escapes of one character beyond 16 bits. */
const SURROGATES = /(d[89ab][\da-f]{2})\\u(d[c-f][\da-f]{2})/iy
const CLASSES: Readonly<Record<string, Ranges>> = {
  d: DIGITS,
  D: complement(DIGITS),
  w: WORD_CHARACTERS,
  W: complement(WORD_CHARACTERS),
  s: SPACES,
  S: complement(SPACES),
}
const CONTROLS: Readonly<Record<string, number>> = { n: 0x0a, r: 0x0d, t: 0x09, f: 0x0c, v: 0x0b, 0: 0 }
/** Must be escaped in a JSON string. */
const ESCAPED: Ranges = [
  [0x00, 0x1f],
  [0x22, 0x22],
  [0x5c, 0x5c],
]

export interface RegexOptions {
  /** Whether the text stands in a JSON string. @default false */
  readonly isInJson?: boolean
}

/** An expression of EBNF. @throws SchemaError */
export function regexToGrammar(pattern: string, writeOnce: WriteOnce, options: RegexOptions = {}): string {
  return new RegexParser(pattern, writeOnce, options).parse()
}

/** A grammar of its own. @throws SchemaError */
export function regexGrammar(pattern: string): string {
  const rules = new Map<string, { readonly name: string; body: string }>()
  let length = 0
  const writeOnce: WriteOnce = (key, write) => {
    const known = rules.get(key)
    if (known !== undefined) return known.name
    const rule = { name: `r${rules.size}`, body: '' }
    rules.set(key, rule)
    rule.body = write()
    length += rule.body.length
    if (length > MAX_RULES_LENGTH) throw new SchemaError('', 'the regular expression is too large')
    return rule.name
  }
  const root = regexToGrammar(pattern, writeOnce)
  const lines = Array.from(rules.values(), ({ name, body }) => `${name} ::= ${body}`)
  return [`root ::= ${root}`, ...lines].join('\n')
}

class RegexParser {
  readonly #pattern: string
  readonly #writeOnce: WriteOnce
  readonly #isInJson: boolean
  /** Inside `(?i:…)`, and everywhere behind `(?i)`. */
  #ignoresCase = false
  #at = 0

  constructor(pattern: string, writeOnce: WriteOnce, { isInJson = false }: RegexOptions) {
    this.#pattern = pattern
    this.#writeOnce = writeOnce
    this.#isInJson = isInJson
  }

  parse(): string {
    this.#ignoresCase = this.#takes('(?i)')
    const parsed = this.#alternatives(0)
    if (this.#at < this.#pattern.length) throw this.#error("a ')' closes nothing")
    return parsed
  }

  #alternatives(depth: number): string {
    if (depth > MAX_DEPTH) throw this.#error(`groups are nested deeper than ${MAX_DEPTH}`)
    const alternatives = [this.#sequence(depth)]
    while (this.#takes('|')) alternatives.push(this.#sequence(depth))
    return alternatives.join(' | ')
  }

  #sequence(depth: number): string {
    const terms: string[] = []
    if (depth === 0) this.#takes('^')
    while (this.#at < this.#pattern.length && !'|)'.includes(this.#peek())) {
      if (depth === 0 && this.#peek() === '$' && ['', '|'].includes(this.#pattern[this.#at + 1] ?? '')) {
        this.#at++
        continue
      }
      terms.push(this.#quantified(this.#atom(depth)))
    }
    return terms.length === 0 ? '""' : terms.join(' ')
  }

  #atom(depth: number): string {
    const character = this.#next()
    switch (character) {
      case '(':
        return this.#group(depth)
      case '[':
        return this.#emit(this.#class())
      case '.':
        return this.#emit(complement(LINE_ENDS))
      case '\\':
        return this.#emit(this.#cased(this.#escape(false)))
      case '^':
      case '$':
        throw this.#error(`'${character}' may only stand at the beginning or the end`)
      case '*':
      case '+':
      case '?':
        throw this.#error(`there is nothing to repeat before '${character}'`)
      default:
        return this.#emit(this.#cased(single(character.codePointAt(0) as number)))
    }
  }

  #group(depth: number): string {
    const ignoresCase = this.#ignoresCase
    if (this.#takes('?')) {
      const isNamed = /\?P?<[\p{ID_Start}_$][\p{ID_Continue}$]*>/uy
      isNamed.lastIndex = this.#at - 1
      if (isNamed.test(this.#pattern)) this.#at = isNamed.lastIndex
      else if (this.#takes('i:')) this.#ignoresCase = true
      else if (!this.#takes(':')) throw this.#error("lookaround and flags other than 'i' are not supported")
    }
    const inner = this.#alternatives(depth + 1)
    this.#ignoresCase = ignoresCase
    if (!this.#takes(')')) throw this.#error("a '(' is not closed")
    return `(${inner})`
  }

  #quantified(atom: string): string {
    const bounds = this.#quantifier()
    if (bounds === null) return atom
    // Lazy: which of several matches is preferred says nothing of what may be written.
    this.#takes('?')
    const [least, most] = bounds
    if (least > most) throw this.#error(`{${least},${most}} has its bounds in the wrong order`)
    if (Math.max(least, most === Infinity ? 0 : most) > MAX_COUNT)
      throw this.#error(`nothing may be repeated more than ${MAX_COUNT} times`)
    return repeat(atom, bounds, this.#writeOnce)
  }

  #quantifier(): readonly [number, number] | null {
    if (this.#takes('*')) return [0, Infinity]
    if (this.#takes('+')) return [1, Infinity]
    if (this.#takes('?')) return [0, 1]
    QUANTIFIER.lastIndex = this.#at
    const match = QUANTIFIER.exec(this.#pattern)
    if (match === null) return null
    this.#at = QUANTIFIER.lastIndex
    const least = Number(match[1])
    if (match[2] === undefined) return [least, least]
    return [least, match[3] === '' ? Infinity : Number(match[3])]
  }

  #class(): Ranges {
    const isNegated = this.#takes('^')
    const parts: Ranges[] = []
    while (!this.#takes(']')) {
      if (this.#at >= this.#pattern.length) throw this.#error("a '[' is not closed")
      const first = this.#classMember()
      const isRange = this.#peek() === '-' && !['', ']'].includes(this.#pattern[this.#at + 1] ?? '')
      if (!isRange) {
        parts.push(first)
        continue
      }
      this.#at++
      const [low, high] = [onlyOf(first), onlyOf(this.#classMember())]
      if (low === null || high === null || low > high) throw this.#error('a range in [] has no order')
      parts.push([[low, high]])
    }
    const all = this.#cased(union(...parts))
    return isNegated ? complement(all) : all
  }

  #classMember(): Ranges {
    const character = this.#next()
    return character === '\\' ? this.#escape(true) : single(character.codePointAt(0) as number)
  }

  #escape(isInClass: boolean): Ranges {
    const character = this.#next()
    const set = CLASSES[character]
    if (set !== undefined) return set
    if (isInClass && character === 'b') return single(0x08)
    if (character === 'x') return single(this.#hex(2))
    if (character === 'u') return single(this.#takes('{') ? this.#braced() : this.#utf16())
    const control = CONTROLS[character]
    if (control !== undefined) return single(control)
    if (/[A-Za-z1-9]/.test(character)) throw this.#error(`\\${character} is not supported`)
    return single(character.codePointAt(0) as number)
  }

  #hex(digits: number): number {
    const text = this.#pattern.slice(this.#at, this.#at + digits)
    this.#at += digits
    return this.#code(text, digits)
  }

  #utf16(): number {
    SURROGATES.lastIndex = this.#at
    const pair = SURROGATES.exec(this.#pattern)
    if (pair === null) return this.#hex(4)
    this.#at = SURROGATES.lastIndex
    const units = pair.slice(1).map((unit) => Number.parseInt(unit, 16))
    return String.fromCharCode(...units).codePointAt(0) as number
  }

  #braced(): number {
    const end = this.#pattern.indexOf('}', this.#at)
    const text = this.#pattern.slice(this.#at, Math.max(end, this.#at))
    this.#at = end + 1
    return this.#code(text, text.length)
  }

  #code(text: string, digits: number): number {
    const code = /^[0-9a-fA-F]{1,6}$/.test(text) && text.length === digits ? Number.parseInt(text, 16) : -1
    if (code < 0 || code > 0x10ffff) throw this.#error('an escape is not a character')
    return code
  }

  /** One character of the set. */
  #emit(codes: Ranges): string {
    const ranges = union(codes)
    if (ranges.length === 0) throw this.#error('a class allows no character')
    if (!this.#isInJson) return this.#characterSet(ranges)
    const plain = difference(ranges, ESCAPED)
    const alternatives = codesOf(intersection(ranges, ESCAPED)).map((code) =>
      literal(JSON.stringify(String.fromCharCode(code)).slice(1, -1)),
    )
    if (plain.length > 0) alternatives.unshift(this.#characterSet(plain))
    return alternatives.length === 1 ? alternatives.join('') : `(${alternatives.join(' | ')})`
  }

  #characterSet(ranges: Ranges): string {
    const set = characterSet(ranges)
    if (set !== null) return set
    throw this.#error('a class has too many characters beyond ASCII, but not all')
  }

  #cased(ranges: Ranges): Ranges {
    const cased = this.#ignoresCase ? withBothCases(ranges) : ranges
    if (cased === null) throw this.#error('a class has too many characters whose case could be ignored')
    return cased
  }

  #peek(): string {
    return this.#pattern[this.#at] ?? ''
  }

  #next(): string {
    const code = this.#pattern.codePointAt(this.#at)
    if (code === undefined) throw this.#error('it ends too early')
    const character = String.fromCodePoint(code)
    this.#at += character.length
    return character
  }

  #takes(text: string): boolean {
    if (!this.#pattern.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #error(problem: string): SchemaError {
    return new SchemaError('', `the regular expression cannot be used: ${problem} (position ${this.#at})`)
  }
}

function onlyOf(ranges: Ranges): number | null {
  const [range] = ranges
  return ranges.length === 1 && range !== undefined && range[0] === range[1] ? range[0] : null
}
