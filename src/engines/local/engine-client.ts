/**
 * The HTTP process's end of one engine process: requests go out and events come in over one socket. When the socket
 * closes, every open request is handed back to the host, which knows whether to fail it or to run it again.
 */
import type { Socket } from 'node:net'
import { ServiceError } from '../../core/errors.ts'
import type { EngineRequest } from '../../protocol/engine.ts'
import { encodeFrame, FrameReader, type ClientMessage, type StepMessage } from './messages.ts'
import type { RequestStream } from './request-stream.ts'
import type { RequestHandle } from './step-loop.ts'

/** A request that has not ended, whichever engine process runs it. */
export interface PendingRequest {
  readonly request: EngineRequest
  readonly stream: RequestStream
  /** Whether anything has come of it: running it again would then say things twice. */
  hasStarted: boolean
}

export class EngineClient<Pending extends PendingRequest> {
  readonly #socket: Socket
  readonly #pending = new Map<number, Pending>()
  #nextId = 0

  /** `onClose` gets the requests that the engine had not finished. */
  constructor(socket: Socket, onClose: (unfinished: Pending[]) => void) {
    this.#socket = socket
    const reader = new FrameReader<StepMessage>()
    socket.on('data', (chunk: Buffer) => {
      for (const message of reader.push(chunk)) this.#receive(message)
      // Not our frames: what follows cannot be read either.
      if (reader.isBroken) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      const unfinished = [...this.#pending.values()]
      this.#pending.clear()
      onClose(unfinished)
    })
  }

  submit(pending: Pending): RequestHandle {
    const id = this.#nextId++
    this.#pending.set(id, pending)
    this.#write({ type: 'generate', id, request: pending.request })
    return {
      abort: () => {
        if (!this.#pending.delete(id)) return
        this.#write({ type: 'abort', id })
      },
    }
  }

  /** What is written in one turn arrives together, so that requests sent together start together. */
  #write(message: ClientMessage): void {
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork()
      process.nextTick(() => this.#socket.uncork())
    }
    this.#socket.write(encodeFrame(message))
  }

  #receive({ events, refusals }: StepMessage): void {
    for (const [id, own] of events) {
      const pending = this.#pending.get(id)
      if (pending === undefined) continue
      pending.hasStarted ||= own.length > 0
      pending.stream.deliver(own)
      if (pending.stream.isClosed) this.#pending.delete(id)
    }
    for (const [id, { code, params, retryAfterSeconds }] of refusals) {
      const pending = this.#pending.get(id)
      this.#pending.delete(id)
      pending?.stream.fail(
        new ServiceError(code, params, retryAfterSeconds === null ? {} : { retryAfterSeconds }),
      )
    }
  }
}
