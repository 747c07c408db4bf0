/**
 * Which characters can come behind a rule: the FOLLOW sets of parsing (Aho, Lam, Sethi, Ullman: Compilers, section 4.4.2), by first
 * byte. XGrammar decides when it compiles which tokens fit at a place of a rule. Of a token that goes on behind the rule's end it
 * decides nothing, and looks again for each mask: behind optional whitespace at every token that begins with a space. A lookahead
 * assertion lets it leave out most of them. Used by `separate-alternatives.ts`.
 * Invariant: an assertion leaves out nothing that the grammar allows.
 */
import type { Alternative, BnfRule, OpaqueRule } from './bnf.ts'
import { charactersOf, classBytes, isStar } from './first-edges.ts'

/** The first byte of a character: each of ASCII is a kind, and all others are one. */
const BEYOND_ASCII = 0x80
const KINDS = BEYOND_ASCII + 1
/** Where more may come, an assertion leaves out too little to be worth its time. */
const MAX_KINDS = 64
/** How XGrammar prints a rule that is repeated: `rule{2, 5}`. */
const REPEATED = /\{-?\d+, -?\d+\}$/
const NAME = /[\w.-]+/g

interface Rule {
  readonly alternatives: readonly Alternative[]
  /** A 1 for each kind of character that its texts begin with. */
  readonly first: Uint8Array
  isNullable: boolean
  /** The same for what comes behind it. */
  readonly follow: Uint8Array
  readonly users: Set<Rule>
  isReachable: boolean
  /** Places in front of others in an alternative, which are there when XGrammar has rewritten the grammar. */
  places: number
  /** Whether an alternative of another rule ends with it, likewise. */
  isLast: boolean
}

type Rules = ReadonlyMap<string, Rule>

/** The lookahead assertion of each rule that gains by one. */
export function followAssertions(rules: readonly (BnfRule | OpaqueRule)[]): ReadonlyMap<string, string> {
  const known = new Map(rules.map((rule) => [rule.name, newRule(rule)]))
  for (const rule of known.values()) linkUsers(rule, known)
  countPlaces(known)
  settle(known.values(), (rule) => (growFirst(rule, known) ? rule.users : []))
  // What comes behind the whole is not known: it may be a part of another grammar.
  known.get('root')?.follow.fill(1)
  for (const rule of rules) if ('body' in rule) openFollows(rule, known)
  settle(known.values(), (rule) => growFollows(rule, known))
  return new Map([...known].flatMap(([name, rule]) => (gains(rule) ? [[name, assertion(rule.follow)]] : [])))
}

function newRule(rule: BnfRule | OpaqueRule): Rule {
  const isOpaque = 'body' in rule
  const first = new Uint8Array(KINDS).fill(Number(isOpaque))
  const alternatives = isOpaque ? [] : rule.alternatives
  return {
    ...{ alternatives, first, isNullable: isOpaque, follow: new Uint8Array(KINDS) },
    ...{ users: new Set(), isReachable: rule.name === 'root', places: 0, isLast: false },
  }
}

function linkUsers(rule: Rule, rules: Rules): void {
  for (const element of rule.alternatives.flat()) ruleOf(element, rules)?.users.add(rule)
}

/**
 * Counts the places of rules that the whole is made of. Left out are those that begin an alternative, where XGrammar may put a copy,
 * and repetitions.
 */
function countPlaces(rules: Rules): void {
  const root = rules.get('root')
  settle(root === undefined ? [] : [root], (rule) => {
    const found: Rule[] = []
    for (const alternative of rule.alternatives) {
      for (const [index, element] of alternative.entries()) {
        const used = ruleOf(element, rules)
        if (used === undefined) continue
        if (!used.isReachable) found.push(used)
        used.isReachable = true
        if (index === 0 || REPEATED.test(element)) continue
        if (index < alternative.length - 1) used.places++
        else used.isLast ||= used !== rule
      }
    }
    return found
  })
}

/** Anything may come behind the rules that a rule of another form names. */
function openFollows({ body }: OpaqueRule, rules: Rules): void {
  for (const [name] of body.matchAll(NAME)) rules.get(name)?.follow.fill(1)
}

