/**
 * Qwen 2.5 and 3, Hermes 2 Pro and 3, SmolLM3 and others: a JSON object between tags for each call.
 *
 *   <tool_call>
 *   {"name": "get_weather", "arguments": {"city": "Rome"}}
 *   </tool_call>
 */
import type { ChatFormat } from './chat-format.ts'

export const HERMES: ChatFormat = {
  name: 'hermes',
  isOf: (template) => template.includes('<tool_call>'),
  syntax: { openers: ['<tool_call>'], closers: ['</tool_call>'], mayBeBare: false },
  frame: (name) => ({
    begin: `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": `,
    end: '}\n</tool_call>',
  }),
  list: { begin: '', separator: '\n', end: '' },
  trigger: '<tool_call>',
  markers: ['<tool_call>', '</tool_call>'],
}
