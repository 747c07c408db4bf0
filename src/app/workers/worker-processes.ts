/**
 * The worker processes of a service: so many at a time, one started again when it dies, all replaced one by one when the operator
 * asks for it.
 *
 *   starting ──listens──▶ serving ──dies──▶ starting (at once, then with growing pauses)
 *                            └──replace()──▶ the next one serves; this one leaves: no new connection, ends with its last one
 */
import type { SleepingClock } from '../../core/clock.ts'
import { Mutex } from '../../core/concurrency/semaphore.ts'
import { Supervisor } from '../../core/concurrency/supervisor.ts'
import { InvariantError } from '../../core/errors.ts'
import type { Log } from '../../telemetry/log.ts'
import type { WorkerProcess } from './worker-process.ts'

/** For what a worker does between its last answer and its end. */
const EXIT_MS = 10_000

export interface WorkerProcessesOptions {
  readonly count: number
  readonly startWorker: (number: number) => Promise<WorkerProcess>
  readonly clock: SleepingClock
  readonly log: Log
}

/** The place of one worker. */
interface Slot {
  readonly number: number
  readonly supervisor: Supervisor
  current: WorkerProcess | null
}

export class WorkerProcesses {
  readonly #options: WorkerProcessesOptions
  readonly #slots: readonly Slot[]
  /** Those that were replaced and serve their last connections. */
  readonly #leaving = new Set<WorkerProcess>()
  readonly #replacing = new Mutex()
  #isClosing = false

  constructor(options: WorkerProcessesOptions) {
    this.#options = options
    this.#slots = Array.from({ length: options.count }, (_, index) => this.#createSlot(index + 1))
  }

  /** Those that run, the leaving ones included. */
  get workers(): readonly WorkerProcess[] {
    return [...this.#slots.flatMap(({ current }) => current ?? []), ...this.#leaving]
  }

  /** Gives the address at which all of them listen. @throws what the start of a worker throws; none runs then */
  async open(): Promise<string> {
    const starts = this.#slots.map((slot) => this.#start(slot))
    try {
      const [address] = await Promise.all(starts)
      if (address === undefined) throw new InvariantError('there is at least one worker')
      return address
    } catch (error) {
      this.#isClosing = true
      await Promise.allSettled(starts)
      for (const worker of this.workers) worker.kill()
      throw error
    }
  }

  /** Replaces all of them, one after the other. One that cannot be started ends it: the others stay. */
  async replaceAll(): Promise<void> {
    await this.#replacing.run(async () => {
      const { log } = this.#options
      for (const slot of this.#slots) {
        const before = slot.current
        // Being started again anyway.
        if (before === null) continue
        if (this.#isClosing) return
        try {
          await this.#start(slot)
        } catch (error) {
          log.error(
            { worker: slot.number, err: error },
            'a worker could not be replaced; those from before stay',
          )
          return
        }
        void this.#leave(before)
      }
      log.info({ count: this.#slots.length }, 'the workers were replaced')
    })
  }

  /** Each finishes its running requests, for up to `timeoutMs`, and ends. */
  async close(timeoutMs: number): Promise<void> {
    this.#isClosing = true
    const supervisors = this.#slots.map(({ supervisor }) => supervisor.close())
    await Promise.all(this.workers.map((worker) => this.#end(worker, timeoutMs + EXIT_MS)))
    await Promise.all(supervisors)
    // Started while this was under way.
    for (const worker of this.workers) worker.kill()
  }

  #createSlot(number: number): Slot {
    const { clock, log } = this.#options
    const slot: Slot = {
      number,
      current: null,
      supervisor: new Supervisor({
        clock,
        start: async () => {
          const address = await this.#start(slot)
          log.info({ worker: number, pid: slot.current?.pid, address }, 'the worker was started again')
        },
        onFailedStart: (error) =>
          log.error({ worker: number, err: error }, 'the worker could not be started'),
      }),
    }
    return slot
  }

  async #start(slot: Slot): Promise<string> {
    const worker = await this.#options.startWorker(slot.number)
    slot.current = worker
    void worker.exited.then((how) => this.#recordEnd(slot, worker, how))
    return worker.address
  }

  #recordEnd(slot: Slot, worker: WorkerProcess, how: string): void {
    this.#leaving.delete(worker)
    if (slot.current !== worker) return
    slot.current = null
    if (this.#isClosing) return
    this.#options.log.error({ worker: slot.number }, `the worker ${how}`)
    slot.supervisor.restart()
  }

  async #leave(worker: WorkerProcess): Promise<void> {
    this.#leaving.add(worker)
    // Until its last stream has ended, which is bounded by what a request may generate.
    await worker.channel.call('leave', []).catch(() => {})
    await this.#end(worker, EXIT_MS)
  }

  /** Kills it when it has not ended by then. */
  async #end(worker: WorkerProcess, timeoutMs: number): Promise<void> {
    const timer = setTimeout(() => worker.kill(), timeoutMs)
    // One that dies meanwhile has ended.
    await worker.channel.call('close', []).catch(() => {})
    worker.channel.end()
    await worker.exited
    clearTimeout(timer)
  }
}
