/**
 * Llama 3.1 to 3.3: the whole answer is a JSON object with `parameters`. Its template takes one call a message; where a model
 * writes several, they stand one behind the other. The calls of Llama's own tools in Python are not read.
 *
 *   {"name": "get_weather", "parameters": {"city": "Rome"}}
 */
import type { ChatFormat } from './chat-format.ts'

export const LLAMA: ChatFormat = {
  name: 'llama',
  isOf: (template) =>
    template.includes('<|python_tag|>') ||
    (template.includes('<|start_header_id|>') && template.includes('"parameters"')),
  syntax: { openers: ['<|python_tag|>'], closers: [], bare: ['{', '['] },
  frame: (name) => ({ begin: `{"name": ${JSON.stringify(name)}, "parameters": `, end: '}' }),
  list: { begin: '', separator: '; ', end: '' },
  trigger: '{"name": ',
  markers: ['<|python_tag|>'],
  hasOneCallPerMessage: true,
}
