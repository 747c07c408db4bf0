/**
 * The messages between server and engine process, and their frames: a 4-byte little-endian length,
 * then that many bytes of JSON. Long texts, and token ids, follow their frame as plain bytes, which are not parsed before they
 * are used. Requests and events travel over the socket; load progress travels over a separate
 * pipe, because the engine's event loop is blocked while it loads.
 */
import type { CacheState } from '../../../scheduler/scheduler-options.ts'
import type { ErrorCode } from '../../../core/errors.ts'
import type {
  EmbeddingRequest,
  EngineRequest,
  Prompt,
  TextPrompt,
  TokenizedText,
  TokenizeRequest,
  TokenPrompt,
} from '../../../protocol/engine.ts'
import type { EngineEvent } from '../../../protocol/engine-events.ts'
import type { ModelInfo } from '../../../protocol/model-info.ts'
import type { NumberedAdapter } from '../../../protocol/adapter.ts'
import type { PackedPrompt } from '../../../protocol/model-runner.ts'
import type { RunnerOptions } from '../../../protocol/runner-options.ts'
import type { PrefixCacheScope } from '../../../core/choices/prefix-cache-scope.ts'
import type { SchedulePolicy } from '../../../core/choices/schedule-policy.ts'
import { isTokenPrompt } from '../../tokenizing/packed-prompt.ts'
import type { EmbeddingLoopRequest } from '../step-loop/embedding-loop.ts'
import type { LoopRequest, LoopText } from '../step-loop/step-loop.ts'

/** Given to the engine process when it starts. */
export interface EngineProcessOptions {
  readonly socketPath: string
  readonly parentPid: number
  readonly runner: RunnerOptions
  readonly schedulePolicy: SchedulePolicy
  readonly prefixCacheScope?: PrefixCacheScope
  /** Those that the process before had. @default none */
  readonly adapters?: readonly NumberedAdapter[]
}

/** What a client asks for; texts and tokens are answered with one `TextResult` each, a load with no event. */
export type EngineWork =
  | { readonly type: 'generate'; readonly request: EngineRequest | EmbeddingRequest }
  | { readonly type: 'tokenize'; readonly request: TokenizeRequest }
  | { readonly type: 'detokenize'; readonly tokenIds: TokenPrompt['tokenIds'] }
  | { readonly type: 'load-adapter'; readonly adapter: NumberedAdapter }

/** Client → engine. `id` is the client's, unique on its connection. An abort is acknowledged when no work for the request is left. */
export type ClientMessage =
  | (EngineWork & { readonly id: number })
  | { readonly type: 'abort'; readonly id: number }
  /** So many engines on this machine have work; sent when that changes. */
  | { readonly type: 'share'; readonly busyEngines: number }
  /** Freed after the last sequence that has it. */
  | { readonly type: 'free-adapter'; readonly adapterId: number }

/** A prompt whose bytes are behind the frame: those of its text, or 4 for each token, little-endian. */
type PromptHead = Omit<PackedPrompt, 'text'> | { readonly tokens: number }

interface HasBytes {
  readonly id: number
  /** Bytes behind this frame: those of all prompts, in their order. */
  readonly textBytes: number
}

/** In the place of `generate` where the text is long or there is none. */
interface LongRequestMessage extends HasBytes {
  readonly type: 'generate-long'
  readonly request: Omit<EngineRequest, 'prompts'> | Omit<EmbeddingRequest, 'prompts'>
  readonly prompts: readonly PromptHead[]
}

interface TokenizeMessage extends HasBytes {
  readonly type: 'tokenize-long'
  readonly request: Omit<TokenizeRequest, 'prompt'>
  readonly prompt: Omit<PackedPrompt, 'text'>
}

interface DetokenizeMessage extends HasBytes {
  readonly type: 'detokenize-long'
}

type LongMessage = LongRequestMessage | TokenizeMessage | DetokenizeMessage

/** As the engine reads it. */
export type ReceivedMessage =
  | Extract<
      ClientMessage,
      { readonly type: 'generate' | 'abort' | 'share' | 'load-adapter' | 'free-adapter' }
    >
  | (LongMessage & { readonly text: Uint8Array })

/** Tokens in base64, which costs less to write and to read than a list of numbers. */
export interface TokensResult {
  readonly type: 'tokens'
  readonly ids: string
  readonly texts: readonly string[] | null
}

