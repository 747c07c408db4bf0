import { describe, expect, it } from 'vitest'
import { grammarSourceOf } from '../../engines/constraints/grammar-source.ts'
import { separateAlternatives } from '../../engines/constraints/alternatives/separate-alternatives.ts'
import { loadXGrammar } from '../../engines/constraints/xgrammar.ts'
import { planAnswer } from './answer-plan.ts'

const HARMONY = "{{ '<|start|>assistant<|channel|>final<|message|>' }}<|start|>assistant"

it('lets gpt-oss reason in its channel, and no further, before an answer that is held to something', () => {
  const plan = planAnswer(
    { chatTemplate: HARMONY, toolFormat: 'auto', specialTexts: ['<|channel|>', '<|end|>', '<|other|>'] },
    {
      chat: { messages: [{ role: 'user', content: 'hi' }] },
      prompt: { pieces: ['<|start|>user<|message|>hi<|end|><|start|>assistant'], addSpecial: false },
      constraint: { kind: 'json-object' },
    },
  )

  expect(plan.shownSpecialTexts.toSorted()).toEqual(['<|channel|>', '<|end|>'])
  expect(plan.constraint?.kind).toBe('structural-tag')
  const { tag = '' } = plan.constraint?.kind === 'structural-tag' ? plan.constraint : {}
  expect(JSON.parse(tag)).toMatchObject({
    format: {
      elements: [
        { begin: '<|channel|>analysis<|message|>', content: { type: 'any_text' }, end: '<|end|>' },
        { type: 'const_string', value: '<|start|>assistant<|channel|>final<|message|>' },
        { type: 'json_schema' },
      ],
    },
  })
})

describe('what no stop text may cut', () => {
  const tool = { name: 'f', parameters: { type: 'object' } }
  const planOf = (chatTemplate: string, chat: object) =>
    planAnswer(
      { chatTemplate, toolFormat: 'auto', specialTexts: [] },
      {
        chat: { messages: [{ role: 'user', content: 'hi' }], ...chat },
        prompt: { pieces: ['<|start|>assistant'], addSpecial: false },
        constraint: null,
      },
    )

  it('is all that a call may begin with: in its own channel, as the constraint has it, and as it is read beside', () => {
    expect(planOf(HARMONY, { tools: [tool] }).callBeginnings).toEqual(
      expect.arrayContaining(['to=functions.', '<tool_call>', '```json']),
    )
    expect(planOf(HARMONY, {}).callBeginnings).toEqual([])
  })

  it('is the whole answer where a call must be made at once, and not where reasoning comes first', () => {
    const must = { tools: [tool], toolChoice: 'required' }
    expect(planOf('{{ messages }}', must).isAllCalls).toBe(true)
    expect(planOf('{{ messages }}', { tools: [tool] }).isAllCalls).toBe(false)
    expect(planOf(HARMONY, must).isAllCalls).toBe(false)
  })
})

describe('a choice beside tools', () => {
  const choices = ['cc', 'bbc', 'bbb', '', 'a+(b)\n']
  /** As XGrammar takes it from the grammar thread. */
  async function grammarOf() {
    const tool = { name: 'f', description: null, parameters: { type: 'object' }, strict: false }
    const plan = planAnswer(
      { chatTemplate: '{{ messages }}', toolFormat: 'hermes', specialTexts: [] },
      {
        chat: { messages: [{ role: 'user', content: 'hi' }], tools: [tool] },
        prompt: { pieces: ['hi'], addSpecial: false },
        constraint: { kind: 'choice', choices },
      },
    )
    if (plan.constraint === null) throw new Error('it has a constraint')
    const xgrammar = loadXGrammar()
    const { text } = await grammarSourceOf(plan.constraint, (ebnf) => separateAlternatives(xgrammar, ebnf))
    const grammar = await xgrammar.Grammar.fromStructuralTag(text)
    return (answer: string) => xgrammar.Testings.isGrammarAcceptString(grammar, answer)
  }

  it('is one of its texts, an empty one too, or a call', async () => {
    const allows = await grammarOf()
    const call = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    for (const answer of [...choices, call]) expect(await allows(answer), answer).toBe(true)
    for (const answer of ['cb', 'bb', 'c', 'a+(b)', 'aab\n', 'ccc'])
      expect(await allows(answer), answer).toBe(false)
  })
})
