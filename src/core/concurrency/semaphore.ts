/**
 * A bounded number of permits, granted in order of arrival. A released permit goes directly to the first waiter, so
 * that no later caller overtakes it.
 * Invariant: a caller waits only while every permit is held.
 */
import { abortReason } from './abort.ts'

export interface SemaphoreOptions {
  readonly permits: number
  /** Waiters beyond which the next caller is refused. @default no bound */
  readonly maxWaiting?: number
  /** The error of a refusal. */
  readonly refusal?: () => Error
}

/** The holder disposes it; disposing again has no effect. */
export type Permit = Disposable

export class Semaphore {
  readonly #options: SemaphoreOptions
  /** Called with their permits, in order of arrival. */
  readonly #waiters = new Set<(permit: Permit) => void>()
  /** Called at the next release. */
  readonly #toldOfRelease = new Set<() => void>()
  #held = 0

  constructor(options: SemaphoreOptions) {
    this.#options = options
  }

  /** Whether no permit is held. */
  get isIdle(): boolean {
    return this.#held === 0
  }

  /** @throws what `refusal` gives when too many wait; the signal's reason when it aborts before there is a permit. */
  async acquire(signal?: AbortSignal): Promise<Permit> {
    signal?.throwIfAborted()
    const { permits, maxWaiting = Number.POSITIVE_INFINITY, refusal } = this.#options
    if (this.#held < permits) {
      this.#held++
      return this.#createPermit()
    }
    if (this.#waiters.size >= maxWaiting) throw refusal?.() ?? new RangeError('Too many wait for a permit.')
    return await this.#wait(signal)
  }

  /** Runs `work` with a permit. @throws as `acquire`, or what the work throws. */
  async run<Result>(work: () => Promise<Result>, signal?: AbortSignal): Promise<Result> {
    const permit = await this.acquire(signal)
    try {
      return await work()
    } finally {
      permit[Symbol.dispose]()
    }
  }

  /**
   * Resolves when the next permit is released, or at once when none is held. Who has left is forgotten at once, however long the
   * permit is held.
   * @throws the signal's reason when it aborts before
   */
  async nextRelease(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted()
    if (this.isIdle) return
    await new Promise<void>((resolve, reject) => {
      const tell = (): void => {
        signal?.removeEventListener('abort', leave)
        resolve()
      }
      const leave = (): void => {
        this.#toldOfRelease.delete(tell)
        if (signal !== undefined) reject(abortReason(signal))
      }
      this.#toldOfRelease.add(tell)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  /** Resolves when no permit is held and no caller waits for one. */
  async whenIdle(): Promise<void> {
    while (!this.isIdle) await this.nextRelease()
  }

  #wait(signal: AbortSignal | undefined): Promise<Permit> {
    return new Promise((resolve, reject) => {
      const grant = (permit: Permit): void => {
        signal?.removeEventListener('abort', leave)
        resolve(permit)
      }
      const leave = (): void => {
        this.#waiters.delete(grant)
        if (signal !== undefined) reject(abortReason(signal))
      }
      this.#waiters.add(grant)
      signal?.addEventListener('abort', leave, { once: true })
    })
  }

  #createPermit(): Permit {
    let isHeld = true
    return {
      [Symbol.dispose]: () => {
        if (isHeld) this.#release()
        isHeld = false
      },
    }
  }

  #release(): void {
    const [next] = this.#waiters
    if (next === undefined) this.#held--
    else {
      this.#waiters.delete(next)
      next(this.#createPermit())
    }
    const told = [...this.#toldOfRelease]
    this.#toldOfRelease.clear()
    for (const tell of told) tell()
  }
}

/** One holder at a time; any number may wait. */
export class Mutex extends Semaphore {
  constructor() {
    super({ permits: 1 })
  }
}
