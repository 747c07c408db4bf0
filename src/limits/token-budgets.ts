/**
 * Token budgets of keys, accounts and teams: which counters a credential spends from now, what is read into them, the refusal
 * and the warning. Days and calendar months are those of UTC. The counts are in the shared state, the whole truth in the usage
 * database, which is asked through `readSpent`. Called by the limiter at admission and by billing when a request has ended, so
 * requests that are running when a budget is used up go on and may exceed it by what they spend.
 */
import type { Clock } from '../core/clock.ts'
import type { TokenBudget } from '../core/credential.ts'
import { InvariantError, ServiceError } from '../core/errors.ts'
import type { BudgetBound, RequestLimits } from '../core/shared-state.ts'

/** A budget in the period that runs. */
export interface OpenBudget extends BudgetBound, TokenBudget {
  readonly startsAtUnixSeconds: number
  readonly endsAtUnixSeconds: number
}

/** A budget as its owner sees it. */
export interface SpentBudget extends Pick<
  OpenBudget,
  'scope' | 'period' | 'maxTokens' | 'endsAtUnixSeconds'
> {
  readonly spentTokens: number
}

/** Tokens that the usage database has for a subject since a moment. @throws ServiceError */
export type ReadSpent = (
  subject: Pick<TokenBudget, 'scope' | 'id'>,
  sinceUnixSeconds: number,
) => Promise<number>

export interface TokenBudgetsDeps {
  readonly limits: Pick<RequestLimits, 'restoreSpent' | 'spend'>
  readonly clock: Clock
  readonly readSpent: ReadSpent
}

/** How much of the fullest budget of a scope and a period is spent. */
export interface BudgetUse extends Pick<TokenBudget, 'scope' | 'period'> {
  /** Above 1 where requests that were running have exceeded it. */
  readonly spentRatio: number
}

interface AskedBudget extends BudgetUse {
  readonly askedAtUnixSeconds: number
  readonly endsAtUnixSeconds: number
}

/** How long a budget counts as in use after a request under it. */
const IN_USE_SECONDS = 15 * 60

/** From this share on an answer carries the warning. */
const WARNING_SHARE = 0.8

export class TokenBudgets {
  readonly #deps: TokenBudgetsDeps
  /** By counter. */
  readonly #asked = new Map<string, AskedBudget>()
  /** Those that run, by counter. */
  readonly #readings = new Map<string, Promise<number | null>>()
  #sweepAtUnixSeconds = 0

  constructor(deps: TokenBudgetsDeps) {
    this.#deps = deps
  }

