/**
 * Ends the guessing of passwords: at most 10 failed logins a minute for one e-mail from one address, and 100 from one
 * address. Only failures count. Attempts at once cannot pass together: one that might turn out to be the eleventh
 * failure waits until it is known what became of those before it. Memory is bounded.
 */
import { createHash } from 'node:crypto'
import type { Clock } from '../core/clock.ts'
import { ServiceError } from '../core/errors.ts'
import { secondsUntil } from './sliding-window.ts'
import { SlidingWindows } from './sliding-windows.ts'

const MAX_FAILURES_PER_EMAIL = 10
const MAX_FAILURES_PER_ADDRESS = 100

/** As many as wait for a password to be checked. */
const MAX_WAITING = 128
const BUSY_RETRY_SECONDS = 1

export interface LoginSubject {
  /** In the form in which e-mails are compared, of an account that exists or not. */
  readonly emailKey: string
  readonly addressKey: string
}

/** One of the two limits that an attempt is under. */
interface Count {
  readonly id: string
  readonly failures: SlidingWindows
  readonly max: number
}

/** Attempts under one limit of which it is not known yet whether they fail, and who waits to be told. */
interface OpenAttempts {
  count: number
  readonly waiting: (() => void)[]
}

export class FailedLoginThrottle {
  readonly #clock: Clock
  readonly #byEmail = new SlidingWindows()
  readonly #byAddress = new SlidingWindows()
  readonly #open = new Map<string, OpenAttempts>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Addresses, and e-mails from them, of which failures are remembered. */
  get idCount(): number {
    return this.#byEmail.size + this.#byAddress.size
  }

  /**
   * Runs `check`, which says whether the password is right, and counts a failure when it is not. An error says nothing
   * of the password and counts as none.
   * @throws ServiceError `too_many_logins`, or what `check` throws.
   */
  async attempt(subject: LoginSubject, check: () => Promise<boolean>): Promise<boolean> {
    const counts = this.#countsOf(subject)
    await this.#begin(counts)
    try {
      const isRight = await check()
      if (!isRight) this.#recordFailure(counts)
      return isRight
    } finally {
      for (const { id } of counts) this.#endOne(id)
    }
  }

  #countsOf({ emailKey, addressKey }: LoginSubject): readonly Count[] {
    return [
      { id: hashPair(emailKey, addressKey), failures: this.#byEmail, max: MAX_FAILURES_PER_EMAIL },
      { id: addressKey, failures: this.#byAddress, max: MAX_FAILURES_PER_ADDRESS },
    ]
  }

  async #begin(counts: readonly Count[]): Promise<void> {
    let wokenId: string | null = null
    for (;;) {
      const nowMs = this.#clock.nowMs()
      try {
        refuseAfterFailures(counts, nowMs)
      } catch (error) {
        // The place that was free for this one is free for the next, who is then refused in turn.
        if (wokenId !== null) this.#wakeOne(wokenId)
        throw error
      }
      const full = counts.find(({ id, failures, max }) => {
        const openCount = this.#open.get(id)?.count ?? 0
        return (failures.find(id, nowMs)?.used(nowMs) ?? 0) + openCount >= max
      })
      if (full === undefined) break
      if (wokenId !== null && wokenId !== full.id) this.#wakeOne(wokenId)
      await this.#wait(full.id)
      wokenId = full.id
    }
    for (const { id } of counts) this.#openOne(id)
  }

  #openOne(id: string): void {
    this.#openAttempts(id).count++
  }

  #endOne(id: string): void {
    const open = this.#open.get(id)
    if (open === undefined) return
    open.count--
    this.#wakeOne(id)
    if (open.count === 0 && open.waiting.length === 0) this.#open.delete(id)
  }

  /** It is full only with open attempts, so one of them will end and say so. */
  #wait(id: string): Promise<void> {
    const { waiting } = this.#openAttempts(id)
    if (waiting.length >= MAX_WAITING) {
      const params = { max: MAX_WAITING, seconds: BUSY_RETRY_SECONDS }
      throw new ServiceError('password_queue_full', params, { retryAfterSeconds: BUSY_RETRY_SECONDS })
    }
    return new Promise((resolve) => void waiting.push(resolve))
  }

  #wakeOne(id: string): void {
    this.#open.get(id)?.waiting.shift()?.()
  }

  #openAttempts(id: string): OpenAttempts {
    const open = this.#open.get(id) ?? { count: 0, waiting: [] }
    this.#open.set(id, open)
    return open
  }

  #recordFailure(counts: readonly Count[]): void {
    const nowMs = this.#clock.nowMs()
    for (const { id, failures } of counts) failures.open(id, nowMs).take(nowMs)
  }
}

/** A refused attempt is not counted, and begins no window: an address over its limit could fill the memory with e-mails. */
function refuseAfterFailures(counts: readonly Count[], nowMs: number): void {
  const freeAtMs = Math.max(
    ...counts.map(({ id, failures, max }) => failures.find(id, nowMs)?.freeAtMs(max, nowMs) ?? nowMs),
  )
  if (freeAtMs <= nowMs) return
  const seconds = secondsUntil(freeAtMs, nowMs)
  const params = { maxPerEmail: MAX_FAILURES_PER_EMAIL, maxPerAddress: MAX_FAILURES_PER_ADDRESS, seconds }
  throw new ServiceError('too_many_logins', params, { retryAfterSeconds: seconds })
}

/** One short id, however long the e-mail is that somebody sends; and no e-mail stays in memory. */
function hashPair(emailKey: string, addressKey: string): string {
  return createHash('sha256').update(`${addressKey}\0${emailKey}`, 'utf8').digest('base64')
}
