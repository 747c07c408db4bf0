/**
 * Calls and casts between two processes of one service, in both directions over one stream. What is written in one turn of the
 * event loop goes out as one write; everything arrives in the order in which it was sent. Knows no method by itself.
 * Invariant: every call settles, at the latest when the stream closes.
 */
import type { Duplex } from 'node:stream'
import { ServiceError } from '../errors.ts'
import { type ErrorData, fromErrorData, toErrorData } from './error-data.ts'
import { encodeJsonFrame, encodeV8Frame, ChannelReader } from './frames.ts'

/** What a handler may know of the call that it answers. */
interface IncomingCall {
  /** Aborts when the caller gives the call up, or is gone. */
  readonly signal: AbortSignal
}

export type ChannelHandler = (args: readonly unknown[], call: IncomingCall) => unknown

export interface ChannelOptions {
  /** Of calls and casts, by name. */
  readonly handlers: Readonly<Record<string, ChannelHandler>>
  /** Whether the arguments and the result of this method need V8's format. @default none do */
  readonly needsV8?: (name: string) => boolean
  /** The other side is gone; every open call was failed. */
  readonly onClose: () => void
}

/** The other side ended before it answered: to a client of the service, which ends with it, it is shutting down. */
export class ChannelClosedError extends ServiceError {
  constructor() {
    super('shutting_down')
  }
}

type Message =
  | { readonly type: 'call'; readonly id: number; readonly name: string; readonly args: readonly unknown[] }
  | { readonly type: 'cast'; readonly name: string; readonly args: readonly unknown[] }
  | { readonly type: 'cancel'; readonly id: number }
  | { readonly type: 'result'; readonly id: number; readonly value: unknown }
  | { readonly type: 'error'; readonly id: number; readonly error: ErrorData }

interface OpenCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export class Channel {
  readonly #stream: Duplex
  readonly #options: ChannelOptions
  /** Calls of this side. */
  readonly #open = new Map<number, OpenCall>()
  /** Calls of the other side that are not answered yet. */
  readonly #answering = new Map<number, AnsweredCall>()
  #nextId = 0
  #isClosed = false
  #isCorked = false

  constructor(stream: Duplex, options: ChannelOptions) {
    this.#stream = stream
    this.#options = options
    const reader = new ChannelReader<Message>()
    stream.on('data', (chunk: Buffer) => {
      try {
        for (const message of reader.push(chunk)) this.#receive(message)
      } catch {
        // Not our frames: what follows cannot be read either.
        stream.destroy()
      }
    })
    // 'close' follows every error.
    stream.on('error', () => {})
    stream.on('end', () => stream.destroy())
    stream.on('close', () => this.#close())
  }

  /** @throws what the other side throws, as data; the signal's reason; ChannelClosedError */
  call<Result>(name: string, args: readonly unknown[], signal?: AbortSignal): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      if (this.#isClosed) return reject(new ChannelClosedError())
      if (signal?.aborted === true) return reject(signal.reason)
      const id = this.#nextId++
      this.#open.set(id, { resolve: resolve as OpenCall['resolve'], reject })
      this.#write({ type: 'call', id, name, args }, name)
      if (signal === undefined) return
      const onAbort = (): void => {
        this.#open.delete(id)
        this.#write({ type: 'cancel', id }, '')
        reject(signal.reason)
      }
      signal.addEventListener('abort', onAbort, { once: true })
      const done = (): void => signal.removeEventListener('abort', onAbort)
      this.#open.set(id, {
        resolve: (value) => (done(), resolve(value as Result)),
        reject: (error) => (done(), reject(error)),
      })
    })
  }

  /** One-way. */
  cast(name: string, args: readonly unknown[]): void {
    if (!this.#isClosed) this.#write({ type: 'cast', name, args }, name)
  }

  /** The same, and all that this turn has sent so far: what the process writes elsewhere afterwards cannot be known before it. */
  castAtOnce(name: string, args: readonly unknown[]): void {
    if (this.#isClosed) return
    this.cast(name, args)
    this.#isCorked = false
    this.#stream.uncork()
  }

  /** Ends the stream once what was sent has been written. */
  end(): void {
    this.#stream.end()
  }

  #receive(message: Message): void {
    switch (message.type) {
      case 'call':
        return this.#answer(message)
      case 'cast':
        void this.#options.handlers[message.name]?.(message.args, NEVER_CANCELLED)
        return
      case 'cancel':
        return this.#answering.get(message.id)?.cancel()
      case 'result':
      case 'error': {
        const call = this.#open.get(message.id)
        this.#open.delete(message.id)
        if (message.type === 'result') call?.resolve(message.value)
        else call?.reject(fromErrorData(message.error))
      }
    }
  }

  #answer({ id, name, args }: Extract<Message, { type: 'call' }>): void {
    const call = new AnsweredCall()
    const fail = (error: unknown): void => {
      this.#answering.delete(id)
      this.#write({ type: 'error', id, error: toErrorData(error) }, '')
    }
    try {
      const handler = this.#options.handlers[name]
      if (handler === undefined) throw new RangeError(`no method is called ${name}`)
      const value = handler(args, call)
      if (!(value instanceof Promise)) return this.#write({ type: 'result', id, value }, name)
      this.#answering.set(id, call)
      const finish = (result: unknown): void => {
        this.#answering.delete(id)
        this.#write({ type: 'result', id, value: result }, name)
      }
      value.then(finish, fail)
    } catch (error) {
      fail(error)
    }
  }

  #write(message: Message, name: string): void {
    if (this.#isClosed) return
    if (!this.#isCorked) {
      this.#isCorked = true
      this.#stream.cork()
      // Behind the promise callbacks of this turn, whose calls belong into the same write.
      setImmediate(() => {
        this.#isCorked = false
        this.#stream.uncork()
      })
    }
    const needsV8 = name !== '' && this.#options.needsV8?.(name) === true
    this.#stream.write(needsV8 ? encodeV8Frame(message) : encodeJsonFrame(message))
  }

  #close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    const open = [...this.#open.values()]
    this.#open.clear()
    for (const call of this.#answering.values()) call.cancel()
    this.#answering.clear()
    for (const { reject } of open) reject(new ChannelClosedError())
    this.#options.onClose()
  }
}

/** Makes its signal when it is asked for: most handlers answer at once. */
class AnsweredCall implements IncomingCall {
  #controller: AbortController | null = null
  #isCancelled = false

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#isCancelled) this.#controller.abort()
    return this.#controller.signal
  }

  cancel(): void {
    this.#isCancelled = true
    this.#controller?.abort()
  }
}

const NEVER_CANCELLED: IncomingCall = { signal: new AbortController().signal }
