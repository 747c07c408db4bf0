/**
 * The accounts of one tier and whose turn it is, by start-time fair queueing: each start moves the account's virtual time
 * on by what it is charged, and the account with the lowest virtual time is next. So accounts that wait get equal parts of
 * what is charged, each at most one request behind the others. An account that has nothing waiting collects no credit.
 * Accounts that wait are kept in order, so that the next one is found without a search. Owned by the waiting queue.
 */
import type { Sequence } from '../sequence.ts'
import { AccountQueue } from './account-queue.ts'

/** Idle accounts whose charges are remembered. */
const MAX_IDLE_ACCOUNTS = 1000

/** Where in a tier a sequence waits, by the policy. */
export interface QueueKey {
  readonly accountId: string
  readonly priority: number
}

interface AccountPeek {
  readonly nowMs: number
  /** Sequences that are passed over. */
  readonly except: ReadonlySet<Sequence>
}

export class TierQueue {
  readonly priorityClass: number
  readonly weight: number
  /** Virtual time of the tier among the tiers: what it has been charged with, divided by its weight. */
  virtualTime = 0
  size = 0
  /** Accounts that wait, have unsettled charges, or were charged more than those that wait. */
  readonly #accounts = new Map<string, AccountQueue>()
  /** Those that wait, the next one first. */
  readonly #order: AccountQueue[] = []
  #lastStart = 0
  #turns = 0

  constructor({ priorityClass, weight }: { readonly priorityClass: number; readonly weight: number }) {
    this.priorityClass = priorityClass
    this.weight = weight
  }

  *[Symbol.iterator](): Iterator<Sequence> {
    for (const account of this.#order) yield* account
  }

  add(sequence: Sequence, { accountId, priority }: QueueKey): void {
    const account = this.#accounts.get(accountId) ?? this.#createAccount(accountId)
    if (account.size === 0) {
      account.virtualTime = Math.max(account.virtualTime, this.#level())
      this.#insert(account)
    }
    account.add(sequence, priority)
    this.size++
  }

  /** Removes a sequence that has not started. */
  remove(sequence: Sequence, key: QueueKey): void {
    const account = this.#accounts.get(key.accountId)
    if (account !== undefined) this.#takeOut(account, sequence, key)
  }

  /** The next sequence, without those in `except`. */
  peek(nowMs: number, except: ReadonlySet<Sequence>): Sequence | null {
    for (const account of this.#order) {
      const next = account.peek(nowMs, except)
      if (next !== null) return next
    }
    return null
  }

  /** The next sequence of another account that has been charged less than this one will have been with so many tokens more. */
  peekBefore(accountId: string, tokens: number, { nowMs, except }: AccountPeek): Sequence | null {
    const own = this.#accounts.get(accountId)
    const turn = (own?.virtualTime ?? 0) + tokens
    for (const account of this.#order) {
      if (account.virtualTime >= turn) return null
      const next = account === own ? null : account.peek(nowMs, except)
      if (next !== null) return next
    }
    return null
  }

  /** Removes a sequence that starts, and charges its account. */
  start(sequence: Sequence, key: QueueKey, tokens: number): void {
    const account = this.#accounts.get(key.accountId)
    if (account === undefined || !this.#takeOut(account, sequence, key)) return
    account.unsettled++
    this.#lastStart = account.virtualTime
    this.#charge(account, tokens)
  }

  /** A sequence that was started has ended: credits what it did not use. */
  settle({ accountId }: QueueKey, unusedTokens: number): void {
    const account = this.#accounts.get(accountId)
    if (account === undefined) return
    account.unsettled--
    this.#charge(account, -unusedTokens)
  }

  /** Where an account begins that had nothing waiting: beside the one whose turn it is. */
  #level(): number {
    return Math.min(this.#order[0]?.virtualTime ?? this.#lastStart, this.#lastStart)
  }

  #createAccount(accountId: string): AccountQueue {
    if (this.#accounts.size >= MAX_IDLE_ACCOUNTS + this.#order.length) this.#forgetIdle()
    const account = new AccountQueue(accountId)
    account.virtualTime = this.#level()
    this.#accounts.set(accountId, account)
    return account
  }

  /** What an idle account was charged matters only beside those that wait. */
  #forgetIdle(): void {
    for (const [accountId, { size, unsettled }] of this.#accounts) {
      if (size === 0 && unsettled === 0) this.#accounts.delete(accountId)
    }
  }

  #takeOut(account: AccountQueue, sequence: Sequence, { priority }: QueueKey): boolean {
    if (!account.remove(sequence, priority)) return false
    this.size--
    if (account.size === 0) this.#order.splice(this.#indexOf(account), 1)
    return true
  }

  #charge(account: AccountQueue, tokens: number): void {
    if (account.size > 0) this.#order.splice(this.#indexOf(account), 1)
    account.virtualTime += tokens
    if (account.size > 0) this.#insert(account)
  }

  #insert(account: AccountQueue): void {
    account.turn = ++this.#turns
    this.#order.splice(this.#indexOf(account), 0, account)
  }

  /** Where an account is in the order, or belongs. */
  #indexOf({ virtualTime, turn }: AccountQueue): number {
    let low = 0
    let high = this.#order.length
    while (low < high) {
      const middle = (low + high) >>> 1
      const other = this.#order[middle]
      const isBefore =
        other !== undefined &&
        (other.virtualTime < virtualTime || (other.virtualTime === virtualTime && other.turn < turn))
      if (isBefore) low = middle + 1
      else high = middle
    }
    return low
  }
}
