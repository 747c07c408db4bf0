/** Regular expressions as grammars of whole texts. */
import { describe, expect, it } from 'vitest'
import { separateAlternatives } from '../../alternatives/separate-alternatives.ts'
import { loadXGrammar } from '../../xgrammar.ts'
import { regexGrammar, regexToGrammar } from './regex-grammar.ts'

const xgrammar = loadXGrammar()
const { Grammar, Testings } = xgrammar

const TEXTS = [
  '',
  'a',
  'b',
  'ab',
  'abb',
  'aab',
  '1',
  '-',
  ' ',
  '\n',
  'é',
  '😀',
  'a.b',
  '"',
  '\\',
  '{',
  ']',
  'a{1}',
  'A',
  '^',
  '_',
  'a^',
  '\0',
]

describe('a grammar of a regular expression', () => {
  it.each([
    'a',
    'ab?',
    'a|b',
    '(?:a|b)+',
    '(?<x>a)b*',
    '[^a-c]',
    '[\\d-]',
    '\\w+',
    '\\W',
    '\\s',
    '\\S',
    '.',
    'a{1,2}b{1,}',
    'a\\.b',
    '^a$',
    '^(a|ab)$',
    'a$|b',
    '[\\]"]',
    '\\u0061',
    '\\x62',
    '\\u{1f600}',
    'a{1}',
    'a\\{1\\}',
    '[^]',
    '',
    'a??',
    '[é-ë]',
    '{',
    '\\^*',
    '[\\^-`]*',
    '[a-z^]*',
    '[^^]',
    '\\0',
    '[\\0-\\x1f]',
    '\\ud83d\\ude00',
    'a?[\\uD83D\\uDE00-]',
    '[^\\ud800-\\udfff]',
  ])('%s allows what it matches', async (pattern) => {
    const grammar = await Grammar.fromEBNF(await separateAlternatives(xgrammar, regexGrammar(pattern)))
    const whole = new RegExp(
      `^(?:${pattern.replace(/^\^(.*)\$$/, '$1')})$`,
      'u'.repeat(Number(pattern !== '{')),
    )
    for (const text of TEXTS) {
      expect([text, await Testings.isGrammarAcceptString(grammar, text)]).toEqual([text, whole.test(text)])
    }
  })

  it.each([
    ['(?i)yes|no', '[yY][eE][sS]|[nN][oO]'],
    ['(?i:y)es', '[yY]es'],
    ['(?i:y(?:e(?i:s)))S', '[yY][eE][sS]S'],
    ['(?i)[a-c]{2}', '[a-cA-C]{2}'],
    ['(?i)[^a-cZ]', '[^a-cA-CzZ]'],
    ['(?i)\\x61\\u0062', '[aA][bB]'],
    ['(?i)é', '[éÉ]'],
    ['(?i)ſ|ß', 'ſ|ß'],
    ['(?i)[^sk]', '[^sSkK]'],
    ['(?P<x>a)b*', '(a)b*'],
  ])('reads %s as %s', async (pattern, meant) => {
    const grammarOf = async (one: string) =>
      Grammar.fromEBNF(await separateAlternatives(xgrammar, regexGrammar(one)))
    expect((await grammarOf(pattern)).toString()).toBe((await grammarOf(meant)).toString())
  })

  it('writes what JSON escapes as its escapes', async () => {
    const grammar = await Grammar.fromEBNF(
      await separateAlternatives(
        xgrammar,
        `root ::= ${regexToGrammar('["\\\\\\n]{3}', () => 'none', { isInJson: true })}`,
      ),
    )
    expect(await Testings.isGrammarAcceptString(grammar, '\\"\\\\\\n')).toBe(true)
    expect(await Testings.isGrammarAcceptString(grammar, '"\\\n')).toBe(false)
  })

  it.each([
    '(?=a)',
    'a(?!b)',
    '(?<=a)b',
    '(?s)a',
    'a(?i)b',
    '(?i)[\\u0100-\\u1000]',
    '(?P=x)',
    '\\1',
    '\\bA',
    '\\p{L}',
    'a^b',
    '(a',
    'a)',
    '[a',
    '*a',
    '[b-a]',
    'a{2,1}',
    'a{100001}',
    'a{1,99999999999}',
    'a{999999999999,}',
    '\\',
    '\\u00',
    '\\ud83d',
  ])('refuses %s', (pattern) => {
    expect(() => regexGrammar(pattern)).toThrow(
      /^the regular expression cannot be used: .+ \(position \d+\)$/,
    )
  })

  it('refuses one of many long counts', () => {
    const pattern = Array.from('abcdefghijklmnopqrstuvwxyz', (letter) => `${letter}{0,100000}`).join('')
    expect(() => regexGrammar(pattern)).toThrow('the regular expression is too large')
  })
})
