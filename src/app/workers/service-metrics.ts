/**
 * `GET /metrics` of a service with several workers, the same at each: sums over its processes, and what they share once.
 * Invariant: a counter never falls below what it was in an earlier answer, whichever worker has ended since.
 */
import { type Metrics, type MetricValues, countsOf, renderSum, sumOf } from '../../telemetry/metrics.ts'
import type { WorkerProcess } from './worker-process.ts'

/** Ended workers whose counts are kept apart; more are added up. */
const MAX_ENDED = 8

type MeteredWorker = Pick<WorkerProcess, 'channel'>

export class ServiceMetrics {
  readonly #supervisor: Pick<Metrics, 'values'>
  /** As they were last read. */
  readonly #last = new WeakMap<MeteredWorker, MetricValues>()
  /** The counts of workers that have ended. */
  #ended: readonly MetricValues[] = []
  /** These workers. */
  readonly #gone = new WeakSet<MeteredWorker>()

  constructor(supervisor: Pick<Metrics, 'values'>) {
    this.#supervisor = supervisor
  }

  async render(workers: readonly MeteredWorker[]): Promise<string> {
    const own = await this.#supervisor.values()
    // One that dies at this moment, or starts, has nothing to add.
    const read = await Promise.all(workers.map((worker) => this.read(worker).catch(() => [])))
    await this.#addUpEnded()
    // One that has ended since it was read is among those already.
    const theirs = read.filter((_, index) => !this.#gone.has(workers[index] as MeteredWorker))
    return await renderSum([own, ...this.#ended, ...theirs])
  }

  async #addUpEnded(): Promise<void> {
    const ended = this.#ended
    if (ended.length <= MAX_ENDED) return
    const sum = await sumOf(ended)
    // Another answer may have added up the same ones meanwhile.
    if (this.#ended[0] === ended[0]) this.#ended = [sum, ...this.#ended.slice(ended.length)]
  }

  /** Reads what one has counted, so that it is not lost with it. @throws ChannelClosedError */
  async read(worker: MeteredWorker): Promise<MetricValues> {
    const values = (await worker.channel.call<MetricValues | undefined>('metrics.values', [])) ?? []
    this.#last.set(worker, values)
    return values
  }

  end(worker: MeteredWorker): void {
    const last = this.#last.get(worker)
    this.#last.delete(worker)
    this.#gone.add(worker)
    if (last !== undefined) this.#ended = [...this.#ended, countsOf(last)]
  }
}
