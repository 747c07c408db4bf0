/**
 * A chat from the items of `input`. OpenAI's API has an item for each thing that a model thought, said or called; a chat
 * template has one message for an assistant's whole turn, so neighbouring items are joined while they keep that order.
 */
import type { ChatFieldNames } from '../../../generation/generation-request.ts'
import type { ChatMessage, ToolCall } from '../../../protocol/chat.ts'
import type { InputItem } from './input.ts'

interface AssistantTurn {
  content: string
  reasoning: string
  readonly toolCalls: ToolCall[]
  /** The index of its first item. */
  readonly source: number
}

type ItemOf<Type extends InputItem['type']> = Extract<InputItem, { type: Type }>

/** What stands for the instructions among the indices of items. */
const INSTRUCTIONS = -1

export class Conversation {
  readonly #messages: ChatMessage[] = []
  /** For each message the index of the item that it begins with: names are made only for errors. */
  readonly #sources: number[] = []
  readonly #calledNames = new Map<string, string>()
  #turn: AssistantTurn | null = null

  constructor(instructions: string | null) {
    if (instructions !== null) this.#push({ role: 'system', content: instructions }, INSTRUCTIONS)
  }

  /** @param index of the item in the input. Returns false for an output whose call did not come before it. */
  add(item: InputItem, index: number): boolean {
    switch (item.type) {
      case 'message':
        this.#addMessage(item, index)
        return true
      case 'reasoning':
        this.#addThought(item, index)
        return true
      case 'function_call':
        this.#addCall(item, index)
        return true
      case 'function_call_output':
        return this.#addOutput(item, index)
    }
  }

  finish(): { readonly messages: readonly ChatMessage[]; readonly fieldNames: ChatFieldNames } {
    this.#endTurn()
    return {
      messages: this.#messages,
      fieldNames: { chat: 'input', textOf: (index) => this.#fieldOf(index) },
    }
  }

  #addMessage({ role, content }: ItemOf<'message'>, index: number): void {
    if (role === 'assistant') {
      this.#openTurn(index, goesOn).content += content.content
      return
    }
    this.#endTurn()
    // OpenAI renamed the role; templates know the old name.
    this.#push({ role: role === 'developer' ? 'system' : role, ...content }, index)
  }

  #addThought({ content, summary }: ItemOf<'reasoning'>, index: number): void {
    const turn = this.#openTurn(index, goesOn)
    turn.reasoning = [turn.reasoning, textsOf(content) || textsOf(summary)].filter(Boolean).join('\n')
  }

  #addCall({ call_id: id, name, arguments: text }: ItemOf<'function_call'>, index: number): void {
    this.#calledNames.set(id, name)
    this.#openTurn(index, () => true).toolCalls.push({ id, name, arguments: text })
  }

  #addOutput({ call_id: toolCallId, output }: ItemOf<'function_call_output'>, index: number): boolean {
    const name = this.#calledNames.get(toolCallId)
    if (name === undefined) return false
    this.#endTurn()
    this.#push({ role: 'tool', ...output, toolCallId, name }, index)
    return true
  }

  /** The turn that goes on with the item, or a new one. */
  #openTurn(source: number, canGoOn: (turn: AssistantTurn) => boolean): AssistantTurn {
    if (this.#turn !== null && !canGoOn(this.#turn)) this.#endTurn()
    this.#turn ??= { content: '', reasoning: '', toolCalls: [], source }
    return this.#turn
  }

  #endTurn(): void {
    if (this.#turn === null) return
    const { content, reasoning, toolCalls, source } = this.#turn
    this.#turn = null
    const thought = reasoning !== '' && { reasoning }
    const called = toolCalls.length > 0 && { toolCalls }
    this.#push({ role: 'assistant', content, ...thought, ...called }, source)
  }

  #push(message: ChatMessage, source: number): void {
    this.#messages.push(message)
    this.#sources.push(source)
  }

  #fieldOf(index: number): string {
    const source = this.#sources[index] ?? INSTRUCTIONS
    if (source === INSTRUCTIONS) return 'instructions'
    const isOutput = this.#messages[index]?.role === 'tool'
    return `input[${source}].${isOutput ? 'output' : 'content'}`
  }
}

/** What comes behind calls stays with them, a thought too, as their results come next. Otherwise text ends a turn. */
function goesOn({ content, toolCalls }: AssistantTurn): boolean {
  return content === '' || toolCalls.length > 0
}

function textsOf(parts: readonly { readonly text: string }[] | null | undefined): string {
  return (parts ?? []).map(({ text }) => text).join('')
}
