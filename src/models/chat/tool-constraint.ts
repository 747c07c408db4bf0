/**
 * The constraint of an answer that may call tools, as XGrammar's structural tag (its documentation: structural_tag): free text in which
 * a call, once begun, names a tool and has arguments by its schema; or calls only. Called by `answer-plan.ts`.
 */
import { callableTools, type Chat, mustCall, type ToolDefinition } from '../../protocol/chat.ts'
import type { Constraint } from '../../protocol/constraint.ts'
import type { ChatFormat } from './formats/chat-format.ts'

type TagFormat = Readonly<Record<string, unknown>>

/** What the text of an answer may be. */
export interface AnswerShape {
  /** Null where it may not call tools. */
  readonly calls: CallShape | null
  /** Of an answer that calls none. Null is any text. */
  readonly constraint: Constraint | null
  /** Whether arguments of tools that are not strict may be any object: where their schemas cannot be kept to. @default false */
  readonly isRelaxed?: boolean
  /** The end of the reasoning that the prompt has begun; null where it has not. */
  readonly reasoningEnd: string | null
}

interface CallShape {
  readonly chat: Chat
  readonly format: ChatFormat
  /** Of the format, those that are not text of the answer: control tokens, the first of which ends the prompt. @default none */
  readonly controlMarkers?: readonly string[]
}

/** Null where any text is fine. */
export function toConstraint({ calls: shape, constraint, ...more }: AnswerShape): Constraint | null {
  const { reasoningEnd, isRelaxed = false } = more
  if (shape === null && (constraint === null || reasoningEnd === null)) return constraint
  const calls = shape !== null && isRelaxed ? { ...shape, chat: relax(shape.chat) } : shape
  const answer = answerFormat(calls, constraint)
  const reasoning = tag('', { type: 'any_text' }, reasoningEnd ?? '')
  const format = reasoningEnd === null ? answer : { type: 'sequence', elements: [reasoning, answer] }
  return { kind: 'structural-tag', tag: JSON.stringify({ type: 'structural_tag', format }) }
}

function relax(chat: Chat): Chat {
  const { tools = [] } = chat
  return {
    ...chat,
    tools: tools.map((tool) => (tool.strict ? tool : { ...tool, parameters: { type: 'object' } })),
  }
}

function answerFormat(calls: CallShape | null, constraint: Constraint | null): TagFormat {
  if (calls === null) return constraint === null ? { type: 'any_text' } : textFormat(constraint)
  if (constraint === null || mustCall(calls.chat)) return callFormat(calls, mustCall(calls.chat))
  return { type: 'or', elements: [textFormat(constraint), callFormat(calls, true)] }
}

function textFormat(constraint: Constraint): TagFormat {
  switch (constraint.kind) {
    case 'json-object':
      return { type: 'json_schema', json_schema: { type: 'object' } }
    case 'json-schema':
      return { type: 'json_schema', json_schema: JSON.parse(constraint.schema) as unknown }
    case 'regex':
      return { type: 'regex', pattern: constraint.pattern }
    case 'choice':
      return {
        type: 'or',
        elements: constraint.choices.map((value) => ({ type: 'const_string', value })),
      }
    case 'grammar':
      return { type: 'grammar', grammar: constraint.grammar }
    case 'structural-tag':
      return (JSON.parse(constraint.tag) as { format: TagFormat }).format
  }
}

function callFormat({ chat, format, controlMarkers = [] }: CallShape, isRequired: boolean): TagFormat {
  const { list, trigger, frame } = format
  const withoutMarkers = (text: string): string =>
    controlMarkers.reduce((rest, marker) => rest.replaceAll(marker, ''), text)
  const toTag = ({ name, parameters }: ToolDefinition): TagFormat => {
    const { begin, end } = frame(name)
    const content = { type: 'json_schema', json_schema: parameters }
    return tag(withoutMarkers(begin), content, withoutMarkers(end))
  }
  const tags = callableTools(chat).map(toTag)
  const isSingle = chat.allowsParallelToolCalls === false || typeof chat.toolChoice === 'object'
  const listed = (separator: string): TagFormat => ({
    type: 'tags_with_separator',
    tags,
    separator,
    at_least_one: true,
    stop_after_first: isSingle || separator === '',
  })
  const isBegun = controlMarkers.length > 0
  if (isBegun) return tag(withoutMarkers(list.begin), listed(list.separator), withoutMarkers(list.end))
  return {
    type: 'triggered_tags',
    triggers: [trigger],
    tags: list.begin === '' ? tags : [tag(list.begin, listed(list.separator), list.end)],
    at_least_one: isRequired,
    stop_after_first: isSingle,
  }
}

function tag(begin: string, content: TagFormat, end: string): TagFormat {
  return { type: 'tag', begin, content, end }
}