/** The one event of a `tokenize` or `detokenize`. */
type TextResult = TokensResult | { readonly type: 'text'; readonly text: string }

export type WorkEvent = EngineEvent | TextResult

/** Why a request as a whole was refused. */
export interface Refusal {
  readonly code: ErrorCode
  readonly params: Readonly<Record<string, string | number>>
  readonly retryAfterSeconds: number | null
}

/** Engine → client: everything one step made for this connection. */
export interface StepMessage {
  readonly events: readonly (readonly [id: number, events: readonly WorkEvent[]])[]
  readonly refusals: readonly (readonly [id: number, refusal: Refusal])[]
  /** Requests that were not refused and for which no work is left: ended or aborted. */
  readonly ended: readonly number[]
  /** Absent where it is as before. */
  readonly cache?: CacheState
}

/** Engine → parent, one JSON line each, over the pipe. */
export type LoadMessage =
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'ready'; readonly info: ModelInfo }
  /** What the operator should know; also later. */
  | { readonly type: 'note'; readonly note: string }
  | { readonly type: 'failed'; readonly message: string }

/** Begins the line on standard error that says why an engine process ends itself. */
export const STEP_LOOP_FAILED = 'the step loop failed: '

/** A prompt of the largest accepted body, escaped at its worst, stays under this. */
const MAX_FRAME_BYTES = 128 * 1024 * 1024
const HEADER_BYTES = 4
const TOKEN_BYTES = 4
const NOTHING = Buffer.alloc(0)
/** Characters of text that are sent, and parsed, as JSON. */
const MAX_JSON_TEXT_LENGTH = 8192

export function encodeFrame(message: ClientMessage | StepMessage): Buffer {
  if (!('type' in message)) return encodeJson(message, 0)
  switch (message.type) {
    case 'generate':
      return isShort(message.request) ? encodeJson(message, 0) : encodeLongRequest(message)
    case 'tokenize':
      return encodeTokenize(message)
    case 'detokenize':
      return encodeDetokenize(message)
    case 'abort':
    case 'share':
    case 'load-adapter':
    case 'free-adapter':
      return encodeJson(message, 0)
  }
}

/** With room for text behind it. */
function encodeJson(message: object, textBytes: number): Buffer {
  const body = JSON.stringify(message)
  const bytes = Buffer.byteLength(body)
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes + textBytes)
  frame.writeUInt32LE(bytes, 0)
  frame.write(body, HEADER_BYTES, 'utf8')
  return frame
}

function isShort({ prompts }: EngineRequest | EmbeddingRequest): boolean {
  let length = 0
  for (const prompt of prompts) {
    if (isTokenPrompt(prompt)) return false
    for (const piece of prompt.pieces) length += piece.length
  }
  return length <= MAX_JSON_TEXT_LENGTH
}

type MessageOf<Type extends ClientMessage['type']> = Extract<ClientMessage, { type: Type }>

function encodeLongRequest({ id, request }: MessageOf<'generate'>): Buffer {
  const { prompts, ...rest } = request
  const heads = prompts.map((prompt) =>
    isTokenPrompt(prompt) ? { tokens: prompt.tokenIds.length } : toTextHead(prompt),
  )
  const textBytes = sumOf(heads.map(bytesOf))
  const message: LongRequestMessage = { type: 'generate-long', id, request: rest, prompts: heads, textBytes }
  return encodeLong(message, prompts)
}

function encodeTokenize({ id, request }: MessageOf<'tokenize'>): Buffer {
  const { prompt, ...rest } = request
  const head = toTextHead(prompt)
  const textBytes = bytesOf(head)
  return encodeLong({ type: 'tokenize-long', id, request: rest, prompt: head, textBytes }, [prompt])
}

function encodeDetokenize({ id, tokenIds }: MessageOf<'detokenize'>): Buffer {
  const textBytes = bytesOf({ tokens: tokenIds.length })
  return encodeLong({ type: 'detokenize-long', id, textBytes }, [{ tokenIds }])
}

function encodeLong(message: LongMessage, prompts: readonly Prompt[]): Buffer {
  const frame = encodeJson(message, message.textBytes)
  let offset = frame.length - message.textBytes
  for (const prompt of prompts) {
    if (isTokenPrompt(prompt)) {
      const { tokenIds } = prompt
      for (let i = 0; i < tokenIds.length; i++) offset = frame.writeInt32LE(tokenIds[i] as number, offset)
    } else for (const piece of prompt.pieces) offset += frame.write(piece, offset, 'utf8')
  }
  return frame
}

