/**
 * Failed logins of the last minute, and attempts whose result is open. Attempts at once cannot pass a limit together: one
 * that could be a failure too many waits for the result of those before it. Memory is bounded.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../../core/clock.ts'
import type { FailedLogins, LoginAttempt, LoginDecision } from '../../core/shared-state.ts'
import { secondsUntil, SlidingWindows } from './sliding-windows.ts'

/** One of the two limits that an attempt is under. */
interface Limit {
  readonly id: string
  readonly failures: SlidingWindows
  readonly max: number
}

/** Attempts with an open result under one limit, and the waiters for one of these results. */
interface OpenAttempts {
  count: number
  readonly waiting: (() => void)[]
}

export class MemoryFailedLogins implements FailedLogins {
  readonly #clock: Clock
  readonly #byEmail = new SlidingWindows()
  readonly #byAddress = new SlidingWindows()
  readonly #openByLimit = new Map<string, OpenAttempts>()
  readonly #limitsByAttempt = new Map<string, readonly Limit[]>()
  #attemptCount = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Addresses, and e-mails from them, whose failures are remembered. */
  get idCount(): number {
    return this.#byEmail.size + this.#byAddress.size
  }

  async begin(attempt: LoginAttempt): Promise<LoginDecision> {
    const limits = this.#limitsOf(attempt)
    let wokenId: string | null = null
    for (;;) {
      const nowMs = this.#clock.nowMs()
      const retryAfterSeconds = secondsUntilFree(limits, nowMs)
      if (retryAfterSeconds !== null) {
        // Passes its turn on to the next waiter, which is refused as well.
        if (wokenId !== null) this.#wakeOne(wokenId)
        return { outcome: 'refused', retryAfterSeconds }
      }
      const full = limits.find((limit) => this.#isFull(limit, nowMs))
      if (full === undefined) return { outcome: 'begun', attemptId: this.#open(limits) }
      if (wokenId !== null && wokenId !== full.id) this.#wakeOne(wokenId)
      const { waiting } = this.#openAttempts(full.id)
      if (waiting.length >= attempt.maxWaiting) return { outcome: 'queue-full' }
      // Open attempts fill it, and the end of each wakes one waiter.
      await new Promise<void>((resolve) => void waiting.push(resolve))
      wokenId = full.id
    }
  }

  end(attemptId: string, result: 'passed' | 'failed' | 'unknown'): void {
    const limits = this.#limitsByAttempt.get(attemptId) ?? []
    this.#limitsByAttempt.delete(attemptId)
    const nowMs = this.#clock.nowMs()
    for (const { id, failures } of limits) {
      if (result === 'failed') failures.open(id, nowMs).add(nowMs)
      this.#close(id)
    }
  }

  #limitsOf({ emailKey, addressKey, maxPerEmail, maxPerAddress }: LoginAttempt): readonly Limit[] {
    return [
      { id: hashPair(emailKey, addressKey), failures: this.#byEmail, max: maxPerEmail },
      { id: addressKey, failures: this.#byAddress, max: maxPerAddress },
    ]
  }

  #isFull({ id, failures, max }: Limit, nowMs: number): boolean {
    const openCount = this.#openByLimit.get(id)?.count ?? 0
    return (failures.find(id, nowMs)?.used(nowMs) ?? 0) + openCount >= max
  }

  #open(limits: readonly Limit[]): string {
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
    if (open.count === 0 && open.waiting.length === 0) this.#openByLimit.delete(id)
  }

  #wakeOne(id: string): void {
    this.#openByLimit.get(id)?.waiting.shift()?.()
  }

  #openAttempts(id: string): OpenAttempts {
    const open = this.#openByLimit.get(id) ?? { count: 0, waiting: [] }
    this.#openByLimit.set(id, open)
    return open
  }
}

/** Null when none is used up. Opens no window: an address over its limit could fill the memory with e-mails. */
function secondsUntilFree(limits: readonly Limit[], nowMs: number): number | null {
  const freeAtMs = Math.max(
    ...limits.map(({ id, failures, max }) => failures.find(id, nowMs)?.freeAtMs(max, nowMs) ?? nowMs),
  )
  return freeAtMs <= nowMs ? null : secondsUntil(freeAtMs, nowMs)
}

/** One short id however long the e-mail is, and no e-mail stays in memory. */
function hashPair(emailKey: string, addressKey: string): string {
  return createHash('sha256').update(`${addressKey}\0${emailKey}`, 'utf8').digest('base64')
}
