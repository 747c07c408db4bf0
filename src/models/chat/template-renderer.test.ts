import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { TemplateRenderer } from './template-renderer.ts'

interface Reference {
  readonly date: string
  readonly bos_token: string
  readonly eos_token: string
  readonly templates: readonly { readonly name: string; readonly template: string; readonly cases: Case[] }[]
}

interface Case {
  readonly messages: readonly { readonly role: string; readonly content: string }[]
  readonly text?: string
  readonly refusal?: string
}

/** Made by `tools/checkpoints/chat_templates.py` with Jinja itself, set up as transformers does. */
const reference: Reference = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../../../test/model/reference/chat-templates.json'), 'utf8'),
)
const { bos_token, eos_token } = reference

afterEach(() => void vi.useRealTimers())

function render(template: string, messages: Case['messages'] = []): string {
  return new TemplateRenderer(template).render({
    messages,
    bos_token,
    eos_token,
    add_generation_prompt: true,
  })
}

describe('a chat template', () => {
  it.each(reference.templates)('$name is rendered as by transformers', ({ template, cases }) => {
    vi.useFakeTimers({ now: new Date(reference.date), toFake: ['Date'] })
    for (const { messages, text, refusal } of cases) {
      if (refusal === undefined) expect(render(template, messages)).toBe(text)
      else expect(() => render(template, messages)).toThrow(refusal)
    }
  })

  it.each([
    [
      'a range of more numbers than a loop may have',
      '{% for i in range(100000000) %}x{% endfor %}',
      'A range',
    ],
    [
      'loops within loops',
      '{% for i in range(1000) %}{% for j in range(1000) %}{% endfor %}{% endfor %}',
      'too long',
    ],
    [
      'a text that doubles',
      "{% set ns = namespace(s='xxxxxxxx') %}{% for i in range(24) %}{% set ns.s = ns.s + ns.s %}{% endfor %}{{ ns.s }}",
      'more than 67108864 characters',
    ],
  ])('with %s is refused, not waited for', (_, template, words) => {
    expect(() => render(template)).toThrow(words)
  })

  it('may do much for each of many messages', () => {
    const messages = Array.from({ length: 1000 }, () => ({ role: 'user', content: 'x' }))
    const work = '{% for i in range(70) %}x{% endfor %}'
    expect(() => render(`{% for m in messages %}${work}{% endfor %}`, messages)).not.toThrow()
  })
})
