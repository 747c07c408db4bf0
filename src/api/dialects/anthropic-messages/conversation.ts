/**
 * A chat from the messages of Anthropic's Messages API: results of tools, which stand in users' messages, become messages of
 * their own, and a message's blocks of text one text, in which media keep their places.
 */
import type { ChatFieldNames } from '../../../generation/generation-request.ts'
import type { ChatMessage, ContentPart } from '../../../protocol/chat.ts'
import { joinParts, toMediaPart } from '../../schemas/content-parts.ts'
import type { Message, ReadBlock, TextContent } from './content.ts'

type DocumentBlock = Extract<ReadBlock, { type: 'document' }>

type BlockOf<Role extends Message['role']> = Extract<Message, { role: Role }>['content'][number]

/** What is wrong with a block; the problem follows its name. */
interface ConversationProblem {
  readonly path: readonly (string | number)[]
  readonly problem: string
}

export interface MessagesChat {
  readonly messages: readonly ChatMessage[]
  readonly fieldNames: ChatFieldNames
  /** Whether the answer goes on with the last message, an assistant's. */
  readonly continuesLastMessage: boolean
}

/** @throws nothing; a conversation that no model could read is given as the first problem of it. */
export function toConversation(
  system: TextContent,
  messages: readonly Message[],
): MessagesChat | ConversationProblem {
  const builder = new ConversationBuilder(system)
  for (const [index, message] of messages.entries()) {
    const problem = builder.add(message, index)
    if (problem !== null) return problem
  }
  const last = messages.at(-1)
  const isContinued = last?.role === 'assistant'
  if (isContinued && last.content.some(({ type }) => type === 'tool_use')) {
    const problem = 'must be followed by a message with the results of its tool_use blocks'
    return { path: ['messages', messages.length - 1], problem }
  }
  return builder.finish(isContinued)
}

/** Where a text stands in the body: null is the system prompt. */
type Place = { readonly index: number; readonly block: number | null } | null

class ConversationBuilder {
  readonly #messages: ChatMessage[] = []
  /** Of each message's text. */
  readonly #places: Place[] = []
  readonly #calledNames = new Map<string, string>()

  constructor(system: TextContent) {
    const content = textOf(system)
    if (content !== '') this.#push({ role: 'system', content }, null)
  }

  /** Returns what is wrong with the message, or null. */
  add(message: Message, index: number): ConversationProblem | null {
    const place = { index, block: null }
    switch (message.role) {
      case 'system':
        this.#push({ role: 'system', content: textOf(message.content) }, place)
        return null
      case 'assistant':
        this.#push(this.#toAssistantMessage(message.content), place)
        return null
      case 'user':
        return this.#addUserBlocks(message.content, index)
    }
  }

  finish(continuesLastMessage: boolean): MessagesChat {
    const fieldNames = { chat: 'messages', textOf: (index: number) => this.#fieldOf(index) }
    return { messages: this.#messages, fieldNames, continuesLastMessage }
  }

  #toAssistantMessage(blocks: readonly BlockOf<'assistant'>[]): ChatMessage {
    const reasoning = blocks.map((block) => (block.type === 'thinking' ? block.thinking : '')).join('')
    const toolCalls = blocks.flatMap((block) => {
      if (block.type !== 'tool_use') return []
      this.#calledNames.set(block.id, block.name)
      return [{ id: block.id, name: block.name, arguments: JSON.stringify(block.input) }]
    })
    return {
      role: 'assistant',
      content: textOf(blocks),
      ...(reasoning !== '' && { reasoning }),
      ...(toolCalls.length > 0 && { toolCalls }),
    }
  }

  /** A stretch of text and media is a message, and so is each result. */
  #addUserBlocks(blocks: readonly BlockOf<'user'>[], index: number): ConversationProblem | null {
    const wholeMessage = { index, block: null }
    let parts: ContentPart[] = []
    const endStretch = (): void => {
      if (parts.length > 0) this.#push({ role: 'user', ...joinParts(parts) }, wholeMessage)
      parts = []
    }
    if (blocks.length === 0) this.#push({ role: 'user', content: '' }, wholeMessage)
    for (const [number, block] of blocks.entries()) {
      if (block.type !== 'tool_result') {
        parts.push(...toParts(block, number))
        continue
      }
      endStretch()
      const { tool_use_id: toolCallId, content = [], is_error: isError } = block
      const name = this.#calledNames.get(toolCallId)
      if (name === undefined) {
        const path = ['messages', index, 'content', number, 'tool_use_id']
        return { path, problem: `must be the id of a tool_use block before it, but was '${toolCallId}'` }
      }
      const failed: readonly ContentPart[] = isError === true ? [{ kind: 'text', text: 'Error: ' }] : []
      const result = joinParts([...failed, ...content.flatMap(toParts)])
      this.#push({ role: 'tool', ...result, toolCallId, name }, { index, block: number })
    }
    endStretch()
    return null
  }

  #push(message: ChatMessage, place: Place): void {
    this.#messages.push(message)
    this.#places.push(place)
  }

  #fieldOf(message: number): string {
    const place = this.#places[message] ?? null
    if (place === null) return 'system'
    const content = `messages[${place.index}].content`
    return place.block === null ? content : `${content}[${place.block}].content`
  }
}

function textOf(blocks: readonly { readonly type: string; readonly text?: string }[]): string {
  return blocks.map((block) => (block.type === 'text' ? (block.text ?? '') : '')).join('')
}

/** @param number of the block among those of its message or result */
function toParts(block: ReadBlock, number: number): readonly ContentPart[] {
  if (block.type === 'text') return [{ kind: 'text', text: block.text }]
  if (block.type === 'document') return toDocumentParts(block, number)
  const { source } = block
  const url = source.type === 'url' ? source.url : `data:${source.media_type};base64,${source.data}`
  return [toMediaPart({ type: 'image_url', image_url: { url } }, block.type, `[${number}]`)]
}

/** A file as it is; text in tags like those that Anthropic's advice on long prompts puts documents into, with what is said about it. */
function toDocumentParts(block: DocumentBlock, number: number): readonly ContentPart[] {
  const { source, title, context } = block
  if (source.type === 'base64') {
    const file = {
      file_data: `data:${source.media_type};base64,${source.data}`,
      filename: title ?? 'document',
    }
    return [toMediaPart({ type: 'file', file }, block.type, `[${number}]`)]
  }
  const about = [
    title ? `<source>${title}</source>\n` : '',
    context ? `<context>${context}</context>\n` : '',
  ].join('')
  const content: readonly ContentPart[] =
    source.type === 'text'
      ? [{ kind: 'text', text: source.data }]
      : source.content.flatMap((inner) => toParts(inner, number))
  return [
    { kind: 'text', text: `<document>\n${about}<document_content>\n` },
    ...content,
    { kind: 'text', text: '\n</document_content>\n</document>\n' },
  ]
}
