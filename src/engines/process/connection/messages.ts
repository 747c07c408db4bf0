/**
 * The messages between server and engine process, and their frames: a 4-byte little-endian length,
 * then that many bytes of JSON. The text of a long request follows its frame as plain bytes, which nobody has to parse before
 * it is tokenized. Requests and events travel over the socket; load progress travels over a separate
 * pipe, because the engine's event loop is blocked while it loads.
 */
import type { ErrorCode } from '../../../core/errors.ts'
import type {
  EmbeddingRequest,
  EngineEvent,
  EngineRequest,
  ModelInfo,
  Prompt,
} from '../../../protocol/engine.ts'
import type { PackedPrompt } from '../../../protocol/model-runner.ts'
import type { RunnerOptions } from '../../../protocol/runner-options.ts'
import type { SchedulePolicy } from '../../../core/schedule-policy.ts'
import type { EmbeddingLoopRequest } from '../step-loop/embedding-loop.ts'
import type { LoopRequest } from '../step-loop/step-loop.ts'

/** Given to the engine process when it starts. */
export interface EngineProcessOptions {
  readonly socketPath: string
  readonly parentPid: number
  readonly runner: RunnerOptions
  readonly schedulePolicy: SchedulePolicy
}

/** Client → engine. `id` is the client's, unique on its connection. An abort is acknowledged when no work for the request is left. */
export type ClientMessage =
  | { readonly type: 'generate'; readonly id: number; readonly request: EngineRequest | EmbeddingRequest }
  | { readonly type: 'abort'; readonly id: number }
  /** So many engines on this machine have work; sent when that changes. */
  | { readonly type: 'share'; readonly busyEngines: number }

/** In the place of `generate` where the text is long. */
interface LongRequestMessage {
  readonly type: 'generate-long'
  readonly id: number
  readonly request: Omit<EngineRequest, 'prompts'> | Omit<EmbeddingRequest, 'prompts'>
  readonly prompts: readonly Omit<PackedPrompt, 'text'>[]
  /** Bytes of text behind this frame: the pieces of all prompts, in their order. */
  readonly textBytes: number
}

/** As the engine reads it. */
export type ReceivedMessage = ClientMessage | (LongRequestMessage & { readonly text: Uint8Array })

/** Why a request as a whole was refused. */
export interface Refusal {
  readonly code: ErrorCode
  readonly params: Readonly<Record<string, string | number>>
  readonly retryAfterSeconds: number | null
}

/** Engine → client: everything one step made for this connection. */
export interface StepMessage {
  readonly events: readonly (readonly [id: number, events: readonly EngineEvent[]])[]
  readonly refusals: readonly (readonly [id: number, refusal: Refusal])[]
  /** Requests that were not refused and for which no work is left: ended or aborted. */
  readonly ended: readonly number[]
}

/** Engine → parent, one JSON line each, over the pipe. */
export type LoadMessage =
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'ready'; readonly info: ModelInfo }
  | { readonly type: 'failed'; readonly message: string }

/** Begins the line on standard error that says why an engine process ends itself. */
export const STEP_LOOP_FAILED = 'the step loop failed: '

/** A prompt of the largest accepted body, escaped at its worst, stays under this. */
const MAX_FRAME_BYTES = 128 * 1024 * 1024
const HEADER_BYTES = 4
const NOTHING = Buffer.alloc(0)
/** Characters of text that are sent, and parsed, as JSON. */
const MAX_JSON_TEXT_LENGTH = 8192

export function encodeFrame(message: ClientMessage | StepMessage): Buffer {
  const prompts = 'type' in message && message.type === 'generate' ? longPrompts(message.request) : null
  return prompts === null ? encodeJson(message, 0) : encodeLongRequest(message as GenerateMessage, prompts)
}

type GenerateMessage = Extract<ClientMessage, { type: 'generate' }>

/** With room for text behind it. */
function encodeJson(message: object, textBytes: number): Buffer {
  const body = JSON.stringify(message)
  const bytes = Buffer.byteLength(body)
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes + textBytes)
  frame.writeUInt32LE(bytes, 0)
  frame.write(body, HEADER_BYTES, 'utf8')
  return frame
}

/** Those of a request that are text, all of them, and long; else null. */
function longPrompts({ prompts }: EngineRequest | EmbeddingRequest): readonly Prompt[] | null {
  const texts: Prompt[] = []
  let length = 0
  for (const prompt of prompts) {
    if ('tokenIds' in prompt) return null
    for (const piece of prompt.pieces) length += piece.length
    texts.push(prompt)
  }
  return length > MAX_JSON_TEXT_LENGTH ? texts : null
}

function encodeLongRequest({ id, request }: GenerateMessage, prompts: readonly Prompt[]): Buffer {
  const { prompts: _, ...rest } = request
  const packed = prompts.map(({ pieces, addSpecial }) => ({
    pieceBytes: pieces.map((piece) => Buffer.byteLength(piece)),
    addSpecial,
  }))
  const textBytes = packed.reduce((sum, prompt) => sum + sumOf(prompt.pieceBytes), 0)
  const message: LongRequestMessage = { type: 'generate-long', id, request: rest, prompts: packed, textBytes }
  const frame = encodeJson(message, textBytes)
  let offset = frame.length - textBytes
  for (const { pieces } of prompts) for (const piece of pieces) offset += frame.write(piece, offset, 'utf8')
  return frame
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, one) => sum + one, 0)
}

/** The request of a message, whichever way it came. */
export function toLoopRequest(
  message: Extract<ReceivedMessage, { request: unknown }>,
): LoopRequest | EmbeddingLoopRequest {
  if (message.type === 'generate') return message.request
  let offset = 0
  const prompts = message.prompts.map((prompt) => {
    const start = offset
    offset += sumOf(prompt.pieceBytes)
    return { ...prompt, text: message.text.subarray(start, offset) }
  })
  return { ...message.request, prompts }
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
    const textBytes = message !== null && 'textBytes' in message ? Number(message.textBytes) : 0
    if (message === null || !(textBytes <= MAX_FRAME_BYTES)) return this.#break()
    if (textBytes > 0) this.#open = { message, text: new Uint8Array(textBytes), filled: 0 }
    else messages.push(message)
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
