/**
 * What the alternatives of a rule can begin with: bytes, or other rules, which are the labels of edges in XGrammar's automata. Used by
 * `separate-alternatives.ts` and `follow-sets.ts`.
 */
import type { Alternative, BnfRule, OpaqueRule } from './bnf.ts'

/** A byte, or the name of a rule. */
type Edge = number | string

const ASCII = 128
const BYTES = 256
const CHARACTER = /\\u([0-9a-f]{4})|\\U([0-9a-f]{8})|(\\?)([^])/uy
const CONTROLS: Readonly<Record<string, number>> = {
  ...{ n: 0x0a, r: 0x0d, t: 0x09, f: 0x0c, v: 0x0b, b: 0x08, a: 0x07, e: 0x1b },
  0: 0,
}

export class FirstEdges {
  readonly #rules: ReadonlyMap<string, BnfRule | OpaqueRule>
  readonly #ofElements = new Map<string, ReadonlySet<Edge>>()

  constructor(rules: readonly (BnfRule | OpaqueRule)[]) {
    this.#rules = new Map(rules.map((rule) => [rule.name, rule]))
  }

  /** The alternatives in groups, of which no two have an edge in common. */
  groups(alternatives: readonly Alternative[]): readonly (readonly Alternative[])[] {
    const parents = alternatives.map((_, index) => index)
    const rootOf = (index: number): number => {
      const parent = parents[index] as number
      return parent === index ? index : (parents[index] = rootOf(parent))
    }
    const owners = new Map<Edge, number>()
    for (const [index, alternative] of alternatives.entries()) {
      for (const edge of this.#ofAlternative(alternative)) {
        const owner = owners.get(edge)
        if (owner === undefined) owners.set(edge, index)
        else parents[rootOf(index)] = rootOf(owner)
      }
    }
    const groups = new Map<number, Alternative[]>()
    for (const [index, alternative] of alternatives.entries()) {
      const root = rootOf(index)
      const group = groups.get(root)
      if (group === undefined) groups.set(root, [alternative])
      else group.push(alternative)
    }
    return [...groups.values()]
  }

  /** Whether it begins with any number of characters, one of which can also come behind them. */
  repeatsItsFirst([first, ...others]: Alternative): boolean {
    if (first === undefined || !isStar(first)) return false
    const own = this.#ofElement(first)
    return [...this.#ofAlternative(others)].some((edge) => own.has(edge))
  }

  #ofAlternative(alternative: Alternative): ReadonlySet<Edge> {
    const last = alternative.findIndex((element) => !isStar(element))
    const [only, ...others] = alternative.slice(0, last < 0 ? alternative.length : last + 1)
    if (only === undefined) return new Set()
    if (others.length === 0) return this.#ofElement(only)
    return new Set([only, ...others].flatMap((element) => [...this.#ofElement(element)]))
  }

  #ofElement(element: string): ReadonlySet<Edge> {
    const known = this.#ofElements.get(element)
    if (known !== undefined) return known
    const edges = new Set(this.#edges(element))
    this.#ofElements.set(element, edges)
    return edges
  }

  #edges(element: string): Iterable<Edge> {
    if (element.startsWith('"')) {
      const [first] = charactersOf(element.slice(1, -1))
      return first === undefined ? [] : Buffer.from(String.fromCodePoint(first.code)).subarray(0, 1)
    }
    if (element.startsWith('[')) return classBytes(element.slice(1, isStar(element) ? -2 : -1))
    const rule = this.#rules.get(element)
    return rule !== undefined && 'alternatives' in rule && this.#isCopied(rule)
      ? rule.alternatives.flatMap((one) => [...this.#ofAlternative(one)])
      : [element]
  }

  /** Whether XGrammar copies its alternatives into those that begin with it: those of no empty text and no other rule. */
  #isCopied({ alternatives }: BnfRule): boolean {
    return alternatives.every((one) => one.length > 0 && one.every((element) => /^["[]|\{/.test(element)))
  }
}

export function isStar(element: string): boolean {
  return element.startsWith('[') && element.endsWith('*')
}

interface Character {
  readonly code: number
  /** As it is written. */
  readonly text: string
}

export function* charactersOf(text: string): Generator<Character> {
  CHARACTER.lastIndex = 0
  for (let at = 0; at < text.length; at = CHARACTER.lastIndex) {
    CHARACTER.lastIndex = at
    const [whole = '', four, eight, backslash, character = ''] = CHARACTER.exec(text) ?? []
    const hex = four ?? eight
    const meant = backslash === '\\' ? CONTROLS[character] : undefined
    const code = hex === undefined ? (meant ?? character.codePointAt(0) ?? 0) : Number.parseInt(hex, 16)
    yield { code, text: whole }
  }
}

/** What its characters begin with; those beyond ASCII are taken for all that there are. */
export function classBytes(members: string): readonly number[] {
  const isNegated = members.startsWith('^')
  const characters = [...charactersOf(isNegated ? members.slice(1) : members)]
  const has = new Set<number>()
  for (let i = 0; i < characters.length; i++) {
    const [first, dash, last] = characters.slice(i, i + 3)
    if (first === undefined) break
    const isRange = dash?.text === '-' && last !== undefined
    const end = isRange ? last.code : first.code
    for (let code = first.code; code <= Math.min(end, ASCII); code++) has.add(code)
    if (end >= ASCII) has.add(ASCII)
    if (isRange) i += 2
  }
  return Array.from({ length: BYTES }, (_, byte) => byte).filter((byte) =>
    byte < ASCII ? has.has(byte) !== isNegated : isNegated || has.has(ASCII),
  )
}
