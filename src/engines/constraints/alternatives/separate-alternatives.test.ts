/** Grammars whose alternatives begin and end alike: what is compiled allows what they say, and nothing else. */
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { lengthOf } from '../../../../test/support/length-of.ts'
import { regexGrammar } from '../schema/strings/regex-grammar.ts'
import { loadXGrammar } from '../xgrammar.ts'
import { separateAlternatives } from './separate-alternatives.ts'

const xgrammar = loadXGrammar()
const { Grammar, GrammarCompiler, GrammarMatcher, TokenizerInfo } = xgrammar
const CHARACTERS = ['a', 'b', 'c', 'é', 'è']
const END = CHARACTERS.length
const MAX_LENGTH = 6
const MAX_TEXTS = 4000

const info = await TokenizerInfo.createTokenizerInfo([...CHARACTERS, '</s>'], 'raw', false, END + 1, [END])
const compiler = await GrammarCompiler.createGrammarCompiler(info, false)
afterAll(() => {
  compiler.dispose()
  info.dispose()
})

/** The texts that are allowed, the first ones of them, up to a length. */
async function allowedBy(grammar: string): Promise<readonly string[]> {
  const compiled = await compiler.compileGrammar(grammar)
  const matcher = await GrammarMatcher.createGrammarMatcher(compiled)
  const texts: string[] = []
  const extend = (text: string): void => {
    if (matcher.acceptToken(END)) {
      texts.push(text)
      matcher.rollBack(1)
    }
    if (text.length === MAX_LENGTH || texts.length > MAX_TEXTS) return
    for (const [token, character] of CHARACTERS.entries()) {
      if (!matcher.acceptToken(token)) continue
      extend(text + character)
      matcher.rollBack(1)
    }
  }
  extend('')
  matcher.dispose()
  compiled.dispose()
  return texts
}

describe('alternatives that begin and end alike', () => {
  it.each([
    ['texts', 'cc|bbc|bbb', ['bbb', 'bbc', 'cc']],
    ['texts of which one begins another', 'a|ab|abc|b', ['a', 'ab', 'abc', 'b']],
    ['characters that begin with the same byte', 'éa|èb|ééb', ['ééb', 'éa', 'èb']],
    ['classes that overlap', '[ab]c|[bc]a|aa', ['aa', 'ac', 'ba', 'bc', 'ca']],
    ['a loop before what it loops over', '[a]*[a]b', ['aaaaab', 'aaaab', 'aaab', 'aab', 'ab']],
  ])('%s', async (_, pattern, texts) => {
    const allowed = await allowedBy(await separateAlternatives(xgrammar, regexGrammar(pattern)))
    expect(allowed.toSorted()).toEqual(texts.toSorted())
  })

  it('keep rules of other forms', async () => {
    const text = await separateAlternatives(
      xgrammar,
      'root ::= TagDispatch(("<a>", b), stop_eos=true, stop_str=(), loop_after_dispatch=true)\nb ::= "x" | "xy"',
    )
    expect(text).toContain('TagDispatch(')
    await expect(Grammar.fromEBNF(text)).resolves.toBeDefined()
  })
})

const { pattern } = fc.letrec<{ pattern: string; one: string }>((tie) => ({
  pattern: fc.array(tie('one'), { minLength: 1, maxLength: 4 }).map((ones) => ones.join('|')),
  one: fc.oneof(
    { maxDepth: 2 },
    fc.stringMatching(/^[abc]{1,4}$/),
    fc.stringMatching(/^[abcéè]{1,3}$/),
    fc.constantFrom('[ab]', '[a-c]', '[^a]', '[bc]', '.'),
    fc.tuple(tie('one'), tie('one')).map((both) => both.join('')),
    fc.array(tie('one'), { minLength: 2, maxLength: 3 }).map((ones) => `(${ones.join('|')})`),
    fc
      .tuple(tie('one'), fc.constantFrom('*', '+', '?', '{0,2}', '{1,3}'))
      .map(([one, count]) => `(${one})${count}`),
  ),
}))

describe('a random regular expression', () => {
  it('allows what it does in JavaScript', async () => {
    await fc.assert(
      fc.asyncProperty(pattern, async (source) => {
        const expression = new RegExp(`^(?:${source})$`, 'u')
        const allowed = await allowedBy(await separateAlternatives(xgrammar, regexGrammar(source)))
        expect(allowed.filter((text) => !expression.test(text))).toEqual([])
        const missing = textsUpTo(4).filter((text) => expression.test(text) && !allowed.includes(text))
        if (allowed.length <= MAX_TEXTS) expect(missing).toEqual([])
      }),
      { numRuns: lengthOf({ test: 100, soak: 2000 }) },
    )
  })
})

function textsUpTo(length: number): readonly string[] {
  if (length === 0) return ['']
  const shorter = textsUpTo(length - 1)
  const longest = shorter.filter((text) => text.length === length - 1)
  return [...shorter, ...longest.flatMap((text) => CHARACTERS.map((character) => text + character))]
}
