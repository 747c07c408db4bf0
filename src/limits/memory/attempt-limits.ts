/**
 * Counted attempts of the last minute, and attempts whose result is open. Attempts at once cannot pass a limit together: one
 * that could be an attempt too many waits for the result of those before it. Memory is bounded.
 */
import type { Clock } from '../../core/clock.ts'
import type {
  AttemptDecision,
  AttemptLimit,
  AttemptLimits,
  AttemptResult,
  LimitedAttempt,
} from '../../core/shared-state.ts'
import { secondsUntil, SlidingWindows } from './sliding-windows.ts'

/** Attempts with an open result under one limit, and the waiters for one of these results. */
interface OpenAttempts {
  count: number
  readonly waiting: (() => void)[]
  /** Waiters that have been woken and not asked again: a place is kept for each, as one that comes meanwhile would take it. */
  wokenCount: number
}

export class MemoryAttemptLimits implements AttemptLimits {
  readonly #clock: Clock
  readonly #counted = new SlidingWindows()
  readonly #openByLimit = new Map<string, OpenAttempts>()
  readonly #limitsByAttempt = new Map<string, readonly AttemptLimit[]>()
  #attemptCount = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Limits under which attempts are remembered. */
  get idCount(): number {
    return this.#counted.size
  }

  async begin({ limits, maxWaiting }: LimitedAttempt): Promise<AttemptDecision> {
    let wokenId: string | null = null
    for (;;) {
      const nowMs = this.#clock.nowMs()
      const retryAfterSeconds = this.#secondsUntilFree(limits, nowMs)
      if (retryAfterSeconds !== null) {
        // Passes its turn on to the next waiter, which is refused as well.
        if (wokenId !== null) this.#wakeOne(wokenId)
        return { outcome: 'refused', retryAfterSeconds }
      }
      const full = limits.find((limit) => this.#isFull(limit, nowMs))
      if (full === undefined) return { outcome: 'begun', attemptId: this.#open(limits) }
      if (wokenId !== null && wokenId !== full.id) this.#wakeOne(wokenId)
      const open = this.#openAttempts(full.id)
      if (open.waiting.length >= maxWaiting) return { outcome: 'queue-full' }
      // Open attempts fill it, and the end of each wakes one waiter.
      await new Promise<void>((resolve) => void open.waiting.push(resolve))
      open.wokenCount--
      wokenId = full.id
    }
  }

  end(attemptId: string, result: AttemptResult): void {
    const limits = this.#limitsByAttempt.get(attemptId) ?? []
    this.#limitsByAttempt.delete(attemptId)
    const nowMs = this.#clock.nowMs()
    for (const { id, counts } of limits) {
      const isCounted = result === 'failed' || (result === 'passed' && counts === 'all')
      if (isCounted) this.#counted.open(id, nowMs).add(nowMs)
      this.#close(id)
    }
  }

  #isFull({ id, maxPerMinute }: AttemptLimit, nowMs: number): boolean {
    const { count = 0, wokenCount = 0 } = this.#openByLimit.get(id) ?? {}
    return (this.#counted.find(id, nowMs)?.used(nowMs) ?? 0) + count + wokenCount >= maxPerMinute
  }

  /** Null when none is used up. Opens no window: an address over its limit could fill the memory with e-mails. */
  #secondsUntilFree(limits: readonly AttemptLimit[], nowMs: number): number | null {
    const freeAtMs = Math.max(
      ...limits.map(({ id, maxPerMinute }) => {
        const window = this.#counted.find(id, nowMs)
        return window === null ? nowMs : window.freeAtMs(maxPerMinute, nowMs)
      }),
    )
    return freeAtMs <= nowMs ? null : secondsUntil(freeAtMs, nowMs)
  }

  #open(limits: readonly AttemptLimit[]): string {
    for (const { id } of limits) this.#openAttempts(id).count++
    const attemptId = String(++this.#attemptCount)
    this.#limitsByAttempt.set(attemptId, limits)
    return attemptId
  }

  #close(id: string): void {
    const open = this.#openByLimit.get(id)
    if (open === undefined) return
    open.count--
    this.#wakeOne(id)
  }

  /** Where none waits, a limit under which nothing is open is forgotten. */
  #wakeOne(id: string): void {
    const open = this.#openByLimit.get(id)
    const wake = open?.waiting.shift()
    if (open === undefined || wake === undefined) {
      if (open?.count === 0 && open.wokenCount === 0) this.#openByLimit.delete(id)
      return
    }
    open.wokenCount++
    wake()
  }

  #openAttempts(id: string): OpenAttempts {
    const open = this.#openByLimit.get(id) ?? { count: 0, waiting: [], wokenCount: 0 }
    this.#openByLimit.set(id, open)
    return open
  }
}