/** Applies a function to each rule, and again to those that it gives, until none is left. */
function settle(rules: Iterable<Rule>, grow: (rule: Rule) => Iterable<Rule>): void {
  const waiting = new Set(rules)
  for (const rule of waiting) {
    waiting.delete(rule)
    for (const other of grow(rule)) waiting.add(other)
  }
}

function growFirst(rule: Rule, rules: Rules): boolean {
  let hasGrown = false
  for (const alternative of rule.alternatives) {
    let isNullable = true
    for (const element of alternative) {
      const part = firstOf(element, rules)
      hasGrown = add(rule.first, part.first) || hasGrown
      isNullable = part.isNullable
      if (!isNullable) break
    }
    if (isNullable && !rule.isNullable) hasGrown = rule.isNullable = true
  }
  return hasGrown
}

/** Hands on what comes behind a rule to those within it, and gives those that have grown. */
function growFollows(rule: Rule, rules: Rules): readonly Rule[] {
  const grown: Rule[] = []
  for (const alternative of rule.alternatives) {
    let behind = rule.follow.slice()
    for (const element of alternative.toReversed()) {
      const { first, isNullable } = firstOf(element, rules)
      const used = ruleOf(element, rules)
      if (REPEATED.test(element)) add(behind, first)
      if (used !== undefined && add(used.follow, behind)) grown.push(used)
      if (!isNullable) behind = new Uint8Array(KINDS)
      add(behind, first)
    }
  }
  return grown
}

function ruleOf(element: string, rules: Rules): Rule | undefined {
  return rules.get(element.replace(REPEATED, ''))
}

function firstOf(element: string, rules: Rules): Pick<Rule, 'first' | 'isNullable'> {
  if (element.startsWith('"')) {
    const [character] = charactersOf(element.slice(1, -1))
    return character === undefined ? firstOfBytes([], true) : firstOfBytes([character.code], false)
  }
  if (element.startsWith('['))
    return firstOfBytes(classBytes(element.slice(1, isStar(element) ? -2 : -1)), isStar(element))
  const rule = ruleOf(element, rules)
  if (rule === undefined) return { first: new Uint8Array(KINDS).fill(1), isNullable: true }
  // A count may be none.
  return { first: rule.first, isNullable: rule.isNullable || REPEATED.test(element) }
}

function firstOfBytes(codes: readonly number[], isNullable: boolean): Pick<Rule, 'first' | 'isNullable'> {
  const first = new Uint8Array(KINDS)
  for (const code of codes) first[Math.min(code, BEYOND_ASCII)] = 1
  return { first, isNullable }
}

/** Whether it grows. */
function add(kinds: Uint8Array, others: Uint8Array): boolean {
  let hasGrown = false
  for (let kind = 0; kind < KINDS; kind++) {
    if (others[kind] === 0 || kinds[kind] === 1) continue
    kinds[kind] = 1
    hasGrown = true
  }
  return hasGrown
}

/**
 * Not where nothing or nearly all may come. Nor where a rule has one place: XGrammar takes the assertion there for exactly what comes,
 * and then for enough.
 */
function gains({ follow, places, isLast }: Rule): boolean {
  const kinds = follow.reduce((sum, kind) => sum + kind, 0)
  return (places > 1 || isLast) && kinds > 0 && kinds <= MAX_KINDS
}

function assertion(follow: Uint8Array): string {
  // Beyond ASCII, XGrammar's classes have all or nothing: what a class leaves out are single characters of ASCII.
  const isNegated = follow[BEYOND_ASCII] === 1
  const members: string[] = []
  for (let kind = 0; kind < BEYOND_ASCII; kind++) {
    if ((follow[kind] === 1) === isNegated) continue
    const first = kind
    while (kind + 1 < BEYOND_ASCII && (follow[kind + 1] === 1) !== isNegated) kind++
    members.push(kind === first ? escape(first) : `${escape(first)}-${escape(kind)}`)
  }
  return ` (=([${isNegated ? '^' : ''}${members.join('')}]))`
}

function escape(code: number): string {
  return `\\u${code.toString(16).padStart(4, '0')}`
}
