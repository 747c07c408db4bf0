/**
 * A chat as a model's template reads it. Templates that write tools get them, calls and results in the shape that transformers gives
 * them; for the others they are put into ordinary messages, with a description of the format in the system text.
 */
import { createHash } from 'node:crypto'
import { callableTools, type Chat, type ChatMessage, mustCall, type ToolCall } from '../../protocol/chat.ts'
import type { ChatFormat } from './formats/chat-format.ts'
import type { ChosenFormat } from './formats/choose-format.ts'

/** What a template is given of a chat: texts of the caller everywhere, which are not to become special tokens. */
export interface TemplateChat {
  readonly messages: readonly TemplateMessage[]
  /** Null where the template writes none. */
  readonly tools: readonly object[] | null
}

interface TemplateMessage {
  readonly role: string
  readonly content: string | null
  readonly [field: string]: unknown
}

export function toTemplateChat(
  chat: Chat,
  { format, written }: ChosenFormat,
  chatTemplate: string | null,
): TemplateChat {
  if (!usesTools(chat)) return { messages: chat.messages.map(toTextMessage), tools: null }
  const messages = inOrderOfCalls(withToolNames(chat.messages))
  const tools = callableTools(chat).map(({ name, description, parameters }) => ({
    type: 'function',
    function: {
      name,
      description: description ?? '',
      parameters: format.toTemplateSchema?.(parameters) ?? parameters,
    },
  }))
  switch (written) {
    case 'all': {
      const toToolMessage = createToolMessages(format, chatTemplate)
      const split = format.hasOneCallPerMessage === true ? splitCalls(messages) : messages
      return { messages: split.map(toToolMessage), tools: tools.length > 0 ? tools : null }
    }
    case 'tools': {
      const toResult = createToolMessages(format, chatTemplate)
      const toCalled = toCalledMessage(format)
      const written = messages.map((message) =>
        message.role === 'tool' ? toResult(message) : toCalled(message),
      )
      return { messages: written, tools: tools.length > 0 ? tools : null }
    }
    case 'calls': {
      const called = messages.map(createToolMessages(format, chatTemplate))
      const text = describe(chat, format)
      return { messages: text === null ? called : withSystemText(called, text, chatTemplate), tools: null }
    }
    case 'system-field': {
      const list = JSON.stringify(tools.map(({ function: tool }) => tool))
      return { messages: withSystemField(messages.map(toCalledMessage(format)), list), tools: null }
    }
    case 'nothing':
      return { messages: describeTools(chat, messages, { format, chatTemplate }), tools: null }
  }
}

/** Tools where Phi-4-mini's template reads them: JSON text beside the system message's own. */
function withSystemField(messages: readonly TemplateMessage[], tools: string): readonly TemplateMessage[] {
  const [first, ...rest] = messages
  const system = first?.role === 'system' ? first : { role: 'system', content: '' }
  const others = first?.role === 'system' ? rest : messages
  return tools === '[]' ? messages : [{ ...system, tools }, ...others]
}

function usesTools(chat: Chat): boolean {
  return (
    callableTools(chat).length > 0 ||
    chat.messages.some(({ role, toolCalls }) => role === 'tool' || (toolCalls?.length ?? 0) > 0)
  )
}

function toTextMessage({ role, content, reasoning }: ChatMessage): TemplateMessage {
  return { role, content, ...(reasoning !== undefined && { reasoning_content: reasoning }) }
}

/** Results name their function, which some clients leave out. */
function withToolNames(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const names = new Map<string, string>()
  return messages.map((message) => {
    for (const { id, name } of message.toolCalls ?? []) names.set(id, name)
    const name = message.name ?? names.get(message.toolCallId ?? '')
    return message.role !== 'tool' || name === undefined ? message : { ...message, name }
  })
}

/** Results in the order of their calls, as most templates write them without ids; those of no call come last. */
function inOrderOfCalls(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const ordered: ChatMessage[] = []
  let places = new Map<string, number>()
  for (let i = 0; i < messages.length;) {
    const start = i
    while (messages[i]?.role === 'tool') i++
    const placeOf = ({ toolCallId = '' }: ChatMessage): number => places.get(toolCallId) ?? places.size
    ordered.push(...messages.slice(start, i).sort((one, other) => placeOf(one) - placeOf(other)))
    const message = messages[i++]
    if (message === undefined) break
    places = new Map(message.toolCalls?.map(({ id }, place) => [id, place]))
    ordered.push(message)
  }
  return ordered
}

function createToolMessages(
  { hasShortIds }: ChatFormat,
  chatTemplate: string | null,
): (message: ChatMessage) => TemplateMessage {
  const toId = hasShortIds === true ? shortId : (id: string) => id
  // Some ask whether a message has content, others take it for a text whatever it is.
  const asksForContent = CONTENT_IS_NONE.test(chatTemplate ?? '')
  const takesText = JOINS_ARGUMENTS.test(chatTemplate ?? '')
  // Of a result whose call is not there any more.
  const unknownName = NEEDS_NAME.test(chatTemplate ?? '') ? 'function' : undefined
  return (message) => {
    const { role, content, name = unknownName, toolCallId, toolCalls = [] } = message
    const calls = toolCalls.map(({ id, name: called, arguments: text }) => ({
      id: toId(id),
      type: 'function',
      function: { name: called, arguments: takesText ? text || '{}' : toArguments(text) },
    }))
    return {
      ...toTextMessage(message),
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(calls.length > 0 && content === '' && asksForContent && { content: null }),
      ...(role === 'tool' && name !== undefined && { name }),
      ...(role === 'tool' && toolCallId !== undefined && { tool_call_id: toId(toolCallId) }),
    }
  }
}

