/**
 * Finds where a JSON value ends in text that arrives in pieces. Checks brackets and strings only: what stands between them is passed
 * on as it is. Used by the readers of tool calls.
 */
type ValueKind = 'nested' | 'string' | 'scalar'

export class JsonValue {
  readonly kind: ValueKind
  #depth = 0
  #isInString = false
  #isEscaped = false

  /** @param first the value's first character, which is fed to `advance` as all others are */
  constructor(first: string) {
    this.kind = first === '"' ? 'string' : first === '{' || first === '[' ? 'nested' : 'scalar'
  }

  /** The index behind the value's last character; -1 where it goes on behind the text. */
  advance(text: string, from: number): number {
    for (let i = from; i < text.length; i++) {
      if (this.kind === 'scalar') {
        if (SCALAR_END.test(text.charAt(i))) return i
      } else if (this.#closes(text.charCodeAt(i))) return i + 1
    }
    return -1
  }

  #closes(unit: number): boolean {
    if (this.#isEscaped) {
      this.#isEscaped = false
      return false
    }
    if (unit === QUOTE) {
      this.#isInString = !this.#isInString
      return this.kind === 'string' && !this.#isInString
    }
    if (this.#isInString) {
      this.#isEscaped = unit === BACKSLASH
      return false
    }
    if (unit === BRACE || unit === BRACKET) this.#depth++
    if (unit !== BRACE_END && unit !== BRACKET_END) return false
    this.#depth--
    return this.#depth === 0
  }
}

const SCALAR_END = /[\s,}\]]/
const QUOTE = 0x22
const BACKSLASH = 0x5c
const BRACKET = 0x5b
const BRACKET_END = 0x5d
const BRACE = 0x7b
const BRACE_END = 0x7d
