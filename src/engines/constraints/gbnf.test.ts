/** Grammars of llama.cpp, where they differ from XGrammar's. */
import { describe, expect, it } from 'vitest'
import { separateAlternatives } from './alternatives/separate-alternatives.ts'
import { fromGbnf } from './gbnf.ts'
import { loadXGrammar } from './xgrammar.ts'

const xgrammar = loadXGrammar()
const { Grammar, Testings } = xgrammar

describe('a grammar of llama.cpp', () => {
  it.each([
    ['root ::= "a.b" . c.d # a . comment\nc.d ::= [.x]', ['a.b\n.', 'a.béx'], ['a.b.', 'axb?.', 'a.b?y']],
    ['root ::= [а-яё]+ [^"]', ['приветx'], ['hello', 'привет"']],
    [String.raw`root ::= [\u00e9-\u00eb\x41\n]`, ['é', 'ë', 'A', '\n'], ['ì', 'B']],
    [String.raw`root ::= [а-яb]+ "-"`, ['аb-'], ['а--']],
    [String.raw`root ::= [а\-я]`, ['а', 'я', '-'], ['б']],
    [String.raw`root ::= [\^a-c]* "."`, ['^ab.', '.'], ['_.', 'd.']],
    ['root ::= "a" . # no [^é] here, nor an "end', ['ab'], ['a']],
    ['root ::= ("yes" | "no") ("!")? [0-9]{2,3}\n', ['yes12', 'no!123'], ['yes1', 'maybe12']],
  ])('%s', async (source, valid, invalid) => {
    const grammar = await Grammar.fromEBNF(await separateAlternatives(xgrammar, fromGbnf(source)))
    for (const one of valid)
      expect([one, await Testings.isGrammarAcceptString(grammar, one)]).toEqual([one, true])
    for (const one of invalid)
      expect([one, await Testings.isGrammarAcceptString(grammar, one)]).toEqual([one, false])
  })

  it('is refused where a class cannot be written', () => {
    expect(() => fromGbnf('root ::= [^é]')).toThrow(
      'the class [^é] has too many characters beyond ASCII, but not all',
    )
  })
})
