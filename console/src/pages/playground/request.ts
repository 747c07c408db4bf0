/** A conversation as the body of `POST /v1/chat/completions`. What was left at its default is left out. */
import type { Pane, Turn } from './conversation.ts'
import type { Settings } from './settings.ts'

/** A setting that cannot be sent: which one, and why. */
class SettingsError extends Error {}

type Message = Readonly<Record<string, unknown>>

export interface ChatRequest extends Readonly<Record<string, unknown>> {
  readonly model: string
  readonly messages: readonly Message[]
}

/** Ids of turns by the index of their message; null is the system prompt. */
export type TurnIds = readonly (string | null)[]

export function buildRequest(settings: Settings, pane: Pane): { request: ChatRequest; turnIds: TurnIds } {
  const turns = pane.turns.filter(isSent)
  const system = settings.system.trim() === '' ? [] : [{ role: 'system', content: settings.system }]
  const messages = [...system, ...turns.map(toMessage)]
  const turnIds = [...system.map(() => null), ...turns.map(({ id }) => id)]
  return { request: { model: pane.model, messages, ...toFields(settings) }, turnIds }
}

/** An answer that failed before its first word says nothing to the model. */
function isSent(turn: Turn): boolean {
  return turn.role !== 'assistant' || turn.text !== '' || turn.calls.length > 0
}

function toMessage(turn: Turn): Message {
  switch (turn.role) {
    case 'user':
      return { role: 'user', content: turn.text }
    case 'tool':
      return { role: 'tool', tool_call_id: turn.callId, content: turn.text }
    case 'assistant':
      return {
        ...{ role: 'assistant', content: turn.text === '' && turn.calls.length > 0 ? null : turn.text },
        ...(turn.calls.length > 0 && {
          tool_calls: turn.calls.map(({ id, name, arguments: given }) => ({
            ...{ id, type: 'function', function: { name, arguments: given } },
          })),
        }),
      }
  }
}

function toFields(settings: Settings): Readonly<Record<string, unknown>> {
  const stop = linesOf(settings.stop)
  const stopTokenIds = settings.stopTokenIds
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(Number)
  if (stopTokenIds.some((id) => !Number.isInteger(id)))
    throw new SettingsError('Stop tokens must be ids of tokens, with commas.')
  const logitBias = parseJson(settings.logitBias, 'Logit bias')
  const tools = parseJson(settings.tools, 'Tools')
  return {
    ...toNumbers(settings.numbers),
    ...(stop.length > 0 && { stop }),
    ...(stopTokenIds.length > 0 && { stop_token_ids: stopTokenIds }),
    ...(logitBias !== null && { logit_bias: logitBias }),
    ...(settings.ignoresEnd && { ignore_eos: true }),
    ...(settings.effort !== '' && { reasoning_effort: settings.effort }),
    ...toFormat(settings),
    ...(tools !== null && { tools }),
    ...(tools !== null && settings.toolChoice !== 'auto' && { tool_choice: settings.toolChoice }),
  }
}

/** Without what is no number. A stored conversation may hold numbers and not texts. */
function toNumbers(typed: Settings['numbers']): Readonly<Record<string, number>> {
  const numbers = Object.entries(typed).map(([name, text]) => [name, Number.parseFloat(text)] as const)
  return Object.fromEntries(numbers.filter(([, value]) => !Number.isNaN(value)))
}

function toFormat({ format, formatText }: Settings): Readonly<Record<string, unknown>> {
  switch (format) {
    case 'text':
      return {}
    case 'json_object':
      return { response_format: { type: 'json_object' } }
    case 'json_schema': {
      const schema = parseJson(formatText, 'JSON schema')
      if (schema === null) throw new SettingsError('JSON schema must not be empty.')
      return { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema } } }
    }
    case 'choice':
      return { choice: linesOf(formatText) }
    case 'regex':
    case 'grammar':
      return { [format]: formatText }
  }
}

const linesOf = (text: string) => text.split('\n').filter((line) => line !== '')

/** Null of nothing. */
function parseJson(text: string, name: string): unknown {
  if (text.trim() === '') return null
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw new SettingsError(`${name} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}
