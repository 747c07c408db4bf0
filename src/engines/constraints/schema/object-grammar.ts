/** The members of an object as a grammar: in one order, each at most once, commas between them. */
import { characterSet } from './strings/character-class.ts'
import { difference, type Ranges, single, union } from './strings/character-ranges.ts'
import { literal } from './ebnf.ts'
import { PLAIN } from './json-rules.ts'

const LAST_ASCII = 0x7f
/** The characters of `PLAIN`. */
const UNESCAPED: Ranges = [
  [0x20, 0x21],
  [0x23, 0x5b],
  [0x5d, 0x10ffff],
]

interface Member {
  /** An expression for key, colon and value. */
  readonly member: string
  readonly isRequired: boolean
}

export interface ObjectShape {
  readonly members: readonly Member[]
  /** Any number of which may follow; null for none. */
  readonly other: string | null
  /** Rules of whitespace. */
  readonly ws: string
  readonly comma: string
}

/** Gives the name of a rule with this body. */
type AddRule = (body: string) => string

export function writeObject({ members, other, ws, comma }: ObjectShape, addRule: AddRule): string {
  const more = other === null ? '' : `(${comma} ${other})*`
  /** What follows a member, by the index of the next one. */
  const tails = [more]
  for (const { member, isRequired } of members.toReversed()) {
    const one = `${comma} ${member}`
    const rest = tails[0] === '' ? '' : addRule(tails[0] as string)
    tails.unshift(`${isRequired ? one : `(${one})?`} ${rest}`)
  }
  // The first member that is written: up to the first that must be there.
  const firstRequired = members.findIndex(({ isRequired }) => isRequired)
  const starts = members
    .slice(0, firstRequired < 0 ? members.length : firstRequired + 1)
    .map(({ member }, index) => `${member} ${tails[index + 1]} ${ws}`)
  if (firstRequired < 0 && other !== null) starts.push(`${other} ${more} ${ws}`)
  const all = starts.length === 0 ? '' : addRule(starts.join(' | '))
  return `"{" ${ws} ${firstRequired < 0 && all !== '' ? `(${all})?` : all} "}"`
}

/** A key that is none of these names: they would stand in the object twice. Written without escapes. */
export function keyNotAmong(names: readonly string[], addRule: AddRule): string {
  const anyRest = `${PLAIN}*`
  const write = (tails: readonly string[]): string => {
    const firsts = [...new Set(tails.flatMap((tail) => Array.from(tail).slice(0, 1)))]
    const alternatives = firsts.map((first) => {
      const own = tails.filter((tail) => tail.startsWith(first)).map((tail) => tail.slice(first.length))
      return `${literal(first)} ${addRule(write(own))}`
    })
    alternatives.push(`${characterNotAmong(firsts)} ${anyRest}`)
    if (!tails.includes('')) alternatives.push('""')
    return alternatives.join(' | ')
  }
  // Names that JSON escapes cannot be written this way in any case.
  const plain = names.filter((name) => JSON.stringify(name) === `"${name}"`)
  return `"\\"" ${addRule(write(plain))} "\\""`
}

/** XGrammar's classes cannot leave out a single character beyond ASCII; all of them are left out where one must be. */
function characterNotAmong(excluded: readonly string[]): string {
  const codes = excluded.map((character) => character.codePointAt(0) as number)
  const isAscii = codes.every((code) => code <= LAST_ASCII)
  const beyond: Ranges = isAscii ? [] : [[LAST_ASCII + 1, 0x10ffff]]
  return characterSet(difference(UNESCAPED, union(beyond, ...codes.map(single)))) ?? '""'
}
