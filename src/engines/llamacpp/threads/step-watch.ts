/**
 * Breaks off a native call that takes too long. The event loop stands still meanwhile, so a thread of its own keeps the time
 * (`step-watch-worker.ts`); both share a few words of memory, and llama.cpp's compute threads look at the first of them after
 * every operation. The thread starts with the first call that is watched, and wakes once in the time that a call may take.
 */
import { WorkerChannel, workerEntry } from '../../../core/concurrency/worker-channel.ts'
import { createWatchWords, pauseWatch, resumeWatch } from './watch-words.ts'

export class StepWatch {
  /** What the callback of the context reads: a C string that is empty until the call is to end. */
  readonly flag: Uint8Array
  readonly #words = createWatchWords()
  #thread: WorkerChannel<never, never> | null = null

  constructor() {
    this.flag = new Uint8Array(this.#words.buffer)
  }

  /** Runs `body`, and after `patienceMs` tells it to end. */
  run<Result>(patienceMs: number, body: () => Result): Result {
    this.#thread ??= this.#open()
    resumeWatch(this.#words, patienceMs)
    try {
      return body()
    } finally {
      pauseWatch(this.#words)
    }
  }

  close(): void {
    void this.#thread?.close()
  }

  #open(): WorkerChannel<never, never> {
    return new WorkerChannel({
      entry: workerEntry(import.meta.url, 'step-watch-worker'),
      name: 'The thread that watches steps',
      workerData: this.#words,
      keepsAlive: false,
      onMessage: () => {},
      // Without it no step is broken off, which is no fault.
      onEnd: () => {},
    })
  }
}
