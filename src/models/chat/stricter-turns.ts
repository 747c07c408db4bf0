/**
 * A conversation as templates take it that allow one system message, at the beginning, and then turns of user and assistant (Qwen3.5,
 * Mistral, Gemma). Clients send more: instructions of several places, a reminder in between, two questions in a row. The APIs that they
 * were written for take these as one turn, and no text is lost here either.
 */
import type { ChatMessage } from '../../protocol/chat.ts'

/** From what changes least, to be tried one after the other. */
export function* stricterTurns(messages: readonly ChatMessage[]): Generator<readonly ChatMessage[]> {
  const start = messages.findIndex(({ role }) => role !== 'system')
  const system = messages.slice(0, start === -1 ? messages.length : start)
  const rest = joinTurns(messages.slice(system.length).map(asTurn))
  const [first] = system
  if (first === undefined) return yield rest
  const text = system.map(({ content }) => content).join(BETWEEN)
  yield [{ role: 'system', content: text }, ...rest]
  // Gemma 2 and the first Mistrals have none.
  yield joinTurns([{ role: 'user', content: text }, ...rest])
}

const BETWEEN = '\n\n'

/** What comes later than the beginning is said to the model by who speaks to it. */
const asTurn = (message: ChatMessage): ChatMessage =>
  message.role === 'system' ? { role: 'user', content: message.content } : message

function joinTurns(messages: readonly ChatMessage[]): readonly ChatMessage[] {
  const joined: ChatMessage[] = []
  for (const message of messages) {
    const last = joined.at(-1)
    if (last !== undefined && areOneTurn(last, message)) joined[joined.length - 1] = join(last, message)
    else joined.push(message)
  }
  return joined
}

/** Results stay apart, and so does what comes behind a call. */
const areOneTurn = (one: ChatMessage, next: ChatMessage): boolean =>
  one.role === next.role && one.role !== 'tool' && (one.toolCalls ?? []).length === 0

function join({ parts: _own, ...one }: ChatMessage, { parts: _others, ...next }: ChatMessage): ChatMessage {
  const texts = [one.content, next.content].filter((text) => text !== '')
  const thoughts = [one.reasoning, next.reasoning].filter((text) => text !== undefined)
  return {
    ...one,
    ...next,
    content: texts.join(BETWEEN),
    ...(thoughts.length > 0 && { reasoning: thoughts.join(BETWEEN) }),
  }
}
