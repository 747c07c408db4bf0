/**
 * Rewrites a grammar so that no two alternatives of a rule can begin with the same byte or rule. XGrammar 0.1.27 makes an automaton of
 * each rule and joins its states wrongly where alternatives share both beginnings and ends (mlc-ai/xgrammar#618), and then allows what
 * none of them does. In a rule without shared beginnings it joins nothing but equal states. What begins alike is written once, in front
 * of a rule of the rests; what only overlaps gets a rule of its own. Called by the grammar thread for all that it compiles.
 * Invariant: the texts that the grammar allows stay the same.
 */
import { type Alternative, type BnfRule, parseBnf, writeBnf } from './bnf.ts'
import { charactersOf, FirstEdges } from './first-edges.ts'
import { followAssertions } from './follow-sets.ts'
import type { XGrammar } from '../xgrammar.ts'

/** @throws what XGrammar throws where it cannot read the grammar; its instance is then not to be used again */
export async function separateAlternatives({ Grammar }: XGrammar, ebnf: string): Promise<string> {
  const grammar = await Grammar.fromEBNF(ebnf)
  const printed = grammar.toString()
  grammar.dispose()
  return separate(printed)
}

function separate(printed: string): string {
  const rules = parseBnf(printed)
  let prefix = 'alternative'
  while (rules.some(({ name }) => name.startsWith(prefix))) prefix += '_'
  const edges = new FirstEdges(rules)
  const added: BnfRule[] = []
  // Stands in rules that XGrammar would otherwise copy into those that begin with them: it copies none that refer to another.
  const nothing: BnfRule = { name: prefix, alternatives: [[]], suffix: '' }

  const addRule = (alternatives: readonly Alternative[]): string => {
    const name = `${prefix}${added.length}`
    const index = added.push(nothing) - 1
    added[index] = { name, alternatives: rewrite(alternatives), suffix: '' }
    return name
  }
  const rewrite = (alternatives: readonly Alternative[]): readonly Alternative[] =>
    edges.groups(alternatives).flatMap((group) => {
      const heads = [...byHead(group).values()].map(factor)
      return heads.length === 1 ? heads : heads.map((one) => [addRule([[...one, nothing.name]])])
    })
  /** Alternatives with the same head as one: what all begin with, and a rule of what follows. */
  const factor = (alike: readonly Alternative[]): Alternative => {
    const [first = []] = alike
    // An automaton that begins with a loop is joined with what follows the loop.
    if (alike.length === 1) return edges.repeatsItsFirst(first) ? [nothing.name, ...first] : first
    const shared = sharedStart(alike)
    return [shared, addRule(alike.map((one) => without(one, shared)))]
  }

  const rewritten = rules.map((rule) =>
    'body' in rule ? rule : { ...rule, alternatives: rewrite(rule.alternatives) },
  )
  const all = [...rewritten, ...added, nothing]
  const assertions = followAssertions(all)
  return writeBnf(
    all.map((rule) =>
      'body' in rule || rule.suffix !== '' ? rule : { ...rule, suffix: assertions.get(rule.name) ?? '' },
    ),
  )
}

function byHead(alternatives: readonly Alternative[]): ReadonlyMap<string, readonly Alternative[]> {
  const heads = new Map<string, Alternative[]>()
  for (const alternative of alternatives) {
    const head = headOf(alternative)
    const alike = heads.get(head)
    if (alike === undefined) heads.set(head, [alternative])
    else alike.push(alternative)
  }
  return heads
}

/** Its first element, of a text the first character. */
function headOf([first = '']: Alternative): string {
  return first.startsWith('"') ? `"${charactersOf(first.slice(1, -1)).next().value?.text}` : first
}

/** What all of them begin with, which have the same head: an element, or the beginning of their texts. */
function sharedStart([first = [], ...others]: readonly Alternative[]): string {
  const [element = ''] = first
  if (!element.startsWith('"')) return element
  const texts = others.map(([text = '']) => text)
  let length = 1
  for (const { text } of charactersOf(element.slice(1, -1))) {
    const end = length + text.length
    if (!texts.every((other) => other.startsWith(element.slice(0, end)))) break
    length = end
  }
  return `${element.slice(0, length)}"`
}

function without([first = '', ...others]: Alternative, start: string): Alternative {
  return first === start ? others : [`"${first.slice(start.length - 1)}`, ...others]
}
