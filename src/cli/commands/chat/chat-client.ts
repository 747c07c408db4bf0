/** The requests of `sluice chat` to a server: its models, and chats whose answers are streamed. */
import { StartError } from '../../../core/errors.ts'
import { connectionFailure } from '../../server-url.ts'

export interface SentMessage {
  readonly role: 'system' | 'user' | 'assistant'
  readonly content: string
}

export interface ChatRequest {
  /** Null takes the default model. */
  readonly model: string | null
  readonly messages: readonly SentMessage[]
  readonly temperature: number | null
  readonly maxTokens: number | null
}

export interface ChatPiece {
  readonly kind: 'reasoning' | 'text'
  readonly text: string
}

export interface ChatServer {
  /** Ends with a slash. */
  readonly url: string
  /** Null sends none. */
  readonly apiKey: string | null
}

/** A request that the server refused or could not answer; the dialogue goes on. */
export class ChatFailure extends Error {}

const ANSWER_TIMEOUT_MS = 5000

/** Ids of the models that can chat, the default one first; null where no server answers. @throws StartError for another answer */
export async function listModels(server: ChatServer): Promise<readonly string[] | null> {
  let response: Response
  try {
    response = await fetch(new URL('v1/models', server.url), {
      headers: headersOf(server),
      signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
    })
  } catch {
    return null
  }
  const body: unknown = await response.json().catch(() => null)
  if (response.status === 401) {
    const remedy =
      server.apiKey === null ? 'give one with --api-key or SLUICE_API_KEY' : 'it is not the right one'
    throw new StartError(`${server.url} asks for a key: ${remedy}.`, 1)
  }
  const { data } = (body ?? {}) as { readonly data?: readonly ListedModel[] }
  if (response.status !== 200 || !Array.isArray(data)) {
    throw new StartError(`${server.url} answered ${response.status}: ${detailOf(body)}`, 1)
  }
  return data
    .filter(({ meta }: ListedModel) => meta?.capabilities?.includes('chat') ?? true)
    .map(({ id }: ListedModel) => id)
}

interface ListedModel {
  readonly id: string
  readonly meta?: { readonly capabilities?: readonly string[] | null }
}

/** What is read of a chunk of the stream, or of the error in its place. */
interface ChatChunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null; readonly reasoning_content?: string | null }
    readonly finish_reason?: string | null
  }[]
  readonly error?: { readonly message?: string }
}

/** Yields the answer piece by piece; returns whether it was cut at its most tokens. @throws ChatFailure, or the signal's reason */
export async function* streamChat(
  server: ChatServer,
  { model, messages, temperature, maxTokens }: ChatRequest,
  signal: AbortSignal,
): AsyncGenerator<ChatPiece, { readonly isCut: boolean }> {
  const body = {
    ...(model !== null && { model }),
    ...{ messages, stream: true },
    ...(temperature !== null && { temperature }),
    ...(maxTokens !== null && { max_tokens: maxTokens }),
  }
  const response = await send(server, body, signal)
  let isCut = false
  for await (const data of readEvents(response, server, signal)) {
    const { choices = [], error } = JSON.parse(data) as ChatChunk
    if (error !== undefined) throw new ChatFailure(error.message ?? 'The answer ended with an error.')
    const [{ delta = {}, finish_reason: reason = null } = {}] = choices
    if (delta.reasoning_content) yield { kind: 'reasoning', text: delta.reasoning_content }
    if (delta.content) yield { kind: 'text', text: delta.content }
    isCut ||= reason === 'length'
  }
  return { isCut }
}

async function send(server: ChatServer, body: object, signal: AbortSignal): Promise<Response> {
  let response: Response
  try {
    response = await fetch(new URL('v1/chat/completions', server.url), {
      method: 'POST',
      headers: { ...headersOf(server), 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
  } catch (error) {
    signal.throwIfAborted()
    throw new ChatFailure(`${server.url} does not answer: ${connectionFailure(error)}.`, { cause: error })
  }
  if (response.status === 200) return response
  throw new ChatFailure(detailOf(await response.json().catch(() => null)))
}

/** The data of each event but the last, which ends the stream. */
async function* readEvents(
  { body }: Response,
  { url }: ChatServer,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for await (const bytes of (body ?? []) as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) {
        if (!line.startsWith('data:')) continue
        const data = line.slice('data:'.length).trim()
        if (data === '[DONE]') return
        yield data
      }
    }
  } catch (error) {
    signal.throwIfAborted()
    throw new ChatFailure(`${url} broke off its answer: ${connectionFailure(error)}.`, { cause: error })
  }
  throw new ChatFailure(`${url} ended its answer too early.`)
}

function headersOf({ apiKey }: ChatServer): Record<string, string> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` }
}

/** Of Sluice's own errors, and of others that speak OpenAI's API. */
function detailOf(body: unknown): string {
  const { detail, error } = (body ?? {}) as { detail?: unknown; error?: { message?: unknown } }
  const text = detail ?? error?.message
  return typeof text === 'string' ? text : 'no reason was given.'
}
