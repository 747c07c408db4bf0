/**
 * DeepSeek, in two forms: V3 and R1 put the arguments into a block of code, V3.1 and its successors behind the name.
 *
 *   <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather
 *   ```json
 *   {"city": "Rome"}
 *   ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>
 *
 *   <｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Rome"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>
 */
import { JsonArguments } from '../reading/argument-reader.ts'
import type { ChatFormat } from './chat-format.ts'

const LIST = '<｜tool▁calls▁begin｜>'
const LIST_END = '<｜tool▁calls▁end｜>'
const CALL = '<｜tool▁call▁begin｜>'
const CALL_END = '<｜tool▁call▁end｜>'
const SEPARATOR = '<｜tool▁sep｜>'

const SHARED = {
  name: 'deepseek',
  syntax: {
    openers: [LIST, CALL],
    separators: ['```', CALL_END],
    closers: [LIST_END],
    named: {
      whole: new RegExp(
        `^(?:${CALL}\\s*)?(?:function${SEPARATOR})?([\\w.-]+)(?:${SEPARATOR}|\\s*\`\`\`json)\\s*(?=\\{)`,
      ),
      beginning: new RegExp(`^(?:<[^{]*|[\\w.-]+\\s*(?:[<\`][^{]*)?)$`),
      createArguments: () => new JsonArguments(),
    },
  },
  trigger: LIST,
  markers: [LIST, LIST_END, CALL, CALL_END, SEPARATOR],
} as const

/** What begins the first call begins the list, and what ends one stands in front of the next: a separator must not be empty. */
export const DEEPSEEK: ChatFormat = {
  ...SHARED,
  isOf: (template) => template.includes(CALL) && !template.includes('```json'),
  frame: (name) => ({ begin: `${name}${SEPARATOR}`, end: '' }),
  list: { begin: LIST + CALL, separator: CALL_END + CALL, end: CALL_END + LIST_END },
}

export const DEEPSEEK_BLOCK: ChatFormat = {
  ...SHARED,
  isOf: (template) => template.includes(CALL),
  frame: (name) => ({
    begin: `${CALL}function${SEPARATOR}${name}\n\`\`\`json\n`,
    end: `\n\`\`\`${CALL_END}`,
  }),
  list: { begin: LIST, separator: '\n', end: LIST_END },
}
