/**
 * One client of an engine process: requests go out and events come in over one connection. When the connection closes,
 * every open request is handed back to the client's owner.
 */
import type { CacheState } from '../../../scheduler/scheduler-options.ts'
import { createConnection, type Socket } from 'node:net'
import type { Clock } from '../../../core/clock.ts'
import { ServiceError, StartError } from '../../../core/errors.ts'
import {
  encodeFrame,
  FrameReader,
  type ClientMessage,
  type EngineWork,
  type StepMessage,
  type WorkEvent,
} from './messages.ts'
import { SilenceWatch } from '../../../core/concurrency/silence-watch.ts'
import type { EventSink, RequestHandle } from '../step-loop/event-sink.ts'

/** A request that has not ended, whichever engine process runs it. */
export interface PendingRequest {
  readonly work: EngineWork
  readonly stream: EventSink<WorkEvent>
}

export interface EngineClientHooks<Pending> {
  /** Gets the requests that the engine had not finished. */
  readonly onClose: (unfinished: Pending[]) => void
  /** The engine has requests, those that were aborted included until it has ended them, and has sent nothing for `silenceMs`. */
  readonly onSilence: () => void
  /** Called when it gets its first request and when it has ended the last. */
  readonly onBusy?: (isBusy: boolean) => void
  /** What the engine's KV cache has come to. */
  readonly onCache?: (cache: CacheState) => void
  readonly silenceMs: number
  readonly clock: Clock
}

/** @throws StartError when nothing listens there. */
export function connectToEngine(socketPath: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketPath)
    const onError = (): void =>
      reject(new StartError('The engine process ended before it could be reached.', 1))
    socket.once('connect', () => resolve(socket)).once('error', onError)
  })
}

export class EngineClient<Pending extends PendingRequest> {
  readonly #socket: Socket
  readonly #hooks: EngineClientHooks<Pending>
  readonly #pending = new Map<number, Pending>()
  /** Runs while the engine has a request, also after the clients of a hung engine have left. */
  readonly #watch: SilenceWatch
  #nextId = 0
  /** As said last. */
  #busyEngines = 1

  constructor(socket: Socket, hooks: EngineClientHooks<Pending>) {
    this.#socket = socket
    this.#hooks = hooks
    this.#watch = new SilenceWatch(hooks)
    const reader = new FrameReader<StepMessage>()
    socket.on('data', (chunk: Buffer) => {
      this.#watch.restart()
      for (const message of reader.push(chunk)) this.#receive(message)
      if (this.#pending.size === 0) this.#rest()
      // Not our frames: what follows cannot be read either.
      if (reader.isBroken) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => {
      const unfinished = [...this.#pending.values()]
      this.#pending.clear()
      this.#rest()
      hooks.onClose(unfinished)
    })
  }

  submit(pending: Pending): RequestHandle {
    const id = this.#nextId++
    this.#pending.set(id, pending)
    this.#watch.start()
    if (this.#pending.size === 1) this.#hooks.onBusy?.(true)
    this.#write({ ...pending.work, id })
    return {
      abort: () => {
        if (this.#pending.has(id)) this.#write({ type: 'abort', id })
      },
    }
  }

  /** Says how many engines on this machine have work, this one included. */
  share(busyEngines: number): void {
    if (busyEngines === this.#busyEngines) return
    this.#busyEngines = busyEngines
    this.#write({ type: 'share', busyEngines })
  }

  /** No request of this client names the adapter any more. */
  freeAdapter(adapterId: number): void {
    this.#write({ type: 'free-adapter', adapterId })
  }

  #rest(): void {
    this.#watch.stop()
    this.#hooks.onBusy?.(false)
  }

  /** What is written in one turn arrives together, so that requests sent together start together. */
  #write(message: ClientMessage): void {
    if (this.#socket.writableCorked === 0) {
      this.#socket.cork()
      process.nextTick(() => this.#socket.uncork())
    }
    this.#socket.write(encodeFrame(message))
  }

  #receive({ events, refusals, ended, cache }: StepMessage): void {
    if (cache !== undefined) this.#hooks.onCache?.(cache)
    for (const [id, own] of events) this.#pending.get(id)?.stream.deliver(own)
    for (const id of ended) {
      const pending = this.#pending.get(id)
      this.#pending.delete(id)
      pending?.stream.end()
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
