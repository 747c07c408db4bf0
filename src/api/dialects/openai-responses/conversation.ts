/**
 * A chat from the items of `input`. OpenAI's API has an item for each thing that a model thought, said or called; a chat
 * template has one message for an assistant's whole turn, so neighbouring items are joined while they keep that order.
 */
import type { ChatFieldNames } from '../../../generation/engine-request.ts'
import type { ChatMessage, ToolCall } from '../../../protocol/chat.ts'
import type { InputItem } from './input.ts'

interface AssistantTurn {
  content: string
  reasoning: string
  readonly toolCalls: ToolCall[]
  /** Of its first item. */
  readonly field: string
}

export class Conversation {
  readonly #messages: ChatMessage[] = []
  readonly #fields: string[] = []
  readonly #calledNames = new Map<string, string>()
  #turn: AssistantTurn | null = null

  constructor(instructions: string | null) {
    if (instructions !== null) this.#push({ role: 'system', content: instructions }, 'instructions')
  }

  /** @param field the body's name for the item. Returns false for an output whose call did not come before it. */
  add(item: InputItem, field: string): boolean {
    switch (item.type) {
      case 'message':
        this.#addMessage(item, field)
        return true
      case 'reasoning':
        this.#openTurn(
          field,
          ({ content, toolCalls }) => content === '' && toolCalls.length === 0,
        ).reasoning += textsOf(item.content) || textsOf(item.summary)
        return true
      case 'function_call':
        this.#calledNames.set(item.call_id, item.name)
        this.#openTurn(field, () => true).toolCalls.push({
          id: item.call_id,
          name: item.name,
          arguments: item.arguments,
        })
        return true
      case 'function_call_output':
        return this.#addOutput(item, field)
    }
  }

  finish(): { readonly messages: readonly ChatMessage[]; readonly fieldNames: ChatFieldNames } {
    this.#endTurn()
    return { messages: this.#messages, fieldNames: { chat: 'input', texts: this.#fields } }
  }

  #addMessage({ role, content }: Extract<InputItem, { type: 'message' }>, field: string): void {
    if (role === 'assistant') {
      this.#openTurn(field, (turn) => turn.content === '' && turn.toolCalls.length === 0).content = content
      return
    }
    this.#endTurn()
    // OpenAI renamed the role; templates know the old name.
    this.#push({ role: role === 'developer' ? 'system' : role, content }, `${field}.content`)
  }

  #addOutput(
    { call_id: toolCallId, output }: Extract<InputItem, { type: 'function_call_output' }>,
    field: string,
  ): boolean {
    const name = this.#calledNames.get(toolCallId)
    if (name === undefined) return false
    this.#endTurn()
    this.#push({ role: 'tool', content: output, toolCallId, name }, `${field}.output`)
    return true
  }

  /** The turn that goes on with the item, or a new one. */
  #openTurn(field: string, canGoOn: (turn: AssistantTurn) => boolean): AssistantTurn {
    if (this.#turn !== null && !canGoOn(this.#turn)) this.#endTurn()
    this.#turn ??= { content: '', reasoning: '', toolCalls: [], field }
    return this.#turn
  }

  #endTurn(): void {
    if (this.#turn === null) return
    const { content, reasoning, toolCalls, field } = this.#turn
    this.#turn = null
    this.#push(
      {
        role: 'assistant',
        content,
        ...(reasoning !== '' && { reasoning }),
        ...(toolCalls.length > 0 && { toolCalls }),
      },
      field,
    )
  }

  #push(message: ChatMessage, field: string): void {
    this.#messages.push(message)
    this.#fields.push(field)
  }
}

function textsOf(parts: readonly { readonly text: string }[] | null | undefined): string {
  return (parts ?? []).map(({ text }) => text).join('')
}
