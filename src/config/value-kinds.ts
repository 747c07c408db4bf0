/**
 * How the value of an option is read. A kind takes text (command line, environment) or the value of a file or of
 * code, and gives the typed value or throws a `ValueProblem`: the rest of a sentence that begins with the option's
 * name, such as "must be a whole number from 1 to 256, but was 'many'".
 */
import { isIP } from 'node:net'
import { showValue, StartError } from '../core/errors.ts'

export interface ValueKind<Value> {
  /** Shown in `--help`; null for a switch, which takes no value on the command line. */
  readonly placeholder: string | null
  /** What a value must be: a noun phrase for errors and for the comments of `ConfigOptions`. */
  readonly expected: string
  /** Whether an option that is given twice on the command line is one list, its texts between line breaks. @default the last one stands */
  readonly isList?: boolean
  /** @throws ValueProblem */
  parse(given: unknown): Value
}

export class ValueProblem extends Error {
  override readonly name = 'ValueProblem'
}

/** The value of an option that a sentence calls `label`. @throws StartError */
export function readValue<Value>(kind: ValueKind<Value>, given: unknown, label: string): Value {
  try {
    return kind.parse(given)
  } catch (error) {
    if (error instanceof ValueProblem) throw new StartError(`${label} ${error.message}.`, 2)
    throw error
  }
}

function refuse(expected: string, given: unknown): never {
  throw new ValueProblem(`must be ${expected}, but was ${showValue(given)}`)
}

/** Text for which `isValid` holds. */
export function textLike(
  placeholder: string,
  expected: string,
  isValid: (text: string) => boolean,
): ValueKind<string> {
  return {
    placeholder,
    expected,
    parse: (given) => (typeof given === 'string' && isValid(given) ? given : refuse(expected, given)),
  }
}

export const path = (placeholder = 'file') =>
  textLike(placeholder, 'a path', (text) => text !== '' && !text.includes('\0'))

const HOST_NAME = /^(?!-)[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*\.?$/i
/** Digits and dots alone are a mistyped IPv4 address, not a name. */
const ONLY_DIGITS = /^[\d.]+$/

export const host: ValueKind<string> = textLike(
  'address',
  'an IP address or a host name',
  (text) => isIP(text) !== 0 || (HOST_NAME.test(text) && !ONLY_DIGITS.test(text)),
)

/** One that a client names, and that this machine need not have. */
export const hostName: ValueKind<string> = { ...host, placeholder: 'host' }

export const cidr: ValueKind<string> = textLike('cidr', 'an address or a CIDR such as 10.0.0.0/8', (text) => {
  const [address = '', prefix, ...more] = text.split('/')
  const version = isIP(address)
  // A zone belongs to one machine's own view of an address, which a rule is not compared with.
  if (version === 0 || address.includes('%') || more.length > 0) return false
  return (
    prefix === undefined ||
    (/^(?:0|[1-9]\d{0,2})$/.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128))
  )
})

export const origin: ValueKind<string> = textLike(
  'origin',
  'an origin such as https://example.org, or *',
  (text) => text === '*' || (URL.canParse(text) && new URL(text).origin === text),
)

export function wholeNumber(
  { min, max }: { readonly min: number; readonly max: number },
  placeholder = 'n',
): ValueKind<number> {
  const expected = `a whole number from ${min} to ${max}`
  return {
    placeholder,
    expected,
    parse: (given) => {
      const number = typeof given === 'string' && /^\d{1,16}$/.test(given) ? Number(given) : given
      if (typeof number === 'number' && Number.isInteger(number) && number >= min && number <= max)
        return number
      return refuse(expected, given)
    },
  }
}

export function numberFrom(
  { min, max }: { readonly min: number; readonly max: number },
  placeholder = 'x',
): ValueKind<number> {
  const expected = `a number from ${min} to ${max}`
  return {
    placeholder,
    expected,
    parse: (given) =>
      typeof given === 'number' && given >= min && given <= max ? given : refuse(expected, given),
  }
}

/** The word `off` (null), or a value of the other kind. */
export function offOr<Value>(kind: ValueKind<Value>): ValueKind<Value | null> {
  return {
    placeholder: kind.placeholder,
    expected: `${kind.expected}, or null for off`,
    parse: (given) => (given === 'off' ? null : kind.parse(given)),
  }
}

/** A word of its own, or a value of the other kind. */
export function wordOr<const Word extends string, Value>(
  word: Word,
  kind: ValueKind<Value>,
): ValueKind<Word | Value> {
  return {
    placeholder: `${kind.placeholder}|${word}`,
    expected: `${word} or ${kind.expected}`,
    parse: (given) => {
      if (given === word) return word
      try {
        return kind.parse(given)
      } catch (error) {
        if (!(error instanceof ValueProblem)) throw error
        throw new ValueProblem(error.message.replace('must be', `must be ${word} or`))
      }
    },
  }
}

/** @param placeholder for choices that are too many to be listed in its place: the help names them then */
export function choice<const Choice extends string>(
  choices: readonly Choice[],
  placeholder = choices.join('|'),
): ValueKind<Choice> {
  const expected = `one of ${choices.join(', ')}`
  return {
    placeholder,
    expected,
    parse: (given) => choices.find((candidate) => candidate === given) ?? refuse(expected, given),
  }
}

const TRUE_WORDS = new Set(['true', '1', 'yes', 'on'])
const FALSE_WORDS = new Set(['false', '0', 'no', 'off'])

export const toggle: ValueKind<boolean> = {
  placeholder: null,
  expected: 'true or false',
  parse: (given) => {
    if (typeof given === 'boolean') return given
    const word = typeof given === 'string' ? given.toLowerCase() : ''
    if (TRUE_WORDS.has(word)) return true
    return FALSE_WORDS.has(word) ? false : refuse('true or false', given)
  },
}

/** Items between commas or line breaks, or the array of a file or of code; at least one. */
export function list<Item>(item: ValueKind<Item>): ValueKind<readonly Item[]> {
  return {
    placeholder: `${item.placeholder},...`,
    expected: `a list, each item ${item.expected}`,
    isList: true,
    parse: (given) => {
      const items = typeof given === 'string' ? given.split(/[,\n]/).map((part) => part.trim()) : given
      if (!Array.isArray(items)) return refuse('a list', given)
      return Object.freeze(items.map((part) => item.parse(part)))
    },
  }
}
