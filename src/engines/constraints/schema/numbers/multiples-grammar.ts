/**
 * Multiples of a number as a grammar, digit by digit: a rule for each remainder that the digits so far can leave, for each number of
 * digits that may follow, and one for each text whose next digit a bound decides. Rules with the same body are one.
 * Invariant: of alternatives at one place no two begin alike.
 */
import { type NumberBounds, scaledBounds, toFraction } from './number-grammar.ts'

/** Of the divisor without its factors 2 and 5. Each has a rule for each of 15 digits, and a rule takes a fifth of a millisecond to compile. */
const MAX_LONG_REMAINDERS = 33n
/** The digits of so many remainders are followed, to find those that are alike. */
const MAX_REMAINDERS = 1000n

export interface Multiples {
  /** Above 0. */
  readonly of: number
  readonly isInteger: boolean
  readonly bounds: NumberBounds
}

export interface MultiplesGrammar {
  readonly expression: string
  /** What it is made of: bodies by names. */
  readonly rules: ReadonlyMap<string, string>
}

/**
 * Null where no multiple lies within the bounds.
 * @throws RangeError for a number with too many remainders
 */
export function multiplesGrammar(multiples: Multiples, newName: () => string): MultiplesGrammar | null {
  return new MultiplesWriter(multiples, newName).write()
}

class MultiplesWriter {
  readonly #newName: () => string
  /** Of the last digit. */
  readonly #decimals: number
  readonly #unit: bigint
  /** What divides the digits without their point. */
  readonly #divisor: bigint
  readonly #bounds: readonly [bigint, bigint]
  /** Of rules, by their bodies. */
  readonly #names = new Map<string, string>()

  constructor({ of, isInteger, bounds }: Multiples, newName: () => string) {
    const { numerator, denominator } = toFraction(of)
    this.#decimals = isInteger ? 0 : String(denominator).length - 1
    this.#unit = 10n ** BigInt(this.#decimals)
    this.#divisor = isInteger ? numerator / greatestCommonDivisor(numerator, denominator) : numerator
    if (this.#divisor > MAX_REMAINDERS || withoutTens(this.#divisor) > MAX_LONG_REMAINDERS)
      throw new RangeError(`${of} has too many remainders`)
    this.#bounds = scaledBounds(bounds, this.#decimals)
    this.#newName = newName
  }

  write(): MultiplesGrammar | null {
    const [least, most] = this.#bounds
    const negative = least < 0n ? this.#magnitudes(most < 0n ? -most : 1n, -least) : null
    const positive = most >= 0n ? this.#magnitudes(least > 0n ? least : 0n, most) : null
    const alternatives = [negative === null ? null : `"-" ${negative}`, positive].filter(
      (one) => one !== null,
    )
    if (alternatives.length === 0) return null
    const rules = new Map([...this.#names].map(([body, name]) => [name, body]))
    return { expression: alternatives.join(' | '), rules }
  }

  /** Of numbers in units of the last digit. */
  #magnitudes(least: bigint, most: bigint): string | null {
    if (least > most) return null
    const width = String(most / this.#unit).length
    const known = new Map<string, string | null>()
    /** What may follow digits, by what they leave open: each distance to the end, and whether all of its numbers lie inside. */
    const rest = (digits: Digits): string | null => {
      const key = this.#keyOf(digits, { least, most, width })
      if (!known.has(key)) known.set(key, this.#writeRest(digits, { least, most, width }, rest))
      return known.get(key) ?? null
    }
    const first = Array.from({ length: 10 }, (_, digit) => ({
      digit,
      rest: rest({ value: BigInt(digit), decimals: 0, whole: 1 }),
    }))
    const body = writeDigits(first)
    return body === '' ? null : this.#nameOf(body)
  }

  #writeRest(digits: Digits, range: Range, rest: (digits: Digits) => string | null): string | null {
    const alternatives: string[] = []
    const { value, whole, decimals } = digits
    const isFraction = decimals > 0
    if (isFraction ? decimals < this.#decimals : whole < range.width && value > 0n) {
      const longer = (digit: number): Digits => ({
        value: value * 10n + BigInt(digit),
        whole: isFraction ? whole : whole + 1,
        decimals: isFraction ? decimals + 1 : 0,
      })
      const next = Array.from({ length: 10 }, (_, digit) => ({ digit, rest: rest(longer(digit)) }))
      alternatives.push(writeDigits(next))
    }
    if (!isFraction && this.#decimals > 0) {
      const fraction = (digit: number): Digits => ({ value: value * 10n + BigInt(digit), whole, decimals: 1 })
      const next = Array.from({ length: 10 }, (_, digit) => ({ digit, rest: rest(fraction(digit)) }))
      const body = writeDigits(next)
      if (body !== '') alternatives.push(`"." ${this.#nameOf(body)}`)
    }
    const body = alternatives.filter((one) => one !== '').join(' | ')
    const number = value * 10n ** BigInt(this.#decimals - decimals)
    const mayEnd = number >= range.least && number <= range.most && number % this.#divisor === 0n
    if (body === '') return mayEnd ? '' : null
    return this.#nameOf(mayEnd ? `(${body})?` : body)
  }

  /** Digits with the same key are followed by the same. */
  #keyOf({ value, whole, decimals }: Digits, { least, most, width }: Range): string {
    const more = decimals > 0 || value === 0n ? 0 : width - whole
    const places = Array.from({ length: more + 1 }, (_, digits) => {
      const unit = 10n ** BigInt(digits + this.#decimals - decimals)
      const [low, high] = [value * unit, (value + 1n) * unit - 1n]
      if (high < least || low > most) return 'o'
      return low >= least && high <= most ? 'i' : 'p'
    })
    const isDecided = !places.includes('p')
    const left = isDecided ? `remainder ${value % this.#divisor}` : `digits ${value}`
    return `${decimals} ${value === 0n} ${places.join('')} ${left}`
  }

  #nameOf(body: string): string {
    const known = this.#names.get(body)
    if (known !== undefined) return known
    const name = this.#newName()
    this.#names.set(body, name)
    return name
  }
}

/** What is written so far. */
interface Digits {
  /** Without the point. */
  readonly value: bigint
  /** How many stand before the point. */
  readonly whole: number
  /** How many stand behind it. */
  readonly decimals: number
}

interface Range {
  readonly least: bigint
  readonly most: bigint
  /** The most digits before the point. */
  readonly width: number
}

interface NextDigit {
  readonly digit: number
  /** Null where nothing that begins so is allowed. */
  readonly rest: string | null
}

/** Digits that the same may follow share an alternative; empty where no digit is allowed. */
function writeDigits(next: readonly NextDigit[]): string {
  const digitsOf = new Map<string, number[]>()
  for (const { digit, rest } of next) {
    if (rest !== null) digitsOf.set(rest, [...(digitsOf.get(rest) ?? []), digit])
  }
  return [...digitsOf].map(([rest, digits]) => `[${digits.join('')}] ${rest}`.trim()).join(' | ')
}

function greatestCommonDivisor(a: bigint, b: bigint): bigint {
  return b === 0n ? a : greatestCommonDivisor(b, a % b)
}

/** What is left of a number without its factors 2 and 5: after some digits these no longer matter. */
function withoutTens(value: bigint): bigint {
  for (const factor of [2n, 5n]) if (value % factor === 0n) return withoutTens(value / factor)
  return value
}