/** DeepSeek's template puts arguments between other texts, as the text that they have to be then. */
const JOINS_ARGUMENTS = /\+\s*\w+\[['"]function['"]\]\[['"]arguments['"]\]\s*\+/
/** Hermes 2 Pro and 3; Gemma 4. */
const NEEDS_NAME = /if not message\.name is defined|\.get\(['"]name['"]\) \| default/
const CONTENT_IS_NONE = /content['"]?\]? is (?:not )?none/

/** Mistral's templates refuse any other. */
function shortId(id: string): string {
  return /^[a-zA-Z0-9]{9}$/.test(id) ? id : createHash('sha256').update(id).digest('hex').slice(0, 9)
}

/** An object, as templates want it; what a model was cut off in stays the text that it is, and what holds more than a body may. */
function toArguments(text: string): unknown {
  if (text === '') return {}
  if (text.length > MAX_VALUES && countSeparators(text) > MAX_VALUES) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const MAX_VALUES = 50_000

/** Commas and colons outside of texts: of JSON about as many as it has values. */
function countSeparators(json: string): number {
  let count = 0
  let isInText = false
  for (let i = 0; i < json.length; i++) {
    const character = json[i]
    if (character === '"') isInText = !isInText
    else if (character === '\\') i++
    else if (!isInText && (character === ',' || character === ':')) count++
  }
  return count
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Each call in a message of its own, with its result behind it. */
function splitCalls(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const split: ChatMessage[] = []
  for (let i = 0; i < messages.length; i++) {
    const message = messages[i] as ChatMessage
    const { toolCalls = [], content } = message
    if (toolCalls.length < 2) {
      split.push(message)
      continue
    }
    const results: ChatMessage[] = []
    while (messages[i + 1]?.role === 'tool') results.push(messages[++i] as ChatMessage)
    for (const [place, call] of toolCalls.entries()) {
      const answers = results.filter(({ toolCallId }) => toolCallId === call.id)
      split.push({ ...message, content: place === 0 ? content : '', toolCalls: [call] }, ...answers)
    }
    split.push(...results.filter(({ toolCallId }) => !toolCalls.some(({ id }) => id === toolCallId)))
  }
  return split
}

interface Describer {
  readonly format: ChatFormat
  readonly chatTemplate: string | null
}

/** Tools in the system text, calls as the text that they were, results as messages of the user. */
function describeTools(
  chat: Chat,
  messages: readonly ChatMessage[],
  { format, chatTemplate }: Describer,
): readonly TemplateMessage[] {
  const joined: TemplateMessage[] = []
  for (const [index, message] of messages.entries()) {
    const text = toDescribedMessage(message, format)
    const last = joined.at(-1)
    // Many templates want user and assistant in turns.
    const joins = message.role === 'tool' || messages[index - 1]?.role === 'tool'
    if (joins && last?.role === 'user' && text.role === 'user') {
      joined[joined.length - 1] = { ...last, content: `${last.content}\n\n${text.content}` }
    } else joined.push(text)
  }
  const description = describe(chat, format)
  return description === null ? joined : withSystemText(joined, description, chatTemplate)
}

function toDescribedMessage(message: ChatMessage, format: ChatFormat): TemplateMessage {
  const { role, content, name } = message
  if (role === 'tool') return { role: 'user', content: `${name ?? 'The function'} returned:\n${content}` }
  return toCalledMessage(format)(message)
}

/** With its calls as the text that they were. */
function toCalledMessage(format: ChatFormat): (message: ChatMessage) => TemplateMessage {
  return (message) => {
    const { content, toolCalls = [] } = message
    if (toolCalls.length === 0) return toTextMessage(message)
    const written = writeCalls(toolCalls, format)
    return { ...toTextMessage(message), content: content === '' ? written : `${content}\n${written}` }
  }
}

export function writeCalls(calls: readonly ToolCall[], { frame, list, writeArguments }: ChatFormat): string {
  const written = calls.map(({ name, arguments: text }) => {
    const { begin, end } = frame(name)
    const whole = text === '' ? '{}' : text
    return begin + (isObject(toArguments(whole)) ? (writeArguments?.(whole) ?? whole) : whole) + end
  })
  return list.begin + written.join(list.separator) + list.end
}

function describe(chat: Chat, format: ChatFormat): string | null {
  const tools = callableTools(chat)
  if (tools.length === 0) return null
  const schemas = tools.map(({ name, description, parameters }) =>
    JSON.stringify({ name, ...(description !== null && { description }), parameters }),
  )
  const example = writeCalls([{ id: '', name: 'function_name', arguments: '{"argument": "value"}' }], format)
  return [
    'You can call these functions. Their parameters are given as JSON schemas:',
    ...schemas,
    '',
    'To call a function, write nothing but this, with its name and its arguments:',
    example,
    '',
    mustCall(chat)
      ? 'Answer by calling a function.'
      : 'What it returned comes in the next message. Where no function is needed, answer as usual.',
    ...(chat.allowsParallelToolCalls === false ? ['Call one function at a time.'] : []),
  ].join('\n')
}

/** In front of the first message where the template refuses a system message. */
function withSystemText(
  messages: readonly TemplateMessage[],
  text: string,
  chatTemplate: string | null,
): readonly TemplateMessage[] {
  const [first, ...rest] = messages
  const isRefused = /raise_exception\([^)]*system/i.test(chatTemplate ?? '')
  const takes = first !== undefined && (first.role === 'system' || (isRefused && first.role === 'user'))
  if (!takes) return [{ role: isRefused ? 'user' : 'system', content: text }, ...messages]
  const content = first.role === 'system' ? `${first.content}\n\n${text}` : `${text}\n\n${first.content}`
  return [{ ...first, content }, ...rest]
}
