/**
 * Qwen 2.5 and 3, Hermes 2 Pro and 3, Granite 4 and others: a JSON object between tags for each call.
 *
 *   <tool_call>
 *   {"name": "get_weather", "arguments": {"city": "Rome"}}
 *   </tool_call>
 */
import type { ChatFormat } from './chat-format.ts'

export const HERMES: ChatFormat = {
  name: 'hermes',
  // GLM 4.5 puts arguments into tags of their own.
  isOf: (template) => template.includes('<tool_call>') && !template.includes('<arg_key>'),
  syntax: { openers: ['<tool_call>'], closers: ['</tool_call>'] },
  frame: (name) => ({
    begin: `<tool_call>\n{"name": ${JSON.stringify(name)}, "arguments": `,
    end: '}\n</tool_call>',
  }),
  list: { begin: '', separator: '\n', end: '' },
  trigger: '<tool_call>',
  markers: ['<tool_call>', '</tool_call>'],
}
