/**
 * For a template that knows no tools: JSON between tags, described in a system text. What models that were not trained on
 * the tags write instead is read too: an answer that is the object alone, or a block of code.
 *
 *   <tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>
 */
import type { ChatFormat } from './chat-format.ts'

export const JSON_FORMAT: ChatFormat = {
  name: 'json',
  isOf: () => true,
  syntax: {
    openers: ['<tool_call>', '```json', '```tool_call'],
    closers: ['</tool_call>', '```'],
    bare: ['{', '['],
  },
  frame: (name) => ({
    begin: `<tool_call>{"name": ${JSON.stringify(name)}, "arguments": `,
    end: '}</tool_call>',
  }),
  list: { begin: '', separator: '\n', end: '' },
  trigger: '<tool_call>',
  markers: ['<tool_call>', '</tool_call>'],
}
