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
import type { Log } from '../../telemetry/log.ts'
import type { ConnectionDealer } from './connections/connection-dealer.ts'
import type { WorkerProcess } from './worker-process.ts'

/** For what a worker does between its last answer and its end. */
const EXIT_MS = 10_000
/** A worker is asked so often whether its event loop turns, which it does many times a second on the busiest machine. */
const PING_PAUSE_MS = 1000
/** So many of them without an answer, and it hangs. */
const HUNG_PAUSES = 10

export interface WorkerProcessesOptions {
  readonly count: number
  readonly startWorker: (number: number) => Promise<WorkerProcess>
  readonly dealer: Pick<ConnectionDealer, 'add' | 'remove'>
  /** Called before one that was replaced ends. */
  readonly onLeaving: (worker: WorkerProcess) => Promise<unknown>
  readonly onEnd: (worker: WorkerProcess) => void
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
  readonly #running = new Set<WorkerProcess>()
  #isClosing = false

  constructor(options: WorkerProcessesOptions) {
    this.#options = options
    this.#slots = Array.from({ length: options.count }, (_, index) => this.#createSlot(index + 1))
  }

  /** Those that run, the leaving ones included. */
  get workers(): readonly WorkerProcess[] {
    return [...this.#slots.flatMap(({ current }) => current ?? []), ...this.#leaving]
  }

  /** @throws what the start of a worker throws; none runs then */
  async open(): Promise<void> {
    const starts = this.#slots.map((slot) => this.#start(slot))
    try {
      await Promise.all(starts)
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
        // One that has ended meanwhile was replaced by this start too.
        if (this.#running.has(before)) void this.#leave(before)
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
    // What was started while this was under way is ended by its start.
    await this.#replacing.run(async () => {})
  }

  #createSlot(number: number): Slot {
    const { clock, log } = this.#options
    const slot: Slot = {
      number,
      current: null,
      supervisor: new Supervisor({
        clock,
        start: async () => {
          await this.#start(slot)
          log.info({ worker: number, pid: slot.current?.pid }, 'the worker was started again')
        },
        onFailedStart: (error) =>
          log.error({ worker: number, err: error }, 'the worker could not be started'),
      }),
    }
    return slot
  }

  async #start(slot: Slot): Promise<void> {
    const before = slot.current
    const worker = await this.#options.startWorker(slot.number)
    // Another start was quicker: of a worker that died while it was being replaced.
    if (this.#isClosing || (slot.current !== null && slot.current !== before)) return worker.kill()
    slot.current = worker
    this.#running.add(worker)
    this.#options.dealer.add(worker)
    const ended = new AbortController()
    const recordEnd = (how: string): void => {
      ended.abort()
      this.#recordEnd(slot, worker, how)
    }
    void worker.exited.then(recordEnd)
    void this.#watch(worker, ended.signal)
  }

  /** Ends one whose event loop stands still. */
  async #watch(worker: WorkerProcess, ended: AbortSignal): Promise<void> {
    const { clock, log } = this.#options
    while (!ended.aborted) {
      let isAnswered = false
      const answered = (): void => void (isAnswered = true)
      worker.channel.call('ping', []).then(answered, answered)
      // One pause at a time: a supervisor that has stood still itself reads the answer before it counts the next pause.
      for (let pauses = 0; pauses < (isAnswered ? 1 : HUNG_PAUSES); pauses++)
        await clock.sleep(PING_PAUSE_MS, ended).catch(() => {})
      if (isAnswered || ended.aborted) continue
      log.error({ worker: worker.number, pid: worker.pid }, 'the worker does not answer, and is ended')
      return worker.kill()
    }
  }

  #recordEnd(slot: Slot, worker: WorkerProcess, how: string): void {
    this.#leaving.delete(worker)
    this.#running.delete(worker)
    this.#options.onEnd(worker)
    if (slot.current !== worker) return
    slot.current = null
    if (this.#isClosing) return
    this.#options.log.error({ worker: slot.number }, `the worker ${how}`)
    slot.supervisor.restart()
  }

  async #leave(worker: WorkerProcess): Promise<void> {
    this.#leaving.add(worker)
    this.#options.dealer.remove(worker)
    // Until its last stream has ended, which is bounded by what a request may generate.
    await worker.channel.call('leave', []).catch(() => {})
    await this.#options.onLeaving(worker).catch(() => {})
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
