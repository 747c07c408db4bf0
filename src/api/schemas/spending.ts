/** Team and token budgets, as keys, users and teams have them. */
import { z } from 'zod'
import { MAX_BUDGET_TOKENS } from '../../accounts/keys/key-bounds.ts'
import type { SpentBudget } from '../../limits/token-budgets.ts'
import { integer, storedText } from './fields.ts'
import { queryInteger } from './query.ts'

const PERIODS = {
  daily: 'Tokens in and out in a day of UTC; null is no bound.',
  monthly: 'Tokens in and out in a calendar month of UTC; null is no bound.',
}

/** In answers. */
export const budgetFields = {
  daily_token_budget: z.int().nullable().describe(PERIODS.daily),
  monthly_token_budget: z.int().nullable().describe(PERIODS.monthly),
}

/** What is spent of a budget in the period that runs. */
export const spentBudget = z
  .object({
    scope: z.enum(['key', 'account', 'team']).describe('Whose it is.'),
    period: z.enum(['day', 'month']).describe('A day or a calendar month of UTC.'),
    max_tokens: z.int(),
    spent_tokens: z.int(),
    resets_at: z.number().describe('Unix seconds.'),
  })
  .meta({ id: 'SpentBudget' })

export function toSpentBudgetBody(budget: SpentBudget): z.output<typeof spentBudget> {
  const { scope, period, maxTokens, spentTokens, endsAtUnixSeconds } = budget
  return { scope, period, max_tokens: maxTokens, spent_tokens: spentTokens, resets_at: endsAtUnixSeconds }
}

export const teamField = { team_id: z.string().nullable().describe('Null for no team of its own.') }

const budget = (description: string) => integer(1, MAX_BUDGET_TOKENS).nullish().describe(description)

/** In bodies; null takes the bound away. */
export const budgetChanges = () => ({
  daily_token_budget: budget(PERIODS.daily),
  monthly_token_budget: budget(PERIODS.monthly),
})

export const teamChange = () => ({
  team_id: storedText(1, 200).nullish().describe('The team to put it in; null takes it out.'),
})

const queryBudget = () => queryInteger({ min: 1, max: MAX_BUDGET_TOKENS }).optional()

export const spendingQuery = () => ({
  team_id: storedText(1, 200).optional().describe('The team to put it in.'),
  daily_token_budget: queryBudget().describe('Tokens in and out in a day of UTC.'),
  monthly_token_budget: queryBudget().describe('Tokens in and out in a calendar month of UTC.'),
})

interface Budgets {
  readonly dailyTokenBudget: number | null
  readonly monthlyTokenBudget: number | null
}

export function toBudgetBody({ dailyTokenBudget, monthlyTokenBudget }: Budgets) {
  return { daily_token_budget: dailyTokenBudget, monthly_token_budget: monthlyTokenBudget }
}

interface SpendingBody {
  readonly team_id?: string | null | undefined
  readonly daily_token_budget?: number | null | undefined
  readonly monthly_token_budget?: number | null | undefined
}

/** Absent stays absent. */
export function toSpending(body: SpendingBody) {
  return {
    teamId: body.team_id,
    dailyTokenBudget: body.daily_token_budget,
    monthlyTokenBudget: body.monthly_token_budget,
  }
}
