/** Counted items: which tokens may come at each place of a text, those that end behind a block among them. */
import { expect, it } from 'vitest'
import { separateAlternatives } from '../alternatives/separate-alternatives.ts'
import { SourceCompiler } from '../source-compiler.ts'
import { loadXGrammar } from '../xgrammar.ts'
import { schemaToGrammar } from './schema-grammar.ts'
import { regexGrammar } from './strings/regex-grammar.ts'

const xgrammar = loadXGrammar()

/** Shorter than a block, longer than one and than two, with what may stand behind the last item, and what may not. */
const RUNS = [1, 2, 3, 5, 8, 13, 15, 16, 17, 18, 31, 32, 33, 34, 40]
const END = '</s>'

/** The tokens that may come behind each number of items, up to where no item may follow. */
async function allowedBehind(
  ebnf: string,
  { start, item, tokens }: Run,
  places: number,
): Promise<readonly string[][]> {
  const texts = [END, start, item, ...tokens]
  const compiler = await SourceCompiler.open(xgrammar, { texts, endTokenIds: [0] })
  const text = await separateAlternatives(xgrammar, ebnf)
  const matcher = await xgrammar.GrammarMatcher.createGrammarMatcher(
    await compiler.compile({ kind: 'ebnf', text }),
  )
  if (start !== '') matcher.acceptToken(1)
  const allowed: string[][] = []
  do {
    const mask = await matcher.getNextTokenBitmask()
    allowed.push(texts.filter((_, id) => (((mask[id >> 5] ?? 0) >> (id & 31)) & 1) === 1))
  } while (allowed.length < places && matcher.acceptToken(2))
  return allowed
}

interface Run {
  /** A token in front of the first item. */
  readonly start: string
  readonly item: string
  readonly tokens: readonly string[]
}

/** The tokens of these that a text with so many items may go on with. */
function expected({ item, tokens }: Run, count: number, isBegun: (text: string) => boolean): string[] {
  const sofar = item.repeat(count)
  return [END, item, ...tokens].filter((token) => isBegun(token === END ? `${sofar}$` : sofar + token))
}

it.each([
  [0, 31],
  [0, 32],
  [0, 33],
  [0, 100],
  [1, 63],
  [16, 90],
  [33, 64],
  [40, 40],
  [47, 48],
  [70, 140],
  [35, Infinity],
])('a pattern of %i to %i characters', async (least, most) => {
  const run: Run = {
    start: '',
    item: 'a',
    tokens: [
      ...RUNS.slice(1).map((length) => 'a'.repeat(length)),
      'b',
      'ab',
      `${'a'.repeat(17)}b`,
      'ba',
      'c',
    ],
  }
  const bounds = most === Infinity ? `${least},` : `${least},${most}`

  const places = most === Infinity ? 100 : most + 1
  const allowed = await allowedBehind(regexGrammar(`a{${bounds}}b`), run, places + 1)

  const isBegun = (text: string): boolean => {
    const [, items = '', rest = ''] = /^(a*)(.*)$/.exec(text) ?? []
    return items.length <= most && (rest === '' || (items.length >= least && rest === 'b'))
  }
  for (let count = 0; count < places; count++) {
    const found = allowed[count]?.filter((token) => token !== '')
    expect([count, found]).toEqual([count, expected(run, count, isBegun)])
  }
  if (most !== Infinity) expect(allowed).toHaveLength(places)
})

it.each([
  [0, 20],
  [0, 50],
  [3, 100],
  [40, 80],
  [35, Infinity],
])('a string of %i to %i characters', async (least, most) => {
  const tokens = [...RUNS.slice(1).map((length) => 'é'.repeat(length)), '"', 'é"', `${'é'.repeat(15)}"`, '"x']
  const run: Run = { start: '"', item: 'é', tokens }
  const asBytes = (text: string): string => text.replaceAll('é', 'Ã©')
  const schema = { type: 'string', minLength: least, ...(most !== Infinity && { maxLength: most }) }

  const places = most === Infinity ? 100 : most + 1
  const inBytes = { start: '"', item: asBytes('é'), tokens: tokens.map(asBytes) }
  const allowed = await allowedBehind(schemaToGrammar(schema, { isStrict: true }), inBytes, places + 1)

  const isBegun = (text: string): boolean => {
    const [, items = '', rest = ''] = /^(é*)(.*)$/.exec(text) ?? []
    return items.length <= most && (rest === '' || (items.length >= least && rest === '"'))
  }
  for (let count = 0; count < places; count++) {
    // The token in front of the first is a quotation mark too.
    const found = new Set(allowed[count])
    expect([count, [...found].sort()]).toEqual([
      count,
      [...new Set(expected(run, count, isBegun).map(asBytes))].sort(),
    ])
  }
})

it('a character that JSON escapes may come wherever another may', async () => {
  const escaped = '\\"'
  const schema = { type: 'string', minLength: 3, maxLength: 100 }
  const run: Run = { start: '"', item: 'x', tokens: [escaped, `x${escaped}`] }

  const allowed = await allowedBehind(schemaToGrammar(schema, { isStrict: true }), run, 101)

  expect(allowed.map((tokens) => tokens.includes(escaped))).toEqual([
    ...Array<boolean>(100).fill(true),
    false,
  ])
})
