/**
 * One worker thread and the messages to and from it. Reports once why the thread exited unexpectedly; the owner decides
 * what happens to its work and whether to restart it.
 */
import { Worker, type Transferable } from 'node:worker_threads'
import { requireOwnFile } from '../own-file.ts'

export interface WorkerChannelOptions<Received> {
  readonly entry: URL
  /** The thread, in the error that says why it ended: `The thread that …`. */
  readonly name: string
  readonly workerData?: unknown
  /** Whether the process stays alive for it. @default true */
  readonly keepsAlive?: boolean
  readonly onMessage: (message: Received) => void
  /** Called when the thread has exited without `close`. */
  readonly onEnd: (cause: Error) => void
}

/**
 * The program of a thread, which stands beside the module at `ownUrl` and is the same kind of file: built JavaScript,
 * or the source where Node strips types.
 */
export function workerEntry(ownUrl: string, name: string): URL {
  return new URL(`${name}${ownUrl.endsWith('.ts') ? '.ts' : '.js'}`, ownUrl)
}

export class WorkerChannel<Sent, Received> {
  readonly #worker: Worker
  #isClosing = false
  #cause: Error | null = null

  /** @throws StartError where the program is missing */
  constructor(options: WorkerChannelOptions<Received>) {
    const { entry, name, workerData, keepsAlive = true, onMessage, onEnd } = options
    requireOwnFile(entry)
    // Not the flags that the application was started with: some of them are refused in a thread.
    this.#worker = new Worker(entry, { workerData, execArgv: [] })
    if (!keepsAlive) this.#worker.unref()
    this.#worker.on('message', onMessage)
    this.#worker.on('error', (error: unknown) => {
      this.#cause = error instanceof Error ? error : new Error(String(error))
    })
    this.#worker.on('messageerror', (error) => {
      this.#cause = error
      void this.#worker.terminate()
    })
    this.#worker.on('exit', (code) => {
      if (!this.#isClosing) onEnd(this.#cause ?? new Error(`${name} ended with exit code ${code}.`))
    })
  }

  post(message: Sent, transfer: readonly Transferable[] = []): void {
    this.#worker.postMessage(message, transfer)
  }

  /** Terminates the thread at once. */
  async close(): Promise<void> {
    this.#isClosing = true
    await this.#worker.terminate()
  }
}