  /** In their periods at this moment. */
  open(budgets: readonly TokenBudget[]): readonly OpenBudget[] {
    if (budgets.length === 0) return []
    const date = new Date(this.#deps.clock.unixSeconds() * 1000)
    const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()]
    return budgets.map((budget) => {
      const isDay = budget.period === 'day'
      const startsAt = Date.UTC(year, month, isDay ? day : 1)
      const endsAt = isDay ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1)
      return {
        ...budget,
        counterId: `${budget.scope}:${budget.id}:${budget.period}:${startsAt / 1000}`,
        startsAtUnixSeconds: startsAt / 1000,
        endsAtUnixSeconds: endsAt / 1000,
      }
    })
  }

  /** Reads the counters that the shared state does not know. */
  async restore(budgets: readonly OpenBudget[], counterIds: readonly string[]): Promise<void> {
    const unknown = budgets.filter(({ counterId }) => counterIds.includes(counterId))
    const counters = await Promise.all(
      unknown.map(async (budget) => ({ counterId: budget.counterId, tokens: await this.#readOnce(budget) })),
    )
    await this.#deps.limits.restoreSpent(counters)
  }

  /** What is spent of each in its period, from the usage database, and when the period ends. @throws ServiceError */
  async report(budgets: readonly TokenBudget[]): Promise<readonly SpentBudget[]> {
    return await Promise.all(
      this.open(budgets).map(async ({ period, maxTokens, endsAtUnixSeconds, ...budget }) => ({
        ...{ scope: budget.scope, period, maxTokens, endsAtUnixSeconds },
        spentTokens: await this.#deps.readSpent(budget, budget.startsAtUnixSeconds),
      })),
    )
  }

  /** Of a request that has ended, after its usage is on record. */
  spend(budgets: readonly TokenBudget[], tokens: number): void {
    if (budgets.length === 0 || tokens === 0) return
    const counterIds = this.open(budgets).map(({ counterId }) => counterId)
    this.#deps.limits.spend(counterIds, tokens)
  }

  /** What is spent of the budgets of a request, as its admission found it. */
  record(budgets: readonly OpenBudget[], spentTokens: readonly number[]): void {
    if (budgets.length === 0) return
    const now = this.#deps.clock.unixSeconds()
    if (now >= this.#sweepAtUnixSeconds) this.#sweep(now)
    for (const { spent, ...budget } of withSpent(budgets, spentTokens)) {
      const { counterId, scope, period, maxTokens, endsAtUnixSeconds } = budget
      const spentRatio = maxTokens === 0 ? 1 : spent / maxTokens
      this.#asked.set(counterId, { scope, period, spentRatio, endsAtUnixSeconds, askedAtUnixSeconds: now })
    }
  }

  /** The fullest budget of each scope and period, of those under which something was asked for lately. */
  use(): readonly BudgetUse[] {
    this.#sweep(this.#deps.clock.unixSeconds())
    const fullest = new Map<string, BudgetUse>()
    for (const { scope, period, spentRatio } of this.#asked.values()) {
      const kind = `${scope}:${period}`
      const known = fullest.get(kind)
      if (known === undefined || known.spentRatio < spentRatio)
        fullest.set(kind, { scope, period, spentRatio })
    }
    return [...fullest.values()]
  }

  #sweep(now: number): void {
    this.#sweepAtUnixSeconds = now + IN_USE_SECONDS
    for (const [id, { askedAtUnixSeconds, endsAtUnixSeconds }] of this.#asked)
      if (now >= endsAtUnixSeconds || now - askedAtUnixSeconds >= IN_USE_SECONDS) this.#asked.delete(id)
  }

  /** Names the one that begins again last, as trying earlier is of no use. */
  refusal(budgets: readonly OpenBudget[], spentTokens: readonly number[]): ServiceError {
    const exceeded = withSpent(budgets, spentTokens).filter(({ maxTokens, spent }) => spent >= maxTokens)
    const [last] = exceeded.sort((one, other) => other.endsAtUnixSeconds - one.endsAtUnixSeconds)
    if (last === undefined) throw new InvariantError('No budget is exceeded.')
    const { scope, maxTokens: max, spent, endsAtUnixSeconds } = last
    const field = fieldOf(last)
    const resetsAt = new Date(endsAtUnixSeconds * 1000).toISOString().replace('.000Z', 'Z')
    const retryAfterSeconds = Math.max(1, Math.ceil(endsAtUnixSeconds - this.#deps.clock.unixSeconds()))
    const params = { field, whose: WHOSE[scope], max, spent, resetsAt }
    return new ServiceError('budget_exceeded', params, { retryAfterSeconds, param: field })
  }

  /** Null below the share; else a structured field (RFC 8941), the fullest budget first. */
  warning(budgets: readonly OpenBudget[], spentTokens: readonly number[]): string | null {
    const near = withSpent(budgets, spentTokens).filter(
      ({ maxTokens, spent }) => spent >= maxTokens * WARNING_SHARE,
    )
    if (near.length === 0) return null
    return near
      .sort((one, other) => other.spent / other.maxTokens - one.spent / one.maxTokens)
      .map(
        ({ spent, ...budget }) =>
          `${fieldOf(budget)};scope=${budget.scope};limit=${budget.maxTokens};spent=${spent};reset=${budget.endsAtUnixSeconds}`,
      )
      .join(', ')
  }

  /** All requests that come while a counter is being read wait for the one reading. */
  #readOnce(budget: OpenBudget): Promise<number | null> {
    const { counterId } = budget
    const running = this.#readings.get(counterId)
    if (running !== undefined) return running
    const reading = this.#read(budget).finally(() => this.#readings.delete(counterId))
    this.#readings.set(counterId, reading)
    return reading
  }

  /** Null while the database is away: known keys go on, and so do their budgets from what was known last. */
  async #read(budget: OpenBudget): Promise<number | null> {
    try {
      return await this.#deps.readSpent(budget, budget.startsAtUnixSeconds)
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'database_unavailable') throw error
      return null
    }
  }
}

const WHOSE: Readonly<Record<TokenBudget['scope'], string>> = {
  key: 'this key',
  account: 'this account',
  team: 'this team',
}

function fieldOf({ period }: Pick<TokenBudget, 'period'>): string {
  return period === 'day' ? 'daily_token_budget' : 'monthly_token_budget'
}

function withSpent(budgets: readonly OpenBudget[], spentTokens: readonly number[]) {
  return budgets.map((budget, index) => ({ ...budget, spent: spentTokens[index] ?? 0 }))
}
