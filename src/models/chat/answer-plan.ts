/**
 * How the answer to a chat is constrained and read back: the other half of `chat-template.ts`, by the same format of the model. Called
 * for each chat by `generation/`, once its prompt is rendered.
 */
import { callableTools, type Chat, mustCall } from '../../protocol/chat.ts'
import type { Constraint } from '../../protocol/constraint.ts'
import type { TextPrompt } from '../../protocol/engine.ts'
import type { ChatFormat } from './formats/chat-format.ts'
import { chooseFormat, type FormatModel, markersOf, reasoningMarkers } from './formats/choose-format.ts'
import type { PartReader } from './reading/answer-part.ts'
import { CallReader } from './reading/call-reader.ts'
import {
  HARMONY_CALL,
  HARMONY_HEADER,
  HARMONY_MARKERS,
  HARMONY_REASONING,
  HarmonyReader,
  isHarmony,
} from './reading/harmony-reader.ts'
import { ReasoningReader } from './reading/reasoning-reader.ts'
import { type RelaxedTools, toConstraint } from './tool-constraint.ts'

export interface AnswerModel extends FormatModel {
  readonly specialTexts: readonly string[]
}

export interface AnswerRequest {
  readonly chat: Chat
  readonly prompt: TextPrompt
  /** That the caller asks for; null for none. */
  readonly constraint: Constraint | null
}

export interface AnswerPlan {
  /** Of the whole answer, tool calls and reasoning included; null for none. */
  readonly constraint: Constraint | null
  /** Gives another in its place where schemas of tools that are not strict cannot be kept to; null where there are no tools. */
  readonly relaxConstraint: ((relaxed: RelaxedTools) => Constraint | null) | null
  /** Control tokens that the reader must see as text. */
  readonly shownSpecialTexts: readonly string[]
  /** What its tool calls may begin with: no stop text may cut them. Empty where there are none. */
  readonly callBeginnings: readonly string[]
  /** Whether the answer is nothing but tool calls. */
  readonly isAllCalls: boolean
  /** One for each answer; null where all of it is text. */
  readonly createReader: (() => PartReader) | null
}

export function planAnswer(model: AnswerModel, { chat, prompt, constraint }: AnswerRequest): AnswerPlan {
  const { specialTexts } = model
  const reasoning = reasoningMarkers(model.chatTemplate)
  const tools = callableTools(chat)
  const harmony = isHarmony(model.chatTemplate)
  if (tools.length === 0 && reasoning === null && !harmony) {
    return {
      constraint,
      relaxConstraint: null,
      shownSpecialTexts: [],
      callBeginnings: [],
      isAllCalls: false,
      createReader: null,
    }
  }

  const { format } = chooseFormat(model)
  const markers = [
    ...(tools.length > 0 ? format.markers : []),
    ...(harmony ? HARMONY_MARKERS : markersOf(reasoning)),
  ]
  const shownSpecialTexts = markers.filter((marker) => specialTexts.includes(marker))
  const end = endOf(prompt)
  const startsInHeader = harmony && end.endsWith(HARMONY_HEADER)
  const isHeld = constraint !== null || (tools.length > 0 && mustCall(chat))
  const isReasoning = reasoning !== null && end.endsWith(reasoning.open)
  const isControlled = specialTexts.includes(format.trigger)
  const startsInCalls = tools.length > 0 && mustCall(chat) && isControlled && end.endsWith(format.trigger)
  const shape = {
    calls: tools.length === 0 ? null : { chat, format, isBegun: startsInCalls },
    constraint,
    reasoning:
      startsInHeader && isHeld ? HARMONY_REASONING : isReasoning ? { begin: '', end: reasoning.close } : null,
    shownSpecialTexts,
  }
  const schemas = new Map(tools.map(({ name, parameters }) => [name, parameters]))
  const createNext = (): PartReader =>
    schemas.size === 0
      ? new TextReader()
      : new CallReader({
          syntax: format.syntax,
          trigger: format.trigger,
          tools: schemas,
          maxCalls: chat.allowsParallelToolCalls === false ? 1 : Infinity,
          startsInCalls,
          isAllCalls: mustCall(chat) && !harmony,
        })
  return {
    constraint: toConstraint(shape),
    relaxConstraint: tools.length === 0 ? null : (relaxed) => toConstraint({ ...shape, relaxed }),
    shownSpecialTexts,
    callBeginnings: tools.length === 0 ? [] : [...(harmony ? [HARMONY_CALL] : []), ...beginningsOf(format)],
    isAllCalls: startsInCalls || (tools.length > 0 && mustCall(chat) && reasoning === null && !harmony),
    createReader: () => {
      const next = createNext()
      if (harmony) return new HarmonyReader({ startsInHeader, tools: new Set(schemas.keys()), next })
      return reasoning === null || startsInCalls
        ? next
        : new ReasoningReader({ markers: reasoning, isOpen: isReasoning, next })
    },
  }
}

/** Of calls that a constraint lets the model write, and of those that are read beside. */
function beginningsOf({ trigger, syntax }: ChatFormat): readonly string[] {
  return [...new Set([trigger, ...syntax.openers])]
}

/** All of the answer is text. */
class TextReader implements PartReader {
  #received = 0

  push(text: string): ReturnType<PartReader['push']> {
    const at = this.#received
    this.#received += text.length
    return text === '' ? [] : [{ type: 'text', text, at }]
  }

  end(): ReturnType<PartReader['end']> {
    return []
  }
}

/** The last of a prompt's text, in which a marker would stand. */
function endOf({ pieces }: TextPrompt): string {
  return (pieces.at(-1) ?? '').trimEnd()
}
