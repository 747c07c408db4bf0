/**
 * Mistral, in two forms: a list of JSON objects (Mistral 7B v0.3, Nemo, Small 2409), and a name and its arguments for each call
 * (Small 3.2, Magistral, Devstral). The markers are control tokens.
 *
 *   [TOOL_CALLS] [{"name": "get_weather", "arguments": {"city": "Rome"}}]
 *   [TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}
 */
import type { ChatFormat } from './chat-format.ts'

const SHARED = {
  name: 'mistral',
  syntax: { openers: ['[TOOL_CALLS]'], closers: [] },
  trigger: '[TOOL_CALLS]',
  markers: ['[TOOL_CALLS]', '[ARGS]', '[CALL_ID]'],
  hasShortIds: true,
} as const

export const MISTRAL_NAMED: ChatFormat = {
  ...SHARED,
  isOf: (template) => template.includes('[TOOL_CALLS]') && template.includes('[ARGS]'),
  frame: (name) => ({ begin: `[TOOL_CALLS]${name}[ARGS]`, end: '' }),
  list: { begin: '', separator: '', end: '' },
}

export const MISTRAL_LIST: ChatFormat = {
  ...SHARED,
  isOf: (template) => template.includes('[TOOL_CALLS]'),
  frame: (name) => ({ begin: `{"name": ${JSON.stringify(name)}, "arguments": `, end: '}' }),
  list: { begin: '[TOOL_CALLS] [', separator: ', ', end: ']' },
}
