/**
 * Numbers between bounds as grammars, digit by digit. Numbers without bounds have rules of their own.
 * Invariant: of alternatives at one place no two begin alike (`distinct-prefixes.ts`).
 */
import { type Character, type NameRule, type Spelling, writeDistinct } from './distinct-prefixes.ts'

export interface NumberBounds {
  /** Null is no bound. */
  readonly least: Bound | null
  readonly most: Bound | null
}

export interface Bound {
  readonly value: number
  readonly isExclusive: boolean
}

/** What a bound leaves open is bounded by this many digits, so that every number can be read back as a finite one. */
const MAX_DIGITS = 15
const OPEN = 10n ** BigInt(MAX_DIGITS)
/** Digits behind the point beyond those of the bounds, so that what is just inside an exclusive bound can be written. */
const FINER_DIGITS = 2
const MORE_DIGITS = 12

/** An integer within the bounds; null where there is none. */
export function integerGrammar(bounds: NumberBounds, nameRule: NameRule): string | null {
  return joinAlternatives(
    signedAlternatives(scaledBounds(bounds, 0), { digits: 0, hasMore: false }),
    nameRule,
  )
}

/** A decimal number without exponent; null where there is none. */
export function numberGrammar(bounds: NumberBounds, nameRule: NameRule): string | null {
  const decimals = Math.max(decimalsOf(bounds.least), decimalsOf(bounds.most), 1) + FINER_DIGITS
  const alternatives = Array.from({ length: decimals + 1 }, (_, digits) =>
    signedAlternatives(scaledBounds(bounds, digits), { digits, hasMore: digits === decimals }),
  )
  return joinAlternatives(alternatives.flat(), nameRule)
}

interface Form {
  /** Digits behind the point. */
  readonly digits: number
  /** Whether more digits may follow, which only make a number larger in absolute value. */
  readonly hasMore: boolean
}

function joinAlternatives(alternatives: readonly Spelling[], nameRule: NameRule): string | null {
  return alternatives.length === 0 ? null : writeDistinct(alternatives, nameRule)
}

/** The bounds times ten to the power of `digits`, as whole numbers that lie inside. */
export function scaledBounds({ least, most }: NumberBounds, digits: number): readonly [bigint, bigint] {
  const open = OPEN * 10n ** BigInt(digits)
  return [least === null ? -open : scale(least, digits, 1n), most === null ? open : scale(most, digits, -1n)]
}

/** @param inwards 1 for a lower bound, -1 for an upper one */
function scale({ value, isExclusive }: Bound, digits: number, inwards: 1n | -1n): bigint {
  const { numerator, denominator } = toFraction(value)
  const scaled = numerator * 10n ** BigInt(digits)
  const floor = floorOf(scaled, denominator)
  const isWhole = scaled % denominator === 0n
  if (isWhole) return isExclusive ? floor + inwards : floor
  return inwards === 1n ? floor + 1n : floor
}

function floorOf(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator
  return numerator < 0n && numerator % denominator !== 0n ? quotient - 1n : quotient
}

/** A double as the decimal that it is written as. */
export function toFraction(value: number): { readonly numerator: bigint; readonly denominator: bigint } {
  const [mantissa = '0', exponent = '0'] = String(value).split('e')
  const [whole = '0', decimals = ''] = mantissa.split('.')
  const power = Number(exponent) - decimals.length
  const digits = BigInt(`${whole}${decimals}`)
  return power >= 0
    ? { numerator: digits * 10n ** BigInt(power), denominator: 1n }
    : { numerator: digits, denominator: 10n ** BigInt(-power) }
}

function decimalsOf(bound: Bound | null): number {
  const text = bound === null ? '' : String(bound.value)
  const [mantissa = '', exponent = '0'] = text.split('e')
  return Math.min(Math.max(0, (mantissa.split('.')[1] ?? '').length - Number(exponent)), MAX_DIGITS)
}

function signedAlternatives([least, most]: readonly [bigint, bigint], form: Form): readonly Spelling[] {
  const alternatives: Spelling[] = []
  if (least < 0n) {
    const nearest = most < 0n ? -most : 1n
    const minus = { low: '-', high: '-' }
    for (const one of magnitudes(nearest, -least, form))
      alternatives.push({ ...one, characters: [minus, ...one.characters] })
  }
  if (most >= 0n) alternatives.push(...magnitudes(least > 0n ? least : 0n, most, form))
  return alternatives
}

/** The whole numbers from `low` to `high`, written with a point before their last `digits` digits. */
function magnitudes(low: bigint, high: bigint, { digits, hasMore }: Form): readonly Spelling[] {
  if (low > high) return []
  // More digits make the number larger, so the last one may have none.
  if (hasMore) {
    const last = magnitudes(high, high, { digits, hasMore: false })
    return low === high
      ? last
      : [
          ...magnitudes(low, high - 1n, { digits, hasMore: false }).map(({ characters }) => ({
            characters,
            moreDigits: MORE_DIGITS,
          })),
          ...last,
        ]
  }
  const leastWidth = digits + 1
  const alternatives: Spelling[] = []
  for (let width = leastWidth; width <= Math.max(leastWidth, String(high).length); width++) {
    const first = width === leastWidth ? 0n : 10n ** BigInt(width - 1)
    const last = 10n ** BigInt(width) - 1n
    const from = low > first ? low : first
    const to = high < last ? high : last
    if (from > to) continue
    const pad = (value: bigint) => String(value).padStart(width, '0')
    for (const range of digitRanges(pad(from), pad(to)))
      alternatives.push({ characters: withPoint(range, digits), moreDigits: 0 })
  }
  return alternatives
}

function withPoint(range: readonly Character[], digits: number): readonly Character[] {
  if (digits === 0) return range
  const point = range.length - digits
  return [...range.slice(0, point), { low: '.', high: '.' }, ...range.slice(point)]
}

/** Numbers of one width as sequences of digits. */
function digitRanges(from: string, to: string): readonly (readonly Character[])[] {
  if (from === '') return [[]]
  const [low, high] = [Number(from[0]), Number(to[0])]
  const [restFrom, restTo] = [from.slice(1), to.slice(1)]
  const startWith = (digit: number, rests: readonly (readonly Character[])[]) =>
    rests.map((rest) => [digitBetween(digit, digit), ...rest])
  if (low === high) return startWith(low, digitRanges(restFrom, restTo))
  const nines = '9'.repeat(restFrom.length)
  const zeros = '0'.repeat(restFrom.length)
  const isLowWhole = restFrom === zeros
  const isHighWhole = restTo === nines
  const middle: readonly [number, number] = [isLowWhole ? low : low + 1, isHighWhole ? high : high - 1]
  const anyRest = Array.from({ length: restFrom.length }, () => digitBetween(0, 9))
  return [
    ...(isLowWhole ? [] : startWith(low, digitRanges(restFrom, nines))),
    ...(middle[0] <= middle[1] ? [[digitBetween(...middle), ...anyRest]] : []),
    ...(isHighWhole ? [] : startWith(high, digitRanges(zeros, restTo))),
  ]
}

function digitBetween(low: number, high: number): Character {
  return { low: String(low), high: String(high) }
}
