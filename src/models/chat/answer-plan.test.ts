import { expect, it } from 'vitest'
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
