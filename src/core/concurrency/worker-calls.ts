/**
 * Functions that run in a worker thread: requests out, each answered by its id with a value or with what was thrown. The
 * thread starts with the first call; when it ends, the calls that run fail, and the next one starts another.
 * `answerCalls` is the thread's side.
 */
import { InvariantError, StartError } from '../errors.ts'
import type { CallMessage, ReplyMessage } from './worker-answers.ts'
import { WorkerChannel, type WorkerChannelOptions } from './worker-channel.ts'

export type WorkerCallsOptions = Pick<WorkerChannelOptions<unknown>, 'entry' | 'name' | 'keepsAlive'>

interface Call<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
  readonly onProgress: ((fraction: number) => void) | undefined
}

export class WorkerCalls<Request, Answer> {
  readonly #options: WorkerCallsOptions
  readonly #calls = new Map<number, Call<Answer>>()
  #channel: WorkerChannel<CallMessage<Request>, ReplyMessage<Answer>> | null = null
  #nextId = 0
  #closing: Promise<void> = Promise.resolve()

  constructor(options: WorkerCallsOptions) {
    this.#options = options
  }

  /** @throws what the function throws; InvariantError when the thread ends. */
  call(request: Request, onProgress?: (fraction: number) => void): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++
      this.#calls.set(id, { resolve, reject, onProgress })
      this.#channel ??= this.#open()
      this.#channel.post({ id, request })
    })
  }

  /** Ends the thread; resolves when it is gone. Calls that run fail. */
  async close(): Promise<void> {
    const channel = this.#channel
    this.#fail(null)
    if (channel !== null) this.#closing = channel.close()
    await this.#closing
  }

  #open(): WorkerChannel<CallMessage<Request>, ReplyMessage<Answer>> {
    return new WorkerChannel({
      ...this.#options,
      onMessage: (message) => this.#receive(message),
      onEnd: (cause) => this.#fail(cause),
    })
  }

  #receive(message: ReplyMessage<Answer>): void {
    const call = this.#calls.get(message.id)
    if (message.type === 'progress') return call?.onProgress?.(message.fraction)
    this.#calls.delete(message.id)
    switch (message.type) {
      case 'answer':
        return call?.resolve(message.answer)
      case 'start-error':
        return call?.reject(new StartError(message.message, message.exitCode))
      case 'error':
        return call?.reject(message.error)
    }
  }

  #fail(cause: Error | null): void {
    this.#channel = null
    const error = new InvariantError(`${this.#options.name} ended`, cause === null ? {} : { cause })
    for (const { reject } of this.#calls.values()) reject(error)
    this.#calls.clear()
  }
}
