/**
 * Writes alternatives as one expression in which no two alternatives at a place begin with the same character, so that a mask follows
 * one of them only: `separate-alternatives.ts` would give each that overlaps another a rule of its own. The subset construction of
 * automata theory, on spellings of numbers; called by `number-grammar.ts`.
 */

/** One character between two, both included. */
export interface Character {
  readonly low: string
  readonly high: string
}

/** A text character by character, and how many digits may follow. */
export interface Spelling {
  readonly characters: readonly Character[]
  readonly moreDigits: number
}

const SYMBOLS = ['-', '.', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9']
/** Characters of its body: what is shorter costs more as a rule than in each of its places. */
const SHORTEST_RULE = 60
const DIGIT: Character = { low: '0', high: '9' }

/** A spelling of which so many characters have been read. */
interface Place {
  readonly spelling: Spelling
  readonly read: number
}

/** Gives the name of a rule with this body. */
export type NameRule = (body: string) => string

/**
 * @param spellings at least one, none of them empty
 * @param nameRule for what follows in several places, which would take seconds to compile in each of them; written out without it
 */
export function writeDistinct(spellings: readonly Spelling[], nameRule?: NameRule): string {
  const ids = new Map(spellings.map((spelling, id) => [spelling, id]))
  const written = new Map<string, string>()
  const names = new Map<string, string>()
  const nameOf = (body: string): string => {
    if (nameRule === undefined || body.length < SHORTEST_RULE) return body
    const name = names.get(body) ?? nameRule(body)
    names.set(body, name)
    return name
  }
  const keyOf = (places: readonly Place[]) =>
    places.map(({ spelling, read }) => `${ids.get(spelling)}:${read}`).join()
  const write = (places: readonly Place[]): string => {
    const key = keyOf(places)
    const known = written.get(key)
    if (known !== undefined) return known
    const alternatives = branches(places, keyOf).map(({ symbols, next }) => {
      const rest = write(next)
      return rest === '' ? characterClass(symbols) : `${characterClass(symbols)} ${rest}`
    })
    const text = nameOf(isEnd(places) ? optional(alternatives) : `(${alternatives.join(' | ')})`)
    written.set(key, text)
    return text
  }
  return write(spellings.map((spelling) => ({ spelling, read: 0 })))
}

function optional(alternatives: readonly string[]): string {
  return alternatives.length === 0 ? '' : `(${alternatives.join(' | ')})?`
}

function isEnd(places: readonly Place[]): boolean {
  return places.some(({ spelling, read }) => read >= spelling.characters.length)
}

interface Branch {
  readonly symbols: string[]
  readonly next: readonly Place[]
}

/** What may follow, symbols that lead to the same places together. */
function branches(places: readonly Place[], keyOf: (places: readonly Place[]) => string): readonly Branch[] {
  const byKey = new Map<string, Branch>()
  for (const symbol of SYMBOLS) {
    const next = places
      .filter((place) => admits(place, symbol))
      .map(({ spelling, read }) => ({ spelling, read: read + 1 }))
    if (next.length === 0) continue
    const key = keyOf(next)
    const branch = byKey.get(key)
    if (branch === undefined) byKey.set(key, { symbols: [symbol], next })
    else branch.symbols.push(symbol)
  }
  return [...byKey.values()]
}

function admits({ spelling: { characters, moreDigits }, read }: Place, symbol: string): boolean {
  const character = characters[read] ?? (read < characters.length + moreDigits ? DIGIT : null)
  return character !== null && character.low <= symbol && symbol <= character.high
}

function characterClass(symbols: readonly string[]): string {
  const [first = ''] = symbols
  const last = symbols.at(-1) ?? first
  if (symbols.length === 1) return `"${first}"`
  const isRun = SYMBOLS.indexOf(last) - SYMBOLS.indexOf(first) === symbols.length - 1 && first >= '0'
  return isRun ? `[${first}-${last}]` : `[${symbols.join('')}]`
}
