/**
 * What every process of one service must agree on: rate windows, permits, bans, counted attempts and knocks. Only data
 * crosses this interface, so a supervisor process or Redis can answer in the place of this process's memory
 * (`limits/memory/`). Policy stays with the callers: they send the numbers that apply and turn a refusal into an error.
 * Invariant for callers: never wait for an answer inside a database transaction, which would hold its lock as long.
 */

/** In memory the answer is immediate, and the caller loses no turn of the event loop; elsewhere it is a promise. */
export type Answer<T> = T | Promise<T>

/** Continues with an answer, synchronously when it is immediate. */
export function afterAnswer<T, Result>(answer: Answer<T>, act: (value: T) => Answer<Result>): Answer<Result> {
  return answer instanceof Promise ? answer.then(act) : act(answer)
}

export interface SharedState {
  readonly requests: RequestLimits
  readonly attempts: AttemptLimits
  readonly bans: Bans
  readonly knocks: Knocks
}

/**
 * Rate windows of 60 seconds and permits for concurrent requests, by a credential's `limitId` or a client's address, and the
 * tokens that were spent under budgets, by a counter's id. The usage database has the whole truth about the tokens: a counter is
 * restored from it when it is first asked for, and again each time it has been known for `SPENT_KNOWN_MS`.
 */
export interface RequestLimits {
  /** Decides budgets, rate and concurrency together: a request that any of them refuses is counted under none. */
  admit(request: LimitedRequest): Answer<RequestDecision>
  /** One-way. Unknown and released permits are ignored. */
  release(permitId: string): void
  /** What counts against the limits of each now, in their order. Only to be shown: the next request is decided by `admit`. */
  inUse(limitIds: readonly string[]): Answer<readonly LimitUse[]>
  /**
   * Opens a new key's window with what the key that made it has used, and inherits from the account's revoked keys:
   * their window, and their requests that still run. Otherwise creating, using and revoking keys in a loop would get
   * around both limits. Call before the new key's secret is shown.
   */
  openWindow(limitId: string, origin: WindowOrigin): Answer<void>
  /** Moves a revoked key's window and permits to its account, for the keys that are created after it. */
  revokeWindow(limitId: string, accountId: string): Answer<void>
  /**
   * Sets counters that `admit` did not know to what the usage database has under them; where that could not be read, to what they
   * were when they were known last. What was spent since `admit` asked stands on top of it; a counter that is known by then
   * stays as it is.
   */
  restoreSpent(counters: readonly SpentTokens[]): Answer<void>
  /** One-way. Counters that nobody has asked for are ignored: what they would count is read when they are. */
  spend(counterIds: readonly string[], tokens: number): void
}

/**
 * For how long a counter is known. Bounds how long one is wrong by what was recorded in the moment of reading, or by servers
 * that share the database and not this state.
 */
export const SPENT_KNOWN_MS = 10_000

/** For how long the last count of one that is not asked for is kept: known keys work as long without the database. */
export const SPENT_KEPT_MS = 15 * 60 * 1000

export interface SpentTokens {
  readonly counterId: string
  /** Null where the database could not be read. */
  readonly tokens: number | null
}

/** Refuses once as many tokens were spent; a request that is admitted before may exceed it by what it spends. */
export interface BudgetBound {
  /** Of a subject in one period; another period has another counter. */
  readonly counterId: string
  readonly maxTokens: number
}

export interface LimitedRequest {
  readonly limitId: string
  readonly requestsPerMinute: number
  /** Null for a request that needs no permit. */
  readonly maxConcurrent: number | null
  /** Empty for a request that spends no tokens. */
  readonly budgets: readonly BudgetBound[]
}

export interface LimitUse {
  /** Requests of the last 60 seconds. */
  readonly requests: number
  /** Permits that are held. */
  readonly running: number
}

export interface WindowOrigin {
  readonly makerLimitId: string
  readonly accountId: string
}

/** How a credential stands against its rate limit. */
export interface RateState {
  readonly limit: number
  readonly remaining: number
  /** Until the window is empty. */
  readonly resetMs: number
}

export type RequestDecision =
  /**
   * The permit lasts until it is released; null for a request that needs none. `spentTokens` are those under each budget of the
   * request, in their order.
   */
  | {
      readonly outcome: 'admitted'
      readonly permitId: string | null
      readonly rate: RateState
      readonly spentTokens: readonly number[]
    }
  /** To be restored before `admit` is asked again. */
  | { readonly outcome: 'budgets-unknown'; readonly counterIds: readonly string[] }
  /** At least one budget is used up, whatever rate and concurrency say. */
  | { readonly outcome: 'budget-exceeded'; readonly rate: RateState; readonly spentTokens: readonly number[] }
  | { readonly outcome: 'rate-exceeded'; readonly retryAfterSeconds: number; readonly rate: RateState }
  /** The rate alone would have passed. */
  | { readonly outcome: 'concurrency-exceeded'; readonly running: number; readonly rate: RateState }

/** Attempts of the last 60 seconds to log in, to register or to use the admin key, and those whose result is open. */
export interface AttemptLimits {
  /**
   * Answers when it is certain that the attempt may be made: one that could be an attempt too many waits for the result
   * of those before it. Only one that has begun is to be ended.
   */
  begin(attempt: LimitedAttempt): Answer<AttemptDecision>
  /** One-way. */
  end(attemptId: string, result: AttemptResult): void
}

/** `unknown` where nothing was checked; it never counts. */
export type AttemptResult = 'passed' | 'failed' | 'unknown'

export interface LimitedAttempt {
  readonly limits: readonly AttemptLimit[]
  /** Attempts that may wait under one limit for the result of others. */
  readonly maxWaiting: number
}

export interface AttemptLimit {
  readonly id: string
  readonly counts: 'failures' | 'all'
  readonly maxPerMinute: number
}

export type AttemptDecision =
  | { readonly outcome: 'begun'; readonly attemptId: string }
  | { readonly outcome: 'refused'; readonly retryAfterSeconds: number }
  /** `maxWaiting` attempts wait already. */
  | { readonly outcome: 'queue-full' }

/** Addresses that are banned for their offences. */
export interface Bans {
  /** The ban that the address is under, or null. */
  find(addressKey: string): Answer<Ban | null>
  /** Answers with the ban that starts with this offence, or null. An offence during a ban does not count. */
  recordOffence(addressKey: string): Answer<Ban | null>
  /** Those in force, the latest first. */
  list(): Answer<readonly Ban[]>
  /** Ends a ban and forgets the earlier ones; false when there is none. */
  lift(addressKey: string): Answer<boolean>
}

export interface Ban {
  readonly addressKey: string
  /** 1 for the first. */
  readonly count: number
  readonly sinceUnixSeconds: number
  readonly untilUnixSeconds: number
  /** Whole seconds until it ends, rounded up. */
  readonly secondsLeft: number
}

/** Addresses that have knocked, and those that may reach the server for it. */
export interface Knocks {
  isOpen(addressKey: string): Answer<boolean>
  /** Records a connection to one of the knock ports. */
  knock(addressKey: string, port: number): Answer<KnockOutcome>
}

/** `full` is a right sequence while too many addresses are open. */
export type KnockOutcome = 'knocking' | 'opened' | 'full'
