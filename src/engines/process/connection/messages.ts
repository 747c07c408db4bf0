/**
 * The messages between server and engine process, and their frames: a 4-byte little-endian length,
 * then that many bytes of JSON. Requests and events travel over the socket; load progress travels over a separate
 * pipe, because the engine's event loop is blocked while it loads.
 */
import type { ErrorCode } from '../../../core/errors.ts'
import type { EngineEvent, EngineRequest, ModelInfo } from '../../../protocol/engine.ts'
import type { RunnerOptions } from '../../../protocol/runner-options.ts'
import type { SchedulePolicy } from '../../../core/schedule-policy.ts'

/** Given to the engine process when it starts. */
export interface EngineProcessOptions {
  readonly socketPath: string
  readonly parentPid: number
  readonly runner: RunnerOptions
  readonly schedulePolicy: SchedulePolicy
}

/** Client → engine. `id` is the client's, unique on its connection. An abort is acknowledged when no work for the request is left. */
export type ClientMessage =
  | { readonly type: 'generate'; readonly id: number; readonly request: EngineRequest }
  | { readonly type: 'abort'; readonly id: number }
  /** So many engines on this machine have work; sent when that changes. */
  | { readonly type: 'share'; readonly busyEngines: number }

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

/** A prompt of the largest accepted body, escaped at its worst, stays under this. */
const MAX_FRAME_BYTES = 128 * 1024 * 1024
const HEADER_BYTES = 4

export function encodeFrame(message: ClientMessage | StepMessage): Buffer {
  const body = JSON.stringify(message)
  const bytes = Buffer.byteLength(body)
  const frame = Buffer.allocUnsafe(HEADER_BYTES + bytes)
  frame.writeUInt32LE(bytes, 0)
  frame.write(body, HEADER_BYTES, 'utf8')
  return frame
}

/** Cuts a byte stream into messages; holds an unfinished one until the rest arrives. */
export class FrameReader<Message> {
  #chunks: Buffer[] = []
  #bytes = 0
  /** Bytes needed before there is anything new to read. */
  #needed = HEADER_BYTES
  /** Whether a frame was too large or no message; nothing is read after it. */
  isBroken = false

  push(chunk: Buffer): Message[] {
    if (this.isBroken) return []
    this.#chunks.push(chunk)
    this.#bytes += chunk.length
    if (this.#bytes < this.#needed) return []
    const messages: Message[] = []
    const all = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    let offset = 0
    this.#needed = HEADER_BYTES
    while (all.length - offset >= HEADER_BYTES) {
      const bodyBytes = all.readUInt32LE(offset)
      if (bodyBytes > MAX_FRAME_BYTES) {
        this.isBroken = true
        return messages
      }
      const end = offset + HEADER_BYTES + bodyBytes
      if (end > all.length) {
        this.#needed = HEADER_BYTES + bodyBytes
        break
      }
      const message = parseMessage(all.toString('utf8', offset + HEADER_BYTES, end))
      if (message === null) {
        this.isBroken = true
        return messages
      }
      messages.push(message as Message)
      offset = end
    }
    this.#chunks = offset === all.length ? [] : [all.subarray(offset)]
    this.#bytes = all.length - offset
    return messages
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
