/**
 * The HTTP process's end of one engine process: requests go out and events come in over one socket. When the socket
 * closes, every open request is handed back to the host.
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
}

export interface EngineClientHooks<Pending> {
  /** Gets the requests that the engine had not finished. */
  readonly onClose: (unfinished: Pending[]) => void
  /** The engine has requests and has said nothing for `silenceMs`. */
  readonly onSilence: () => void
  readonly silenceMs: number
}

export class EngineClient<Pending extends PendingRequest> {
  readonly #socket: Socket
  readonly #pending = new Map<number, Pending>()
  readonly #hooks: EngineClientHooks<Pending>
  #nextId = 0
  /** Runs while there are requests; two of its rounds are a silence. */
  #silenceTimer: NodeJS.Timeout | null = null
  #silentRounds = 0

  constructor(socket: Socket, hooks: EngineClientHooks<Pending>) {
    this.#socket = socket
    this.#hooks = hooks
    const reader = new FrameReader<StepMessage>()
    socket.on('data', (chunk: Buffer) => {
      this.#silentRounds = 0
      this.#silenceTimer?.refresh()
      for (const message of reader.push(chunk)) this.#receive(message)
      // Not our frames: what follows cannot be read either.
      if (reader.isBroken) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      const unfinished = [...this.#pending.values()]
      this.#pending.clear()
      this.#stopWatching()
      hooks.onClose(unfinished)
    })
  }

  submit(pending: Pending): RequestHandle {
    const id = this.#nextId++
    if (this.#pending.size === 0) this.#watch()
    this.#pending.set(id, pending)
    this.#write({ type: 'generate', id, request: pending.request })
    return {
      abort: () => {
        if (!this.#pending.delete(id)) return
        this.#write({ type: 'abort', id })
      },
    }
  }

  /**
   * Two rounds rather than one: what the engine said while this process stood still is read between them.
   */
  #watch(): void {
    this.#stopWatching()
    const onRound = (): void => {
      if (this.#pending.size === 0) return this.#stopWatching()
      this.#silentRounds++
      if (this.#silentRounds < 2) return void this.#silenceTimer?.refresh()
      this.#stopWatching()
      this.#hooks.onSilence()
    }
    this.#silenceTimer = setTimeout(onRound, this.#hooks.silenceMs / 2)
  }

  #stopWatching(): void {
    if (this.#silenceTimer !== null) clearTimeout(this.#silenceTimer)
    this.#silenceTimer = null
    this.#silentRounds = 0
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
