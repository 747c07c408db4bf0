/**
 * Remote calls to a worker thread: each request is answered by its id with a value or an error. The thread starts with
 * the first call; when it exits, pending calls fail, and the next call starts another thread.
 * `answerCalls` is the thread's side.
 */
import { parentPort, type Transferable } from 'node:worker_threads'
import { InvariantError, StartError } from '../errors.ts'
import { WorkerChannel, type WorkerChannelOptions } from './worker-channel.ts'

interface CallMessage<Request> {
  readonly id: number
  readonly request: Request
}

/** The last reply to a call is of another type than `progress`. */
type ReplyMessage<Answer> = { readonly id: number } & (
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'answer'; readonly answer: Answer }
  | { readonly type: 'start-error'; readonly message: string; readonly exitCode: StartError['exitCode'] }
  | { readonly type: 'error'; readonly error: unknown }
)

export type WorkerCallsOptions = Pick<
  WorkerChannelOptions<unknown>,
  'entry' | 'name' | 'keepsAlive' | 'workerData'
>

interface Call<Answer> {
  readonly resolve: (answer: Answer) => void
  readonly reject: (error: unknown) => void
  readonly onProgress: ((fraction: number) => void) | undefined
}

interface CallOptions {
  readonly onProgress?: ((fraction: number) => void) | undefined
  /** The parts of the request that are transferred, not copied. */
  readonly transfer?: readonly Transferable[]
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
  call(request: Request, { onProgress, transfer }: CallOptions = {}): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++
      this.#calls.set(id, { resolve, reject, onProgress })
      this.#channel ??= this.#open()
      this.#channel.post({ id, request }, transfer)
    })
  }

  /** Terminates the thread; resolves when it has exited. Pending calls fail. */
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

type Callable = (request: never, onProgress: (fraction: number) => void) => unknown

/**
 * The thread's side: answers each request, in any order, with a value or with the error that was thrown.
 * @param transfer the parts of an answer that are transferred, not copied
 */
export function answerCalls<Called extends Callable>(
  answer: Called,
  transfer: (answer: Awaited<ReturnType<Called>>) => readonly Transferable[] = () => [],
): void {
  const port = parentPort
  if (port === null) throw new InvariantError('This is the program of a worker thread.')
  const reply = (message: ReplyMessage<unknown>, handedOver: readonly Transferable[] = []): void =>
    port.postMessage(message, handedOver)
  const run = async ({ id, request }: CallMessage<never>): Promise<void> => {
    try {
      const onProgress = (fraction: number): void => reply({ id, type: 'progress', fraction })
      const result = (await answer(request, onProgress)) as Awaited<ReturnType<Called>>
      reply({ id, type: 'answer', answer: result }, transfer(result))
    } catch (error) {
      // A structured clone keeps no classes, so only the error's name is sent.
      reply(
        error instanceof StartError
          ? { id, type: 'start-error', message: error.message, exitCode: error.exitCode }
          : { id, type: 'error', error },
      )
    }
  }
  port.on('message', (message: CallMessage<never>) => void run(message))
}
