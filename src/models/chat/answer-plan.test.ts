import { describe, expect, it } from 'vitest'
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
