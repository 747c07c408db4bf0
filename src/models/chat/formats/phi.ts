/**
 * Phi-4-mini: a JSON object between control tokens for each call. Its published template reads tools from a field of the system
 * message and writes no calls; vLLM's template for it asks for `functools[…]`, llama.cpp's for the tokens.
 *
 *   <|tool_call|>{"name": "get_weather", "arguments": {"city": "Rome"}}<|/tool_call|>
 */
import type { ChatFormat } from './chat-format.ts'

export const PHI: ChatFormat = {
  name: 'phi',
  isOf: (template) =>
    template.includes('<|/tool|>') || (template.includes('functools[') && template.includes('<|end|>')),
  syntax: { openers: ['<|tool_call|>', 'functools'], closers: ['<|/tool_call|>'] },
  frame: (name) => ({
    begin: `<|tool_call|>{"name": ${JSON.stringify(name)}, "arguments": `,
    end: '}<|/tool_call|>',
  }),
  list: { begin: '', separator: '', end: '' },
  trigger: '<|tool_call|>',
  markers: ['<|tool_call|>', '<|/tool_call|>'],
}
