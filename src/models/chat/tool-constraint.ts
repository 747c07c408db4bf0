/**
 * The constraint of an answer that may call tools, as XGrammar's structural tag (its documentation: structural_tag): free text in which
 * a call, once begun, names a tool and has arguments by its schema; or calls only, and then the answer ends with them. Called by `answer-plan.ts`.
 */
import { callableTools, type Chat, mustCall, type ToolDefinition } from '../../protocol/chat.ts'
import type { Constraint } from '../../protocol/constraint.ts'
import { type ChatFormat, oneOfTexts, type TagFormat } from './formats/chat-format.ts'

/** Of tools whose parameters have no name of their own. */
const TOOLS_FIELD = 'tools'

/** What the text of an answer may be. */
export interface AnswerShape {
  /** Null where it may not call tools. */
  readonly calls: CallShape | null
  /** Of an answer that calls none. Null is any text. */
  readonly constraint: Constraint | null
  /** Tools whose arguments may be any object where they are not strict. @default none */
  readonly relaxed?: RelaxedTools
  /** Reasoning in front of it; null without. */
  readonly reasoning: ReasoningShape | null
  /** Control tokens that are text of the answer. */
  readonly shownSpecialTexts: readonly string[]
}

/** By the body's names for their parameters, or for a part of these. */
export type RelaxedTools = 'all' | ReadonlySet<string>

interface ReasoningShape {
  /** Nothing where the prompt has begun it. */
  readonly begin: string
  readonly end: string
  /** What stands between it and the answer. @default nothing */
  readonly next?: string
}

interface CallShape {
  readonly chat: Chat
  readonly format: ChatFormat
  /** Whether the prompt ends with the format's trigger. */
  readonly isBegun: boolean
}

/** Null where any text is fine. */
export function toConstraint({ calls: shape, constraint, ...more }: AnswerShape): Constraint | null {
  const { reasoning, shownSpecialTexts, relaxed } = more
  if (shape === null && (constraint === null || reasoning === null)) return constraint
  const calls =
    shape === null || relaxed === undefined ? shape : { ...shape, chat: relax(shape.chat, relaxed) }
  const answer = answerFormat(calls, constraint)
  const format =
    reasoning === null ? answer : { type: 'sequence', elements: [...reasoningFormats(reasoning), answer] }
  return {
    kind: 'structural-tag',
    tag: JSON.stringify({ type: 'structural_tag', format }),
    ...(shownSpecialTexts.length > 0 && { shownSpecialTexts }),
  }
}

function reasoningFormats({ begin, end, next }: ReasoningShape): readonly TagFormat[] {
  const reasoning = tag(begin, { type: 'any_text' }, end)
  return next === undefined ? [reasoning] : [reasoning, { type: 'const_string', value: next }]
}

function relax(chat: Chat, relaxed: RelaxedTools): Chat {
  const isRelaxed = ({ strict, parametersField: field = TOOLS_FIELD }: ToolDefinition): boolean =>
    !strict &&
    (relaxed === 'all' || [...relaxed].some((part) => part === field || part.startsWith(`${field}.`)))
  return {
    ...chat,
    tools: (chat.tools ?? []).map((tool) =>
      isRelaxed(tool) ? { ...tool, parameters: { type: 'object' } } : tool,
    ),
  }
}

function answerFormat(calls: CallShape | null, constraint: Constraint | null): TagFormat {
  if (calls === null) return constraint === null ? { type: 'any_text' } : textFormat(constraint)
  if (mustCall(calls.chat)) return callFormat(calls, 'calls-only')
  if (constraint === null) return callFormat(calls, 'text-and-calls')
  return { type: 'or', elements: [unbounded(textFormat(constraint)), callFormat(calls, 'calls-first')] }
}

/** Formats behind which any text may follow. */
const UNBOUNDED_TYPES: readonly unknown[] = ['any_text', 'triggered_tags', 'tags_with_separator']

/** XGrammar takes alternatives only where each may go on, as a list of calls may: the same, as a list that ends with its first. */
function unbounded(format: TagFormat): TagFormat {
  if (UNBOUNDED_TYPES.includes(format['type'])) return format
  const tags = [tag('', format, '')]
  return { type: 'tags_with_separator', tags, separator: '\n', at_least_one: true, stop_after_first: true }
}

function textFormat(constraint: Constraint): TagFormat {
  switch (constraint.kind) {
    case 'json-object':
      return { type: 'json_schema', json_schema: { type: 'object' } }
    case 'json-schema':
      return {
        type: 'json_schema',
        json_schema: JSON.parse(constraint.schema) as unknown,
        is_strict: constraint.isStrict,
        field: null,
      }
    case 'regex':
      return { type: 'regex', pattern: constraint.pattern }
    case 'choice':
      return oneOfTexts(constraint.choices)
    case 'grammar':
      return { type: 'grammar', grammar: constraint.grammar }
    case 'structural-tag':
      return (JSON.parse(constraint.tag) as { format: TagFormat }).format
  }
}

/** `calls-first`: text may follow the first call, as XGrammar wants it of alternatives. */
type CallRule = 'text-and-calls' | 'calls-first' | 'calls-only'

function callFormat({ chat, format, isBegun }: CallShape, rule: CallRule): TagFormat {
  const { list, trigger, frame, syntax } = format
  const toTag = ({ name, parameters, parametersField: field = TOOLS_FIELD }: ToolDefinition): TagFormat => {
    const { begin, end } = frame(name)
    const content = format.toArgumentsFormat?.({ parameters, field }) ?? {
      type: 'json_schema',
      json_schema: parameters,
      field,
    }
    return tag(begin, content, end)
  }
  const tags = callableTools(chat).map(toTag)
  const isSingle = chat.allowsParallelToolCalls === false || typeof chat.toolChoice === 'object'
  const listed = (separator: string, of: readonly TagFormat[]): TagFormat => ({
    type: 'tags_with_separator',
    tags: of,
    separator,
    at_least_one: true,
    stop_after_first: isSingle,
  })
  const begun = begunFormat(format, { tags, listed })
  if (isBegun) return begun
  if (rule === 'calls-only') {
    return { type: 'sequence', elements: [{ type: 'const_string', value: trigger }, begun] }
  }
  return {
    type: 'triggered_tags',
    // Without a marker a call is told from other JSON by its name alone.
    triggers: syntax.openers.includes(trigger)
      ? [trigger]
      : callableTools(chat).map(({ name }) => trigger + JSON.stringify(name)),
    tags: list.begin === '' ? tags : [tag(list.begin, listed(list.separator, tags), list.end)],
    at_least_one: rule === 'calls-first',
    stop_after_first: isSingle,
  }
}

interface CallTags {
  readonly tags: readonly TagFormat[]
  readonly listed: (separator: string, tags: readonly TagFormat[]) => TagFormat
}

/** Behind a prompt that ends with the trigger, which begins the list, or each call of it. */
function begunFormat({ list, trigger }: ChatFormat, { tags, listed }: CallTags): TagFormat {
  const afterTrigger = (begin: unknown): string => String(begin).slice(trigger.length)
  if (list.begin !== '') return tag(afterTrigger(list.begin), listed(list.separator, tags), list.end)
  const begun = tags.map((one) => ({ ...one, begin: afterTrigger(one['begin']) }))
  return listed(list.separator + trigger, begun)
}

function tag(begin: string, content: TagFormat, end: string): TagFormat {
  return { type: 'tag', begin, content, end }
}
