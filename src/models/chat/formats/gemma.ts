/**
 * Gemma 2 and 3, whose published templates know no tools: a JSON object with `parameters`, as Google's guide to function calling
 * asks for it in the prompt (ai.google.dev/gemma/docs/capabilities/function-calling). The models put it into a block of code
 * more often than not.
 *
 *   ```json
 *   {"name": "get_weather", "parameters": {"city": "Rome"}}
 *   ```
 */
import type { ChatFormat } from './chat-format.ts'

export const GEMMA: ChatFormat = {
  name: 'gemma',
  isOf: (template) => template.includes('<start_of_turn>'),
  syntax: { openers: ['```json', '```tool_code', '```tool_call'], closers: ['```'], bare: ['{', '['] },
  frame: (name) => ({ begin: `{"name": ${JSON.stringify(name)}, "parameters": `, end: '}' }),
  list: { begin: '', separator: '\n', end: '' },
  trigger: '{"name": ',
  markers: [],
}
