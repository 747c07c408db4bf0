/**
 * Renders long chats in a thread of its own, so that the event loop stays free: a template takes tens of microseconds for each
 * message and walks over all text several times. One chat at a time, and accounts take turns; how many may wait follows from the
 * budget of request bodies. One thread for all models of a registry, which closes it. A thread that dies fails its chat, and
 * the next chat starts another.
 */
import { withAbort } from '../../core/concurrency/abort.ts'
import { FairSemaphore } from '../../core/concurrency/fair-semaphore.ts'
import { WorkerCalls } from '../../core/concurrency/worker-calls.ts'
import { workerEntry } from '../../core/concurrency/worker-channel.ts'
import { type ErrorCode, ServiceError } from '../../core/errors.ts'
import type { TextPrompt } from '../../protocol/engine.ts'
import type { Chat, ChatMessage } from '../../protocol/chat.ts'
import type { TemplateModel } from './chat-template.ts'

/** More messages or characters than these are rendered in the thread; fewer take a few milliseconds. */
const MAX_MESSAGES_AT_ONCE = 100
const MAX_CHARACTERS_AT_ONCE = 65_536

/** Only data crosses to the thread. */
export interface RenderOrder {
  /** Whose template the thread keeps from one chat to the next. */
  readonly model: TemplateModel
  readonly chat: Chat
  /** Whose line it waits in. */
  readonly accountId: string
}

export type RenderOutcome =
  | { readonly type: 'prompt'; readonly prompt: TextPrompt }
  | {
      readonly type: 'refusal'
      readonly code: ErrorCode
      readonly params: ServiceError['params']
      readonly param: string | null
    }

const CHAT_FIELDS: Readonly<Record<keyof Chat, true>> = {
  messages: true,
  tools: true,
  toolChoice: true,
  allowsParallelToolCalls: true,
  templateArguments: true,
  continuesLastMessage: true,
  hasGenerationPrompt: true,
}

export interface RenderThreadOptions {
  /** @default the worker beside this file */
  readonly workerUrl?: URL
}

export function isLongChat({ messages, tools = [], templateArguments }: Chat): boolean {
  if (messages.length > MAX_MESSAGES_AT_ONCE) return true
  const characters = messages.reduce((sum, message) => sum + charactersOf(message), 0)
  if (characters > MAX_CHARACTERS_AT_ONCE) return true
  if (tools.length === 0 && templateArguments === undefined) return false
  return characters + JSON.stringify([tools, templateArguments]).length > MAX_CHARACTERS_AT_ONCE
}

function charactersOf({
  content,
  reasoning = '',
  toolCalls = [],
  name = '',
  toolCallId = '',
}: ChatMessage): number {
  const own = content.length + reasoning.length + name.length + toolCallId.length
  return toolCalls.reduce((sum, call) => sum + call.arguments.length + call.name.length + call.id.length, own)
}

export class RenderThread {
  readonly #calls: WorkerCalls<RenderOrder, RenderOutcome>
  readonly #semaphore = new FairSemaphore()
  #isClosed = false

  constructor({ workerUrl }: RenderThreadOptions = {}) {
    this.#calls = new WorkerCalls({
      entry: workerUrl ?? workerEntry(import.meta.url, 'render-worker'),
      name: 'The thread that renders chats',
      // An idle thread keeps no process alive.
      keepsAlive: false,
    })
  }

  /**
   * A chat that is aborted in the queue is never rendered; one that is being rendered is finished, and its prompt ignored.
   * @throws ServiceError `chat_template_failed`; the signal's reason; InvariantError when the thread dies.
   */
  async render(order: RenderOrder, signal: AbortSignal): Promise<TextPrompt> {
    const outcome = await withAbort(
      this.#semaphore.run(order.accountId, () => this.#run(order), signal),
      signal,
    )
    if (outcome.type === 'prompt') return outcome.prompt
    const { code, params, param } = outcome
    throw new ServiceError(code, params, param === null ? {} : { param })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#calls.close()
  }

  async #run(order: RenderOrder): Promise<RenderOutcome> {
    if (this.#isClosed) throw new ServiceError('shutting_down')
    return await this.#calls.call({ ...order, chat: onlyChat(order.chat) })
  }
}

/** What holds a chat may hold functions too (`ChatInput`), and functions cannot cross to a thread. */
function onlyChat(chat: Chat): Chat {
  const fields = Object.entries(chat).filter(([name]) => Object.hasOwn(CHAT_FIELDS, name))
  return { messages: chat.messages, ...Object.fromEntries(fields) }
}
