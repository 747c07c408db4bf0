/** Lookahead assertions: which there are, and that they leave out no token that may come. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { loadXGrammar } from '../xgrammar.ts'
import { parseBnf } from './bnf.ts'
import { followAssertions } from './follow-sets.ts'
import { separateAlternatives } from './separate-alternatives.ts'

const xgrammar = loadXGrammar()
const { GrammarCompiler, GrammarMatcher, TokenizerInfo } = xgrammar
/** Bytes as byte-level vocabularies write them; the last three make up `é` and `è`. */
const BYTES = ['a', 'b', 'c', ' ', '"', 'Ã', '©', '¨']
const TOKENS = [
  ...BYTES,
  ...BYTES.flatMap((one) => BYTES.map((two) => one + two)),
  ...BYTES.flatMap((one) => BYTES.flatMap((two) => BYTES.map((three) => one + two + three))),
]
const END = TOKENS.length
const STEPS = 6

const info = await TokenizerInfo.createTokenizerInfo([...TOKENS, '</s>'], 'byte_level', false, END + 1, [END])
const compiler = await GrammarCompiler.createGrammarCompiler(info, false)

/** The tokens that masks allow at each step. @param choices which token is taken there, as a part of those that may come */
async function walk(grammar: string, choices: readonly number[]): Promise<readonly (readonly string[])[]> {
  const compiled = await compiler.compileGrammar(grammar)
  const matcher = await GrammarMatcher.createGrammarMatcher(compiled)
  const steps: string[][] = []
  for (const choice of choices) {
    if (matcher.isTerminated()) break
    const mask = await matcher.getNextTokenBitmask()
    const tokenIds = [...TOKENS.keys()].filter(
      (tokenId) => (((mask[tokenId >> 5] ?? 0) >>> (tokenId & 31)) & 1) === 1,
    )
    steps.push(tokenIds.map((tokenId) => TOKENS[tokenId] as string))
    const taken = tokenIds[Math.floor(choice * tokenIds.length)]
    if (taken === undefined || !matcher.acceptToken(taken)) break
  }
  matcher.dispose()
  compiled.dispose()
  return steps
}

const RULES = ['r0', 'r1', 'r2', 'r3']
const element = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom('"a"', '"b"', '" "', '"ab"', '"\\""', '"é"', '"cè"', '[ab]', '[a-c]*', '[^a]'),
  },
  { weight: 2, arbitrary: fc.constantFrom(...RULES) },
  { weight: 1, arbitrary: fc.constantFrom('r3{0,2}', 'r2{1,3}', 'r1?') },
)
const alternative = fc.array(element, { maxLength: 3 }).map((elements) => elements.join(' ') || '""')
const body = fc.array(alternative, { minLength: 1, maxLength: 3 }).map((all) => all.join(' | '))
/** A rule refers to those behind it only, so that each has an end. */
const grammar = fc.tuple(body, body, body, body, body).map((bodies) =>
  bodies
    .map((text, index) => {
      const name = index === 0 ? 'root' : RULES[index - 1]
      return `${name} ::= ${text.replaceAll(/r(\d)/g, (whole, digit) => (Number(digit) >= index ? whole : '"c"'))}`
    })
    .join('\n'),
)

describe('the masks of a random grammar', () => {
  it('are the same with assertions and without', async () => {
    const choices = fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), {
      minLength: STEPS,
      maxLength: STEPS,
    })
    await fc.assert(
      fc.asyncProperty(grammar, choices, async (source, chosen) => {
        const asserted = await separateAlternatives(xgrammar, source)
        const plain = asserted.replaceAll(/ \(=\(\[.*?\]\)\)$/gm, '')
        expect(await walk(asserted, chosen)).toEqual(await walk(plain, chosen))
      }),
    )
  })
})

describe('the assertion behind a rule', () => {
  const assertionsOf = (text: string): Readonly<Record<string, string>> =>
    Object.fromEntries(followAssertions(parseBnf(text)))

  it('names what comes behind all its places', () => {
    const text = 'root ::= (("[" ws "{" ws item "}"))\nitem ::= ((ws "x"))\nws ::= ("" | (" "))'
    expect(assertionsOf(text)).toEqual({ ws: ' (=([\\u0020\\u0078\\u007b]))' })
  })

  it('looks through what may be empty, and goes on behind the end of a rule', () => {
    const text =
      'root ::= ((list ";"))\nlist ::= ((item more))\nmore ::= ("" | ("," list))\nitem ::= (("0" sign) | ("1" sign))\nsign ::= ("" | [-+])'
    expect(assertionsOf(text)).toEqual({
      list: ' (=([\\u003b]))',
      more: ' (=([\\u003b]))',
      sign: ' (=([\\u002c\\u003b]))',
    })
  })

  it('is none where anything may come', () => {
    expect(assertionsOf('root ::= ((a a b))\na ::= (("x"))\nb ::= (([^y]))')).toEqual({})
    expect(assertionsOf('root ::= ((a) | ("y" a))\na ::= (("x"))')).toEqual({})
    expect(
      assertionsOf(
        'root ::= TagDispatch(("<a>", b), stop_eos=true, stop_str=(), loop_after_dispatch=true)\nb ::= (("x" b) | ("y"))',
      ),
    ).toEqual({})
  })
})
