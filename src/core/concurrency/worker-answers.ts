/** A worker thread's side of `WorkerCalls`: answers each request, in any order, with a value or with what was thrown. */
import { parentPort, type Transferable } from 'node:worker_threads'
import { InvariantError, StartError } from '../errors.ts'

export interface CallMessage<Request> {
  readonly id: number
  readonly request: Request
}

/** One of the others than `progress` comes last. */
export type ReplyMessage<Answer> = { readonly id: number } & (
  | { readonly type: 'progress'; readonly fraction: number }
  | { readonly type: 'answer'; readonly answer: Answer }
  | { readonly type: 'start-error'; readonly message: string; readonly exitCode: StartError['exitCode'] }
  | { readonly type: 'error'; readonly error: unknown }
)

type Callable = (request: never, onProgress: (fraction: number) => void) => unknown

/** @param transfer what of an answer is handed over, not copied */
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
      // Of classes only the name survives the way to the other thread.
      reply(
        error instanceof StartError
          ? { id, type: 'start-error', message: error.message, exitCode: error.exitCode }
          : { id, type: 'error', error },
      )
    }
  }
  port.on('message', (message: CallMessage<never>) => void run(message))
}