function toTextHead({ pieces, addSpecial }: TextPrompt): Omit<PackedPrompt, 'text'> {
  return { pieceBytes: pieces.map((piece) => Buffer.byteLength(piece)), addSpecial }
}

function bytesOf(head: PromptHead): number {
  return 'tokens' in head ? head.tokens * TOKEN_BYTES : sumOf(head.pieceBytes)
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}

/** The request of a message, whichever way it came. */
export function toLoopRequest(
  message: Extract<ReceivedMessage, { type: 'generate' | 'generate-long' }>,
): LoopRequest | EmbeddingLoopRequest {
  if (message.type === 'generate') return message.request
  let offset = 0
  const prompts = message.prompts.map((head) => {
    const start = offset
    offset += bytesOf(head)
    const bytes = message.text.subarray(start, offset)
    return 'tokens' in head ? { tokenIds: toTokenIds(bytes) } : { ...head, text: bytes }
  })
  return { ...message.request, prompts }
}

export function toLoopText({
  request,
  prompt,
  text,
}: Extract<ReceivedMessage, { type: 'tokenize-long' }>): LoopText {
  return { ...request, prompt: { ...prompt, text } }
}

export function toTokenIds(bytes: Uint8Array): Int32Array {
  // A copy, because the bytes may begin anywhere.
  return new Int32Array(Uint8Array.from(bytes).buffer)
}

export function toTokensResult({ tokenIds, texts }: TokenizedText): TokensResult {
  const { buffer, byteOffset, byteLength } = tokenIds
  return { type: 'tokens', ids: Buffer.from(buffer, byteOffset, byteLength).toString('base64'), texts }
}

export function toTokenizedText({ ids, texts }: TokensResult): TokenizedText {
  return { tokenIds: toTokenIds(Buffer.from(ids, 'base64')), texts }
}

/** Cuts a byte stream into messages; holds an unfinished one until the rest arrives. */
export class FrameReader<Message> {
  #chunks: Buffer[] = []
  #bytes = 0
  /** Bytes needed before there is anything new to read. */
  #needed = HEADER_BYTES
  /** The message whose text is arriving. */
  #open: { readonly message: object; readonly text: Uint8Array; filled: number } | null = null
  /** Whether a frame was too large or no message; nothing is read after it. */
  isBroken = false

  push(chunk: Buffer): Message[] {
    const messages: object[] = []
    for (let rest = chunk; rest.length > 0 && !this.isBroken;) {
      rest = this.#open === null ? this.#readFrame(rest, messages) : this.#readText(rest, messages)
    }
    return messages as Message[]
  }

  /** Reads one frame, if it is whole, and returns what is behind it. */
  #readFrame(chunk: Buffer, messages: object[]): Buffer {
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes < this.#needed) return NOTHING
    const all = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    this.#chunks = [all]
    const bodyBytes = all.readUInt32LE(0)
    const end = HEADER_BYTES + bodyBytes
    if (bodyBytes > MAX_FRAME_BYTES) return this.#break()
    if (end > all.length) {
      this.#needed = end
      return NOTHING
    }
    this.#chunks = []
    this.#bytes = 0
    this.#needed = HEADER_BYTES
    const message = parseMessage(all.toString('utf8', HEADER_BYTES, end))
    if (message === null) return this.#break()
    if (!('textBytes' in message)) messages.push(message)
    else {
      const textBytes = Number(message.textBytes)
      if (!(textBytes <= MAX_FRAME_BYTES)) return this.#break()
      const text = new Uint8Array(textBytes)
      if (textBytes > 0) this.#open = { message, text, filled: 0 }
      else messages.push({ ...message, text })
    }
    return all.subarray(end)
  }

  #readText(chunk: Buffer, messages: object[]): Buffer {
    if (this.#open === null) return chunk
    const { message, text, filled } = this.#open
    const part = chunk.subarray(0, text.length - filled)
    text.set(part, filled)
    this.#open.filled += part.length
    if (this.#open.filled === text.length) {
      messages.push({ ...message, text })
      this.#open = null
    }
    return chunk.subarray(part.length)
  }

  #break(): Buffer {
    this.isBroken = true
    return NOTHING
  }
}

function parseMessage(text: string): object | null {
  try {
    const message: unknown = JSON.parse(text)
    return typeof message === 'object' ? message : null
  } catch {
    return null
  }
}
