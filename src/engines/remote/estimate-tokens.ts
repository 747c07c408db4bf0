/** How many tokens a prompt may have, for as long as its upstream has not told. Called by `remote-engine.ts`. */
import type { Chat, ChatMessage } from '../../protocol/chat.ts'
import type { Prompt } from '../../protocol/engine.ts'

/** What texts have on average. */
const BYTES_PER_TOKEN = 4
/** About what a large image is. */
const TOKENS_PER_MEDIUM = 1000

/** What stays where the upstream tells none, or is not read to its end. */
export function estimateTokens(prompt: Prompt | null, chat: Chat = { messages: [] }): number {
  if (prompt !== null && 'tokenIds' in prompt) return prompt.tokenIds.length
  const { messages, tools = [], templateArguments } = chat
  const texts = prompt === null ? messages.flatMap(textsOf) : prompt.pieces
  const others = [...tools, ...(templateArguments === undefined ? [] : [templateArguments])]
  const bytes = [...texts, ...others.map((other) => JSON.stringify(other))].reduce(
    (sum, text) => sum + Buffer.byteLength(text),
    0,
  )
  const media = messages.flatMap(({ parts = [] }) => parts.filter(({ kind }) => kind === 'media'))
  return Math.ceil(bytes / BYTES_PER_TOKEN) + media.length * TOKENS_PER_MEDIUM
}

function textsOf({ content, reasoning = '', toolCalls = [] }: ChatMessage): readonly string[] {
  return [content, reasoning, ...toolCalls.flatMap((call) => [call.name, call.arguments])]
}
