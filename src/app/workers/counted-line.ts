/**
 * A worker's part of a line: passes everything on and keeps count of what the worker has in it, so that all of it leaves when the
 * worker dies. Invariant: what is counted here is a part of what the line counts.
 */
import type { SequenceLine } from '../../models/queue/engine-queue.ts'
import type { QueuedRequest } from '../../models/queue/queue-line.ts'

/** Sequences of one place and one size. */
interface Count {
  readonly request: QueuedRequest
  waiting: number
  running: number
}

export class CountedLine implements SequenceLine {
  readonly #line: SequenceLine
  readonly #counts = new Map<string, Count>()

  constructor(line: SequenceLine) {
    this.#line = line
  }

  enter(count: number, request: QueuedRequest): void {
    // The owner of the counts answers at once, or throws.
    void this.#line.enter(count, request)
    this.#countOf(request).waiting += count
  }

  begin(request: QueuedRequest): void {
    const count = this.#countOf(request)
    count.waiting--
    count.running++
    this.#line.begin(request)
  }

  leave(count: number, request: QueuedRequest): void {
    this.#countOf(request).waiting -= count
    this.#line.leave(count, request)
    this.#forgetEmpty(request)
  }

  end(count: number, request: QueuedRequest): void {
    this.#countOf(request).running -= count
    this.#line.end(count, request)
    this.#forgetEmpty(request)
  }

  /** Takes out all that is in it. */
  clear(): void {
    for (const { request, waiting, running } of this.#counts.values()) {
      this.#line.leave(waiting, request)
      this.#line.end(running, request)
    }
    this.#counts.clear()
  }

  #countOf(request: QueuedRequest): Count {
    const key = keyOf(request)
    const count = this.#counts.get(key) ?? { request, waiting: 0, running: 0 }
    this.#counts.set(key, count)
    return count
  }

  #forgetEmpty(request: QueuedRequest): void {
    const key = keyOf(request)
    const count = this.#counts.get(key)
    if (count !== undefined && count.waiting === 0 && count.running === 0) this.#counts.delete(key)
  }
}

/** What the lines distinguish. */
function keyOf({ place: { priorityClass, accountId }, size = 1 }: QueuedRequest): string {
  return `${priorityClass} ${size} ${accountId}`
}
