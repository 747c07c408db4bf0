/**
 * The bound on waiting, `--max-queue`, and its one owner: sequences of all models and replicas together that have nothing to
 * run in. Each model has a line for its slots and one for its beams; the registry has one for requests that wait for a first
 * load. The engines behind it queue whatever comes. Pure bookkeeping.
 * Invariant: what waits is the sum over the lines.
 */
import { OPERATOR_ACCOUNT_ID } from '../../core/credential.ts'
import { ServiceError } from '../../core/errors.ts'
import type { QueuePlace } from '../../protocol/engine.ts'

/** Part of the queue that is kept for each tier above, where it has callers. */
const RESERVE_PER_TIER = 1 / 4
const RETRY_AFTER_SECONDS = 1

export interface QueueLimitOptions {
  /** Sequences that may wait. */
  readonly max: number
  /** Priority classes that have callers now. @default none known */
  readonly servedClasses?: () => readonly number[]
}

/** Sequences that ask to wait together. */
export interface QueueDemand {
  readonly place: QueuePlace
  readonly given: number
  /** Those of them that find no free slot or seat. */
  readonly more: number
}

/** Of one account or one tier. */
interface QueueCount {
  /** Sequences that have entered and not begun. */
  queued: number
  /** Those of them that found nothing free when they came; they wait until they begin. */
  waiting: number
}

export class QueueLimit {
  readonly #max: number
  readonly #servedClasses: () => readonly number[]
  #waiting = 0
  readonly #byClass = new Map<number, QueueCount>()
  readonly #byAccount = new Map<string, QueueCount>()

  constructor({ max, servedClasses = () => [] }: QueueLimitOptions) {
    this.#max = max
    this.#servedClasses = servedClasses
  }

  get servedClasses(): readonly number[] {
    return this.#servedClasses()
  }

  waitingOf(priorityClass: number): number {
    return this.#byClass.get(priorityClass)?.waiting ?? 0
  }

  /**
   * Counts sequences in. A block is taken, however large, when nothing waits.
   * @throws ServiceError `queue_full`, `queue_share_full`; nothing is counted then.
   */
  admit(demand: QueueDemand): void {
    const { place, given, more } = demand
    const isBlockOnEmptyQueue = given > 1 && this.#waiting === 0
    if (more > 0 && !isBlockOnEmptyQueue) this.#check(demand)
    this.#waiting += more
    enter(this.#byClass, place.priorityClass, demand)
    enter(this.#byAccount, place.accountId, demand)
  }

  /** Sequences have begun or left. */
  release({ priorityClass, accountId }: QueuePlace, count: number): void {
    leave(this.#byClass, priorityClass, count)
    leave(this.#byAccount, accountId, count)
  }

  /** What waits has changed, because sequences have begun, left or ended. */
  change(waiting: number): void {
    this.#waiting += waiting
  }

  #check({ place, given, more }: QueueDemand): void {
    const { accountId, priorityClass } = place
    const below = this.#classes().filter((other) => other < priorityClass)
    // A block that was taken whole may exceed the room of its tier; that is no fault of the tiers above.
    const excess = Math.max(0, this.#waitingUpTo(below.at(-1)) - this.#roomOf(below.at(-1)))
    const waiting = this.#waiting - excess
    let left = this.#max - waiting
    if (more > left) throw refusal('queue_full', { waiting, max: this.#max, given })
    for (const other of this.#classes()) {
      const room = this.#roomOf(other)
      if (other < priorityClass || room >= this.#max) continue
      const waitingThere = this.#waitingUpTo(other)
      left = Math.min(left, room - waitingThere)
      const whose = below.length > 0 || other > priorityClass ? 'the lower tiers' : 'your tier'
      if (more > left) throw refusal('queue_share_full', { whose, waiting: waitingThere, max: room, given })
    }
    if (accountId === OPERATOR_ACCOUNT_ID) return
    const own = this.#byAccount.get(accountId)?.waiting ?? 0
    const share = Math.ceil((left + own) / 2)
    if (own + more > share) {
      throw refusal('queue_share_full', { whose: 'your account', waiting: own, max: share, given })
    }
  }

  /** Priority classes that have callers or wait, the lowest first. */
  #classes(): readonly number[] {
    return [...new Set([...this.#servedClasses(), ...this.#byClass.keys()])].sort((a, b) => a - b)
  }

  /** How many sequences of a class and those below it may wait. */
  #roomOf(priorityClass = -Infinity): number {
    const above = this.#servedClasses().filter((other) => other > priorityClass)
    return Math.ceil(this.#max * (1 - RESERVE_PER_TIER * above.length))
  }

  #waitingUpTo(priorityClass = -Infinity): number {
    let sum = 0
    for (const [other, { waiting }] of this.#byClass) if (other <= priorityClass) sum += waiting
    return sum
  }
}

function enter<Key>(counts: Map<Key, QueueCount>, key: Key, { given, more }: QueueDemand): void {
  const { queued, waiting } = counts.get(key) ?? { queued: 0, waiting: 0 }
  counts.set(key, { queued: queued + given, waiting: waiting + Math.max(0, more) })
}

function leave<Key>(counts: Map<Key, QueueCount>, key: Key, count: number): void {
  const found = counts.get(key)
  if (found === undefined) return
  const queued = found.queued - count
  if (queued <= 0) counts.delete(key)
  else counts.set(key, { queued, waiting: Math.min(found.waiting, queued) })
}

function refusal(
  code: 'queue_full' | 'queue_share_full',
  params: Readonly<Record<string, string | number>>,
): ServiceError {
  return new ServiceError(code, params, { retryAfterSeconds: RETRY_AFTER_SECONDS })
}
